//! `[ingress]`.

use super::{Expected, check, plan};

/// Two hosts at each of two switches; the keys of a condition from line 2 on.
fn condition(kind: &str, keys: &str) -> String {
    format!(
        "[[ingress.{kind}]]\n{keys}\n[topology.dumbbell]\nleft = 2\nright = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-2\", bytes = \"1KB\" }}]\n"
    )
}

#[test]
fn conditions_that_can_be_are_accepted() {
    for (kind, keys) in [
        ("access_list", "ports = [\"switch-0\"]\ndeny = [0, 7]"),
        ("access_list", "ports = [\"switch-0:1\", \"switch-1:0\"]\ndeny = [3]"),
        ("policer", "ports = [\"switch-0\"]\nrate = \"1Gbps\"\nburst = \"2KB\""),
        ("policer", "ports = [\"switch-0\"]\nrate = \"1Gbps\"\nburst = \"2KB\"\npriorities = [3]"),
    ] {
        plan(&condition(kind, keys), &[]).unwrap_or_else(|error| panic!("{keys}: {error}"));
    }
}

#[test]
fn conditions_that_cannot_be_are_refused() {
    let port = "ports = [\"switch-0:1\"]";
    let list = |keys: &str| format!("{keys}\ndeny = [3]");
    let policer = |keys: &str| format!("{port}\n{keys}");
    let (rate, burst) = ("rate = \"1Gbps\"", "burst = \"2KB\"");
    let table = [
        ("access_list", list("ports = []"), 2, "ports", "[]", "no port is named", "leaf-0:3"),
        (
            "access_list",
            list("ports = [\"host-0\"]"),
            2,
            "ports",
            "[\"host-0\"]",
            "a host",
            "leaf-0:3",
        ),
        ("access_list", format!("{port}\ndeny = []"), 3, "deny", "[]", "no priorities", "0 to 7"),
        ("access_list", format!("{port}\ndeny = [8]"), 3, "deny", "[8]", "no priorities", "0 to 7"),
        (
            "policer",
            policer(&format!("rate = \"0bps\"\n{burst}")),
            3,
            "rate",
            "\"0bps\"",
            "nothing would pass",
            "10Gbps",
        ),
        (
            "policer",
            policer(&format!("{rate}\nburst = \"1KB\"")),
            4,
            "burst",
            "\"1KB\"",
            "never pass",
            "largest frame",
        ),
        (
            "policer",
            policer(&format!("{rate}\n{burst}\npriorities = []")),
            5,
            "priorities",
            "[]",
            "no priorities",
            "0 to 7",
        ),
    ];
    for (kind, keys, line, key, value, message, help) in table {
        let (place, key) = (format!("s.toml:{line}"), format!("ingress.{kind}[0].{key}"));
        let expected = Expected { place: &place, key: &key, value, message, help };
        check(&condition(kind, &keys), expected);
    }
}

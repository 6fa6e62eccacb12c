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
        ("fast_cnp", "ports = [\"switch-0\"]\nthreshold = \"1B\""),
        ("fast_cnp", "ports = [\"switch-0\"]\nthreshold = \"9KB\"\ninterval = \"1ps\""),
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
        (
            "access_list",
            format!("{port}\ndeny = [8]"),
            3,
            "deny",
            "[8]",
            "8 is no priority",
            "0 to 7",
        ),
        (
            "access_list",
            format!("{port}\ndeny = [3, 9]"),
            3,
            "deny",
            "[3, 9]",
            "9 is no priority",
            "0 to 7",
        ),
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
        (
            "policer",
            policer(&format!("{rate}\n{burst}\npriorities = [9]")),
            5,
            "priorities",
            "[9]",
            "9 is no priority",
            "give 0 to 7",
        ),
        (
            "fast_cnp",
            format!("{port}\nthreshold = \"0B\""),
            3,
            "threshold",
            "\"0B\"",
            "with or without congestion",
            "100KB",
        ),
        (
            "fast_cnp",
            format!("{port}\nthreshold = \"9KB\"\ninterval = \"0s\""),
            4,
            "interval",
            "\"0s\"",
            "every packet",
            "50us",
        ),
    ];
    for (kind, keys, line, key, value, message, help) in table {
        let (place, key) = (format!("s.toml:{line}"), format!("ingress.{kind}[0].{key}"));
        let expected = Expected { place: &place, key: &key, value, message, help };
        check(&condition(kind, &keys), expected);
    }
}

/// The largest frame may be one of TCP, or of another stack.
#[test]
fn bursts_hold_the_largest_frame_of_any_kind() {
    let tcp = "[tcp]\nmtu = 9000\n[workload.flows]\ntransport = \"tcp\"";
    let datagrams = "[[host.stack.udp]]\nfrom = \"host-0\"\nto = \"host-2\"\nrate = \"1Gbps\"\n\
                     datagram = \"8952B\"\nstop = \"1ms\"\n[workload.flows]";
    // Ethernet, IP, FCS; of datagrams UDP too.
    for (kind, largest) in [(tcp, 14 + 9_000 + 4), (datagrams, 14 + 20 + 8 + 8_952 + 4)] {
        let text = |burst: u32| {
            let keys = format!("ports = [\"switch-0\"]\nrate = \"1Gbps\"\nburst = \"{burst}B\"");
            condition("policer", &keys).replace("[workload.flows]", kind)
        };
        plan(&text(largest), &[]).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let (value, help) = (format!("\"{}B\"", largest - 1), format!("{largest}B"));
        let expected = Expected {
            place: "s.toml:4",
            key: "ingress.policer[0].burst",
            value: &value,
            message: "never pass",
            help: &help,
        };
        check(&text(largest - 1), expected);
    }
}

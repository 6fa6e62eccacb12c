//! `[[route]]`.

use super::{Expected, check, plan};

/// Two hosts at each of two switches, joined by one link; the keys of a route from line 2 on.
fn route(keys: &str) -> String {
    format!(
        "[[route]]\n{keys}\n[topology.dumbbell]\nleft = 2\nright = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-2\", bytes = \"1KB\" }}]\n"
    )
}

#[test]
fn routes_that_lead_somewhere_are_accepted() {
    for keys in [
        "switch = \"switch-1\"\ndestinations = [\"host-2..host-3\"]\nnext_hop = \"switch-0\"",
        "switch = \"switch-1\"\ndestinations = [\"host-2\"]\nport = \"switch-1:2\"",
        "switch = \"switch-0\"\ndestinations = [\"host-0\"]\nnext_hop = \"host-0\"",
        "switch = \"switch-0\"\nnext_hop = \"switch-1\"",
    ] {
        plan(&route(keys), &[]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn routes_that_lead_nowhere_are_refused() {
    let table = [
        (
            "switch = \"leaf-0\"\nnext_hop = \"switch-1\"",
            2,
            ".switch",
            "\"leaf-0\"",
            "no switch",
            "switch-0",
        ),
        (
            "switch = \"switch-0\"\ndestinations = [\"host-9\"]\nnext_hop = \"switch-1\"",
            3,
            ".destinations[0]",
            "\"host-9\"",
            "no host `host-9`",
            "host-0",
        ),
        ("switch = \"switch-0\"", 1, "", "", "does not say where to", "next_hop"),
        (
            "switch = \"switch-0\"\nnext_hop = \"switch-1\"\nport = \"switch-0:2\"",
            4,
            ".port",
            "\"switch-0:2\"",
            "`next_hop` says",
            "one of",
        ),
        (
            "switch = \"switch-0\"\nnext_hop = \"host-3\"",
            3,
            ".next_hop",
            "\"host-3\"",
            "no link to `host-3`",
            "host-0, host-1, switch-1",
        ),
        (
            "switch = \"switch-0\"\nport = \"switch-1:2\"",
            3,
            ".port",
            "\"switch-1:2\"",
            "no port of `switch-0`",
            "switch-0:0",
        ),
        (
            "switch = \"switch-0\"\nport = \"switch-0:7\"",
            3,
            ".port",
            "\"switch-0:7\"",
            "no port 7",
            "0 to 2",
        ),
        (
            "switch = \"switch-0\"\nnext_hop = \"host-1\"",
            3,
            ".next_hop",
            "\"host-1\"",
            "forwards nothing to `host-0`",
            "only destination",
        ),
    ];
    for (keys, line, key, value, message, help) in table {
        let (place, key) = (&format!("s.toml:{line}"), &format!("route[0]{key}"));
        check(&route(keys), Expected { place, key, value, message, help });
    }
}

#[test]
fn a_blocked_link_is_no_way() {
    // Two leaves under two spines: of four links the tree has three.
    let text = |forwarding: &str| {
        format!(
            "[roce]\nversion = 1\n[layer2]\nforwarding = \"{forwarding}\"\n\
             [[route]]\nswitch = \"leaf-1\"\ndestinations = [\"host-0\"]\nnext_hop = \"spine-1\"\n\
             [topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
             host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [workload.flows]\nlist = [{{ from = \"host-1\", to = \"host-0\", bytes = \"1KB\" }}]\n"
        )
    };
    plan(&text("multipath"), &[]).unwrap();
    let key = "route[0].next_hop";
    let blocked = |switch: &str, spine: &str| {
        let text = text("spanning-tree").replace("leaf-1", switch).replace("spine-1", spine);
        plan(&text, &[]).err().filter(|error| error.key() == key)
    };
    let errors: Vec<_> = [
        ("leaf-0", "spine-0"),
        ("leaf-0", "spine-1"),
        ("leaf-1", "spine-0"),
        ("leaf-1", "spine-1"),
    ]
    .into_iter()
    .filter_map(|(leaf, spine)| blocked(leaf, spine))
    .collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].message().contains("spanning tree blocks"), "{}", errors[0]);
    assert!(errors[0].help().is_some_and(|help| help.contains("multipath")), "{}", errors[0]);
}

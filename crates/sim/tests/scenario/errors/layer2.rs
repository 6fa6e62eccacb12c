//! `[layer2]`.

use super::{Expected, TOPOLOGY, check, plan, with};

fn two_vlans(version: u8) -> String {
    format!(
        "[roce]\nversion = {version}\n[layer2]\n\
         vlans = [{{ id = 10, hosts = [\"host-0..host-1\"] }}, {{ id = 20, hosts = [\"host-2\"] }}]\n\
         {TOPOLOGY}[workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }},\n\
         {{ from = \"host-1\", to = \"host-2\", bytes = \"1KB\" }},\n]\n"
    )
}

#[test]
fn roce_v1_stays_in_a_broadcast_domain() {
    plan(&two_vlans(2), &[]).unwrap();
    check(
        &two_vlans(1),
        Expected {
            place: "s.toml:11",
            key: "workload.flows.list[1]",
            value: "{ from = \"host-1\", to = \"host-2\", bytes = \"1KB\" }",
            message: "`host-1` is in VLAN 10 and `host-2` in VLAN 20",
            help: "use `roce.version = 2`",
        },
    );
}

#[test]
fn vlans() {
    check(
        &with("[layer2]\nvlans = [{ id = 0, hosts = [\"host-0\"] }]"),
        Expected {
            place: "s.toml:2",
            key: "layer2.vlans[0].id",
            value: "0",
            message: "VLAN 0 does not exist",
            help: "1 to 4094",
        },
    );
    check(
        &with(
            "[[layer2.vlans]]\nid = 1\nhosts = [\"host-0..host-2\"]\n\
             [[layer2.vlans]]\nid = 2\nhosts = [\"host-1\"]",
        ),
        Expected {
            place: "s.toml:6",
            key: "layer2.vlans[1].hosts",
            value: "[\"host-1\"]",
            message: "`host-1` is already in VLAN 1",
            help: "one VLAN",
        },
    );
    check(
        &with("[[layer2.vlans]]\nid = 1\nhosts = [\"host-0..host-9\"]"),
        Expected {
            place: "s.toml:3",
            key: "layer2.vlans[0].hosts[0]",
            value: "\"host-0..host-9\"",
            message: "there is no host `host-9`",
            help: "host-0 to host-3",
        },
    );
}

#[test]
fn entries() {
    check(
        &with("[roce]\nversion = 1\n[layer2]\nentry = [{ hosts = [\"host-1\"], arp = \"gone\" }]"),
        Expected {
            place: "s.toml:4",
            key: "layer2.entry[0].arp",
            value: "\"gone\"",
            message: "RoCE v1 has no IP addresses",
            help: "roce.version = 2",
        },
    );
    check(
        &with(
            "[[layer2.entry]]\nhosts = [\"host-1\"]\nmac = \"gone\"\n\
             [[layer2.entry]]\nhosts = [\"host-0..host-2\"]",
        ),
        Expected {
            place: "s.toml:5",
            key: "layer2.entry[1].hosts",
            value: "[\"host-0..host-2\"]",
            message: "`host-1` is in an entry before",
            help: "name every host once",
        },
    );
    check(
        &with("[layer2]\nentry = [{ hosts = [\"host-7\"] }]"),
        Expected {
            place: "s.toml:2",
            key: "layer2.entry[0].hosts[0]",
            value: "\"host-7\"",
            message: "there is no host `host-7`",
            help: "host-0 to host-3",
        },
    );
}

#[test]
fn learning() {
    for key in ["mac_ageing", "arp_timeout"] {
        check(
            &with(&format!("[layer2.learning]\n{key} = \"0s\"")),
            Expected {
                place: "s.toml:2",
                key: &format!("layer2.learning.{key}"),
                value: "\"0s\"",
                message: "nothing would ever be known",
                help: "above 0s",
            },
        );
    }
    check(
        &with("[roce]\nversion = 1\n[layer2]\nforwarding = \"multipath\"\n[layer2.learning]"),
        Expected {
            place: "s.toml:4",
            key: "layer2.forwarding",
            value: "\"multipath\"",
            message: "flooded frames would go round in loops",
            help: "spanning-tree",
        },
    );
    check(
        &with("[roce]\nversion = 1\n[layer2]\ndrop_incomplete_arp = true"),
        Expected {
            place: "s.toml:4",
            key: "layer2.drop_incomplete_arp",
            value: "true",
            message: "RoCE v1 has no ARP entries",
            help: "roce.version = 2",
        },
    );
    check(
        &with(
            "[roce]\nversion = 1\n[layer2.learning]\nmac_ageing = \"5ms\"\n\
             [[route]]\nswitch = \"switch-0\"\ndestinations = [\"host-1\"]\nnext_hop = \"host-1\"",
        ),
        Expected {
            place: "s.toml:3",
            key: "layer2.learning",
            value: "",
            message: "static entries do not learn",
            help: "[[route]]",
        },
    );
}

#[test]
fn a_host_that_is_down() {
    let failure =
        |more: &str| with(&format!("[[failure]]\nkind = \"host-down\"\nat = \"1ms\"\n{more}"));
    plan(&failure("host = \"host-1\""), &[]).unwrap();
    check(
        &failure("host = \"host-9\""),
        Expected {
            place: "s.toml:4",
            key: "failure[0].host",
            value: "\"host-9\"",
            message: "there is no host `host-9`",
            help: "host-0 to host-3",
        },
    );
    check(
        &failure("host = \"host-1\"\npriorities = [3]"),
        Expected {
            place: "s.toml:5",
            key: "failure[0].priorities",
            value: "[3]",
            message: "no such key",
            help: "it takes host",
        },
    );
}

#[test]
fn a_plane_forwards_frames_of_its_version_only() {
    let of_all = |version: u8, plane: &str| {
        with(&format!("[roce]\nversion = {version}\n[switch]\nforwarding_plane = \"{plane}\""))
    };
    for (version, plane, help) in [
        (1, "router", "give \"auto\" or \"bridge\" or \"bridge-no-flood\""),
        (2, "bridge", "give \"auto\" or \"router\""),
        (2, "bridge-no-flood", "give \"auto\" or \"router\""),
    ] {
        check(
            &of_all(version, plane),
            Expected {
                place: "s.toml:4",
                key: "switch.forwarding_plane",
                value: &format!("\"{plane}\""),
                message: &format!("such a switch does not forward frames of RoCE v{version}"),
                help,
            },
        );
    }
    plan(&of_all(1, "bridge"), &[]).unwrap();
    plan(&of_all(2, "router"), &[]).unwrap();
    let text = "[[switch.override]]\nswitches = [\"switch-0\"]\nforwarding_plane = \"bridge\"";
    check(
        &with(text),
        Expected {
            place: "s.toml:3",
            key: "switch.override[0].forwarding_plane",
            value: "\"bridge\"",
            message: "such a switch does not forward frames of RoCE v2",
            help: "give \"auto\" or \"router\"",
        },
    );
}

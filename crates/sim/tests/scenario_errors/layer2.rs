//! `[layer2]`.

use crate::{Expected, TOPOLOGY, check, plan, with};

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

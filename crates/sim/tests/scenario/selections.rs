//! What texts for several hosts, switches and ports select; which port of a server flows take, and which entropy
//! connections have.

use std::collections::BTreeSet;

use crate::plans::{around_a_switch, planned};

/// From and to of the flows of four servers of two ports each, at one switch.
fn ends_between_servers(select: &str, flows: &[(&str, &str)]) -> Vec<(u32, u32)> {
    let list = flows
        .iter()
        .map(|(from, to)| format!("{{ from = \"{from}\", to = \"{to}\", bytes = \"1KB\" }},\n"));
    let rest = format!(
        "[[server]]\nname = \"node\"\nports = [\"host-0..host-7\"]\nsize = 2\nselect = \"{select}\"\n\
         [workload.flows]\nlist = [\n{}]\n",
        list.collect::<String>()
    );
    let plan = planned(&around_a_switch(9, &rest));
    plan.flows.iter().map(|flow| (flow.source, flow.destination)).collect()
}

#[test]
fn flows_between_servers_take_their_ports_in_turn() {
    let flows = [("node-0", "node-1"); 3];
    assert_eq!(ends_between_servers("round-robin", &flows), [(0, 2), (1, 3), (0, 2)]);
    // Each server counts for itself.
    let flows = [("node-0", "node-2"), ("node-1", "node-3"), ("node-0", "node-2")];
    assert_eq!(ends_between_servers("round-robin", &flows), [(0, 4), (2, 6), (1, 5)]);
    // A port that is named is taken, and so is a host that belongs to no server.
    let flows = [("host-0", "node-1"), ("host-0", "node-1"), ("node-3", "host-8")];
    assert_eq!(ends_between_servers("round-robin", &flows), [(0, 2), (0, 3), (6, 8)]);
}

#[test]
fn flows_between_servers_may_stay_on_one_rail() {
    let flows =
        [("node-0", "node-1"), ("node-1", "host-7"), ("host-1", "node-3"), ("host-8", "node-3")];
    assert_eq!(ends_between_servers("same-index", &flows), [(0, 2), (3, 7), (1, 7), (8, 7)]);
}

#[test]
fn a_server_stands_for_its_ports_where_several_hosts_are_meant() {
    let rest = "[[server]]\nname = \"node\"\nports = [\"host-0..host-7\"]\nsize = 2\n\
         [workload.permutation]\nhosts = [\"node-1..node-2\", \"host-0\"]\nbytes = \"1KB\"\n";
    let plan = planned(&around_a_switch(9, rest));
    let sources: BTreeSet<_> = plan.flows.iter().map(|flow| flow.source).collect();
    assert_eq!(sources, [0, 2, 3, 4, 5].into());
    // A pattern that both a server and its ports are like names them once.
    let all =
        planned(&around_a_switch(9, &rest.replace("[\"node-1..node-2\", \"host-0\"]", "[\"*\"]")));
    let sources: BTreeSet<_> = all.flows.iter().map(|flow| flow.source).collect();
    assert_eq!(sources, (0..9).collect());
}

/// The captured ports, by the names of their nodes, of two leaves with two hosts each and a spine.
fn captured(ports: &str) -> Vec<(String, u16)> {
    let plan = planned(&format!(
        "[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[capture]\nports = {ports}\n\
         [workload.incast]\nsenders = 1\nbytes = \"1KB\"\n"
    ));
    let ports = plan.capture.expect("it captures").ports;
    let name = |node: u32| plan.topology.nodes[node as usize].name.clone();
    ports.into_iter().map(|(node, port)| (name(node), port)).collect()
}

#[test]
fn one_text_may_name_several_ports() {
    let named = |ports: &[(&str, u16)]| {
        ports.iter().map(|&(name, port)| (name.to_owned(), port)).collect::<Vec<_>>()
    };
    assert_eq!(captured("[\"leaf-*:2\"]"), named(&[("leaf-0", 2), ("leaf-1", 2)]));
    assert_eq!(captured("[\"leaf-0:0..1\"]"), named(&[("leaf-0", 0), ("leaf-0", 1)]));
    assert_eq!(captured("[\"leaf-1:*\"]"), captured("[\"leaf-1\"]"));
    assert_eq!(captured("[\"host-1..host-2\"]"), named(&[("host-1", 0), ("host-2", 0)]));
    let leaf = [("leaf-1", 0), ("leaf-1", 1), ("leaf-1", 2)];
    assert_eq!(captured("[\"*-1\"]"), [named(&[("host-1", 0)]), named(&leaf)].concat());
    assert_eq!(captured("[\"all\"]").len(), 4 + 3 + 3 + 2);
    // Each once, where it is named first.
    assert_eq!(captured("[\"spine-0:1\", \"all:0\", \"spine-0\"]").len(), 1 + 7);
}

#[test]
fn one_text_may_name_several_hosts_and_switches() {
    let hosts = |hosts: &str| {
        let rest = format!("[workload.permutation]\nhosts = {hosts}\nbytes = \"1KB\"\n");
        let plan = planned(&around_a_switch(12, &rest));
        plan.flows.iter().map(|flow| flow.source).collect::<BTreeSet<_>>()
    };
    assert_eq!(hosts("[\"host-*1\"]"), [1, 11].into());
    assert_eq!(hosts("[\"all\"]"), (0..12).collect());
    let rest = "[[switch.override]]\nswitches = [\"sw*\"]\nlatency = \"5us\"\n\
         [workload.incast]\nsenders = 1\nbytes = \"1KB\"\n";
    let plan = planned(&around_a_switch(2, rest));
    let switch = plan.topology.switches().next().expect("there is one");
    assert_eq!(plan.switch_at(switch).latency, rocelab_units::Duration::from_us(5));
}

/// The path entropy of each flow of two hosts that send to a third.
fn entropies(roce: &str) -> Vec<u32> {
    let flow =
        |from: u32| format!("{{ from = \"host-{from}\", to = \"host-2\", bytes = \"1KB\" }},\n");
    let flows: String = [0, 0, 1, 0, 1].map(flow).concat();
    let rest = format!("[roce]\n{roce}\n[workload.flows]\nlist = [\n{flows}]\n");
    planned(&around_a_switch(3, &rest)).flows.iter().map(|flow| flow.entropy).collect()
}

#[test]
fn connections_take_the_entropy_that_is_given() {
    // In turn, by the connections of each host.
    assert_eq!(entropies("entropy = { list = [50000, 7] }"), [50_000, 7, 50_000, 50_000, 7]);
    assert_eq!(entropies("version = 1\nentropy = { list = [9] }"), [9; 5]);
    // Linux: the product of the two queue pair numbers, folded. Hosts count queue pairs from 0x11.
    let labels = [0x11 * 0x11, 0x12 * 0x12, 0x11 * 0x13, 0x13 * 0x14, 0x12 * 0x15];
    assert_eq!(entropies("version = 1\nentropy = \"queue-pairs\""), labels);
    let ports = labels.map(|label| 0xc000 | label);
    assert_eq!(entropies("entropy = \"queue-pairs\""), ports);
    // Connections from others do not count.
    let rest = "[roce]\nentropy = { list = [1, 2] }\n[workload.flows]\nlist = [\n\
         { from = \"host-0\", to = \"host-1\", bytes = \"1KB\" },\n{ from = \"host-2\", to = \"host-0\", bytes = \"1KB\" },\n\
         { from = \"host-0\", to = \"host-1\", bytes = \"1KB\" },\n]\n";
    let plan = planned(&around_a_switch(3, rest));
    assert_eq!(plan.flows.iter().map(|flow| flow.entropy).collect::<Vec<_>>(), [1, 1, 2]);
    // At random they differ.
    assert_eq!(entropies("").into_iter().collect::<BTreeSet<_>>().len(), 5);
}

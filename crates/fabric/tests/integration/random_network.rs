//! Networks of any shape, for property tests.

use proptest::prelude::*;
use rocelab_fabric::topology::NodeKind;
use rocelab_fabric::{Node, NodeId, Topology, TopologyLink};
use rocelab_units::{Bandwidth, Duration};

pub(crate) fn link(a: NodeId, b: NodeId, gbps: u64) -> TopologyLink {
    let (rate, delay) = (Bandwidth::from_gbps(gbps), Duration::from_us(1));
    TopologyLink { a, b, rate, delay, loss: 0.0 }
}

fn node((id, is_switch): (usize, bool)) -> Node {
    match is_switch {
        true => Node { name: format!("switch-{id}"), kind: NodeKind::Switch { tier: 0 } },
        false => Node { name: format!("host-{id}"), kind: NodeKind::Host },
    }
}

/// Switches (where `is_switch`) and hosts with these links.
pub(crate) fn graph(is_switch: &[bool], links: Vec<TopologyLink>) -> Topology {
    Topology {
        nodes: is_switch.iter().copied().enumerate().map(node).collect(),
        links,
        ..Topology::default()
    }
}

/// Hosts around the last node.
pub(crate) fn single(hosts: u32) -> Topology {
    let mut is_switch = vec![false; hosts as usize];
    is_switch.push(true);
    graph(&is_switch, (0..hosts).map(|host| link(host, hosts, 100)).collect())
}

/// Connected networks of 2 to 8 hosts and 1 to 12 switches with ids in any order, parallel links
/// and loops.
pub(crate) fn network() -> impl Strategy<Value = Topology> {
    let kinds = (2..=8usize, 1..=12usize).prop_flat_map(|(hosts, switches)| {
        let kinds = [vec![false; hosts], vec![true; switches]].concat();
        Just(kinds).prop_shuffle()
    });
    let choices = prop::collection::vec((any::<u32>(), any::<u32>(), 0..4usize), 48);
    (kinds, choices, 0..24usize)
        .prop_map(|(kinds, choices, extra)| connect(&kinds, &choices, extra))
        .prop_flat_map(|(kinds, links)| (Just(kinds), Just(links).prop_shuffle()))
        .prop_map(|(kinds, links)| graph(&kinds, links))
}

fn connect(
    kinds: &[bool],
    choices: &[(u32, u32, usize)],
    extra: usize,
) -> (Vec<bool>, Vec<TopologyLink>) {
    let ids = |wanted: bool| {
        let matching = (0..).zip(kinds).filter(move |&(_, &kind)| kind == wanted);
        matching.map(|(id, _): (NodeId, _)| id).collect::<Vec<_>>()
    };
    let (hosts, switches) = (ids(false), ids(true));
    let mut choices = choices.iter();
    let mut choose = || *choices.next().expect("as many choices as links");
    let rate = |index: usize| [10, 25, 100, 400][index];
    let mut links = Vec::new();
    for index in 1..switches.len() {
        let (a, _, speed) = choose();
        links.push(link(switches[index], switches[a as usize % index], rate(speed)));
    }
    for &host in &hosts {
        let (a, _, speed) = choose();
        links.push(link(host, switches[a as usize % switches.len()], rate(speed)));
    }
    for _ in 0..extra {
        let (a, b, speed) = choose();
        let [a, b] = [a, b].map(|end| switches[end as usize % switches.len()]);
        if a != b {
            links.push(link(a, b, rate(speed)));
        }
    }
    (kinds.to_vec(), links)
}

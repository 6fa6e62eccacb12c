//! Networks small enough to see their ways.

use rocelab_units::{Bandwidth, Duration};

use super::*;
use crate::topology::{Node, NodeKind, TopologyLink};

use SwitchRole::{Bridge, Multilayer, Router};

/// Hosts, switches, and links between them by number: hosts come first.
fn topology(hosts: usize, switches: usize, links: &[(u32, u32)]) -> Topology {
    let host = |number| Node { name: format!("h{number}"), kind: NodeKind::Host };
    let switch = |number| Node { name: format!("s{number}"), kind: NodeKind::Switch { tier: 0 } };
    let link = |&(a, b)| TopologyLink {
        a,
        b,
        rate: Bandwidth::from_gbps(100),
        delay: Duration::from_ns(10),
        loss: 0.0,
    };
    let nodes = (0..hosts).map(host).chain((0..switches).map(switch)).collect();
    Topology { nodes, links: links.iter().map(link).collect(), ..Topology::default() }
}

/// Hosts, switches with their roles, and links between nodes by number: hosts come first.
fn domains(vlans: &[u16], switches: &[SwitchRole], links: &[(u32, u32)]) -> Domains {
    let topology = topology(vlans.len(), switches.len(), links);
    let roles = vlans.iter().map(|_| None).chain(switches.iter().copied().map(Some)).collect();
    let subnets = (0u32..).take(topology.nodes.len()).map(|_| 0).collect();
    Domains::new(&topology, DomainConfig { roles, vlans: vlans.to_vec(), subnets, hash_seed: 1 })
}

/// The switches that a frame crosses, and what the last one does with it, if it does not arrive.
fn way(
    all: &Domains,
    links: &[(u32, u32)],
    frame: DomainFrame,
) -> (Vec<u32>, Option<DomainForwarding>) {
    let far = |node: u32, port: u16| {
        let mut ports = links.iter().filter(|(a, b)| *a == node || *b == node);
        let (a, b) = ports.nth(port.into()).expect("a port");
        if *a == node { *b } else { *a }
    };
    let port_to = |node: u32, from: u32| {
        let mut ports = links.iter().filter(|(a, b)| *a == node || *b == node);
        let port = ports.position(|&(a, b)| a == from || b == from).expect("a link");
        u16::try_from(port).expect("small")
    };
    let (mut frame, mut node, mut way) = (frame, far(frame.source, 0), Vec::new());
    let mut from = frame.source;
    while node != frame.destination {
        way.push(node);
        assert!(way.len() < 20, "{way:?}");
        let ingress = port_to(node, from);
        from = node;
        node = match all.forward(node, ingress, &frame) {
            DomainForwarding::Bridge(port) => far(node, port),
            DomainForwarding::Route(port) => {
                frame.crossed += 1;
                far(node, port)
            }
            other => return (way, Some(other)),
        };
    }
    (way, None)
}

fn frame(source: u32, destination: u32, is_ip: bool) -> DomainFrame {
    DomainFrame { source, destination, crossed: 0, is_ip, hash: 0 }
}

#[test]
fn a_bridge_goes_by_mac_addresses_and_a_router_by_ip_addresses() {
    // Hosts 0 and 1 at bridge 3, host 2 at bridge 5, router 4 between.
    let links = [(0, 3), (1, 3), (2, 5), (3, 4), (4, 5)];
    let all = domains(&[0, 0, 0], &[Bridge, Router, Bridge], &links);
    for is_ip in [false, true] {
        assert_eq!(way(&all, &links, frame(0, 1, is_ip)), (vec![3], None));
    }
    assert_eq!(way(&all, &links, frame(0, 2, true)), (vec![3, 4, 5], None));
    let stopped = Some(DomainForwarding::NotRoutable);
    assert_eq!(way(&all, &links, frame(0, 2, false)), (vec![3, 4], stopped));
    let place = all.place(&DomainFrame { crossed: 1, ..frame(0, 2, true) }).expect("one");
    assert_eq!((place.target, place.sender), (2, Some(4)));
    assert_eq!(all.interface(4, place.segment), Some(1), "the port to bridge 5");
}

#[test]
fn a_router_on_a_stick_joins_the_vlans_of_a_bridge() {
    let links = [(0, 3), (1, 3), (2, 3), (3, 4)];
    let all = domains(&[10, 10, 20], &[Bridge, Router], &links);
    assert_eq!(way(&all, &links, frame(0, 1, false)), (vec![3], None));
    assert_eq!(way(&all, &links, frame(0, 2, true)), (vec![3, 4, 3], None));
    let stopped = Some(DomainForwarding::NotRoutable);
    assert_eq!(way(&all, &links, frame(0, 2, false)), (vec![3, 4], stopped));
    let vlan = |crossed| all.place(&DomainFrame { crossed, ..frame(0, 2, true) }).map(|at| at.vlan);
    assert_eq!((vlan(0), vlan(1)), (Some(10), Some(20)));
}

#[test]
fn a_multilayer_switch_routes_between_its_vlans_and_bridges_inside() {
    let links = [(0, 3), (1, 3), (2, 3)];
    let all = domains(&[10, 10, 20], &[Multilayer], &links);
    assert_eq!(all.forward(3, 0, &frame(0, 1, true)), DomainForwarding::Bridge(1));
    assert_eq!(all.forward(3, 0, &frame(0, 2, true)), DomainForwarding::Route(2));
    assert_eq!(all.forward(3, 0, &frame(0, 2, false)), DomainForwarding::NotRoutable);
}

#[test]
fn without_a_router_nothing_leaves_its_domain() {
    let links = [(0, 2), (1, 2)];
    let all = domains(&[10, 20], &[Bridge], &links);
    for is_ip in [false, true] {
        assert_eq!(all.forward(2, 0, &frame(0, 1, is_ip)), DomainForwarding::NoRoute);
    }
}

#[test]
fn bridges_in_a_ring_have_a_tree_and_routers_in_a_ring_have_none() {
    let links = [(0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3)];
    let bridged = domains(&[0, 0, 0], &[Bridge; 3], &links);
    assert_eq!(bridged.active_links().iter().filter(|&&active| !active).count(), 1);
    let routed = domains(&[0, 0, 0], &[Router; 3], &links);
    assert!(routed.active_links().iter().all(|&active| active));
    for destination in [1, 2] {
        assert_eq!(way(&bridged, &links, frame(0, destination, false)).1, None);
        let (way, dropped) = way(&routed, &links, frame(0, destination, true));
        assert_eq!((way.len(), dropped), (2, None), "the shortest way");
    }
}

#[test]
fn a_frame_is_flooded_in_its_domain() {
    // Two VLANs at bridge 4, a router 5 with two ports there, bridge 6 behind.
    let links = [(0, 4), (1, 4), (2, 4), (3, 6), (4, 5), (4, 5), (4, 6)];
    let all = domains(&[10, 10, 20, 10], &[Bridge, Router, Bridge], &links);
    let frame = frame(0, 3, true);
    let place = all.place(&frame).expect("one");
    let topology = topology(4, 3, &links);
    let adjacency = topology.adjacency();
    // Not back, not to VLAN 20; to both ports of the router, one of which takes it.
    assert_eq!(all.flooded_ports(4, 0, &place, &adjacency), [1, 3, 4, 5]);
    assert_eq!(all.forward(5, 0, &frame), DomainForwarding::Foreign);
    assert_eq!(all.forward(4, 0, &frame), DomainForwarding::Bridge(5));
}

/// Hosts 0 and 1 at routers 2 and 3, with routers 4 to 7 between, each with a link to both.
const SPINES: [(u32, u32); 10] =
    [(0, 2), (1, 3), (2, 4), (2, 5), (2, 6), (2, 7), (4, 3), (5, 3), (6, 3), (7, 3)];

#[test]
fn routers_choose_among_next_hops_of_equal_cost_by_the_hash() {
    let all = domains(&[0, 0], &[Router; 6], &SPINES);
    let mut chosen = BTreeMap::<u32, u32>::new();
    for hash in (0..1000u32).map(|number| number.wrapping_mul(0x9e37_79b9)) {
        let frame = DomainFrame { hash, ..frame(0, 1, true) };
        let (switches, dropped) = way(&all, &SPINES, frame);
        assert_eq!((switches[0], switches[2], dropped), (2, 3, None));
        assert_eq!(way(&all, &SPINES, frame).0, switches, "always the same");
        *chosen.entry(switches[1]).or_default() += 1;
    }
    // 250 each, with a standard deviation of 13.7.
    assert_eq!(chosen.keys().copied().collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert!(chosen.values().all(|count| (195..=305).contains(count)), "{chosen:?}");
    assert_eq!(all.routers_between(0, 1), Some(3));
}

#[test]
fn all_ways_are_followed_at_once() {
    let count = |all: &Domains, topology: &Topology, ends| {
        let step = |&(ways, links): &(u32, u32), _, _| (ways, links + 1);
        let join = |(a, links): (u32, u32), (b, others)| (a + b, links.max(others));
        all.fold_ways(&topology.adjacency(), ends, true, (1, 0), step, join)
    };
    let links: Vec<_> = SPINES.iter().copied().chain([(2, 4)]).collect();
    let roles = [Router; 6];
    let clos = topology(2, roles.len(), &links);
    // Over router 4 there are two ways, by its parallel links.
    assert_eq!(count(&domains(&[0, 0], &roles, &links), &clos, (0, 1)), Some((5, 4)));
    // Through a router and back over the same link, as its VLANs demand.
    let links = [(0, 2), (1, 2), (2, 3)];
    let stick = domains(&[10, 20], &[Bridge, Router], &links);
    let topology = topology(2, 2, &links);
    assert_eq!(count(&stick, &topology, (0, 1)), Some((1, 4)));
    assert_eq!((stick.routers_between(0, 1), stick.are_neighbours(0, 1, false)), (Some(1), false));
    let parted = domains(&[10, 20], &[Bridge, Bridge], &links);
    assert_eq!((count(&parted, &topology, (0, 1)), parted.routers_between(0, 1)), (None, None));
}

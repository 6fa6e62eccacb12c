//! Static routes hold where they are set, and nowhere else.

use std::collections::BTreeMap;

use crate::random_network::{graph, link, network, single};
use proptest::prelude::*;
use rocelab_fabric::{NodeId, PathError, Routes, StaticRoute, Topology};

/// Any switch, any host, and three ports of which some may not exist.
type Choice = (prop::sample::Index, prop::sample::Index, [u16; 3]);

fn static_route(topology: &Topology, (switch, host, ports): &Choice) -> StaticRoute {
    let switches: Vec<_> = topology.switches().collect();
    let hosts: Vec<_> = topology.hosts().collect();
    let (switch, destination) = (*switch.get(&switches), *host.get(&hosts));
    StaticRoute { switch, destination, path_bits: 0, ports: ports.to_vec() }
}

/// The expected ports of each switch and host with a static route.
fn expected(
    topology: &Topology,
    active: &[bool],
    all: &[StaticRoute],
) -> BTreeMap<(NodeId, NodeId), Vec<u16>> {
    let adjacency = topology.adjacency();
    let mut expected = BTreeMap::new();
    for route in all {
        let links = adjacency.ports_of(route.switch);
        let mut ports = route.ports.clone();
        ports.retain(|&port| {
            links.get(usize::from(port)).is_some_and(|far| active[far.link as usize])
        });
        ports.sort_unstable();
        ports.dedup();
        expected.insert((route.switch, route.destination), ports);
    }
    expected.retain(|_, ports| !ports.is_empty());
    expected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn static_routes_hold_and_all_others_stay(
        topology in network(),
        choices in prop::collection::vec(any::<Choice>().prop_map(|(s, h, p)| (s, h, p.map(|p| p % 6))), 0..12),
        dice in any::<u64>(),
        hash in any::<u32>(),
    ) {
        let active: Vec<_> = (0..topology.links.len()).map(|i| dice >> (i % 64) & 7 != 0).collect();
        let all: Vec<_> = choices.iter().map(|choice| static_route(&topology, choice)).collect();
        let computed = Routes::new(&topology, &active).unwrap().with_hash_seed(dice);
        let routes = computed.clone().with_static_routes(&all, &active);
        let expected = expected(&topology, &active, &all);
        for switch in topology.switches() {
            for host in topology.hosts() {
                let by_hand = expected.get(&(switch, host)).map(Vec::as_slice);
                let next_hops = by_hand.unwrap_or_else(|| computed.next_hops(switch, host));
                prop_assert_eq!(routes.next_hops(switch, host), next_hops);
                let egress = routes.egress(switch, host, hash);
                match by_hand {
                    None => prop_assert_eq!(egress, computed.egress(switch, host, hash)),
                    Some(ports) => prop_assert!(egress.is_some_and(|port| ports.contains(&port))),
                }
            }
        }
        let destinations: Vec<_> = routes.static_destinations().collect();
        let mut hosts: Vec<_> = expected.keys().map(|&(_, host)| host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        prop_assert_eq!(destinations, hosts);
    }
}

/// Hosts 0 and 1, each at a switch of its own, 2 and 3, with one link between them.
fn two_switches() -> Topology {
    let links = vec![link(0, 2, 100), link(1, 3, 100), link(2, 3, 100)];
    graph(&[false, false, true, true], links)
}

#[test]
fn a_circle_is_a_loop_and_no_hang() {
    let topology = two_switches();
    let active = topology.all_links_active();
    let back = StaticRoute { switch: 3, destination: 1, path_bits: 0, ports: vec![1] };
    let routes = Routes::new(&topology, &active).unwrap().with_static_routes(&[back], &active);
    assert_eq!(routes.path_length(0, 1), Err(PathError::Loop { from: 0, to: 1 }));
    assert_eq!(routes.path_length(1, 0), Ok(3));
}

#[test]
fn the_last_switch_may_be_told_too() {
    let topology = single(3);
    let active = topology.all_links_active();
    let astray = StaticRoute { switch: 3, destination: 1, path_bits: 0, ports: vec![2] };
    let routes = Routes::new(&topology, &active).unwrap().with_static_routes(&[astray], &active);
    assert_eq!((routes.next_hops(3, 1), routes.egress(3, 1, 9)), (&[2][..], Some(2)));
    assert_eq!((routes.next_hops(3, 2), routes.next_hops(3, 0)), (&[2][..], &[0][..]));
    assert_eq!(routes.path_length(0, 1), Err(PathError::Unreachable { from: 0, to: 1 }));
}

#[test]
fn what_is_no_switch_host_or_port_has_no_effect() {
    let topology = two_switches();
    let active = topology.all_links_active();
    for (switch, destination, port) in [(0, 1, 0), (2, 3, 0), (2, 1, 7), (99, 1, 0), (2, 99, 0)] {
        let none = StaticRoute { switch, destination, path_bits: 0, ports: vec![port] };
        let routes = Routes::new(&topology, &active).unwrap().with_static_routes(&[none], &active);
        assert_eq!(routes.static_destinations().count(), 0);
        assert_eq!(routes.path_length(0, 1), Ok(3));
    }
}

#[test]
fn a_route_whose_link_is_gone_is_withdrawn_and_the_way_round_it_computed() {
    // A triangle of switches 2, 3 and 4; the static route takes the longer way.
    let links =
        vec![link(0, 2, 100), link(1, 3, 100), link(2, 3, 100), link(2, 4, 100), link(4, 3, 100)];
    let topology = graph(&[false, false, true, true, true], links);
    let round = [StaticRoute { switch: 2, destination: 1, path_bits: 0, ports: vec![2] }];
    let length = |active: &[bool]| {
        let routes = Routes::new(&topology, active).unwrap().with_static_routes(&round, active);
        routes.path_length(0, 1)
    };
    assert_eq!(length(&[true; 5]), Ok(4));
    assert_eq!(length(&[true, true, true, false, true]), Ok(3));
}

//! Routes compared with their definition: all shortest paths, and no others.

use std::path::Path;

use crate::random_network::{network, single};
use proptest::prelude::*;
use rocelab_fabric::topology::{LinkConfig, clos, fat_tree, leaf_spine, spanning_tree};
use rocelab_fabric::{NodeId, PathError, RouteError, Routes, Topology, TopologyConfig};
use rocelab_units::{Bandwidth, Duration};

fn link() -> LinkConfig {
    LinkConfig::with_delay(Bandwidth::from_gbps(100), Duration::from_us(1))
}

fn build(config: TopologyConfig) -> Topology {
    config.build(Path::new(".")).expect("the parameters are good")
}

fn fat_tree(k: u32) -> Topology {
    build(TopologyConfig::FatTree(fat_tree::Parameters {
        k,
        host_link: link(),
        fabric_link: link(),
    }))
}

fn routes(topology: &Topology) -> Routes {
    Routes::new(topology, &topology.all_links_active()).expect("a network has routes")
}

/// Links from every node to `destination` over active links, by relaxing all links until nothing
/// changes. Hosts do not forward.
fn distances(topology: &Topology, active: &[bool], destination: NodeId) -> Vec<Option<usize>> {
    let mut distance = vec![None; topology.nodes.len()];
    distance[destination as usize] = Some(0);
    loop {
        let before = distance.clone();
        for (link, _) in topology.links.iter().zip(active).filter(|&(_, &active)| active) {
            for (from, to) in [(link.a as usize, link.b), (link.b as usize, link.a)] {
                let forwards = to == destination || !topology.is_host(to);
                if let (true, Some(beyond)) = (forwards, distance[to as usize]) {
                    let through = beyond + 1;
                    distance[from] = Some(distance[from].map_or(through, |d| d.min(through)));
                }
            }
        }
        if distance == before {
            return distance;
        }
    }
}

/// Compares all next hops and path lengths with the definition.
fn check_against_definition(topology: &Topology, active: &[bool]) {
    let routes = Routes::new(topology, active).unwrap();
    let adjacency = topology.adjacency();
    for destination in topology.hosts() {
        let distance = distances(topology, active, destination);
        for switch in topology.switches() {
            let nearer = |far: NodeId| {
                distance[switch as usize]
                    .is_some_and(|own| own > 0 && distance[far as usize] == Some(own - 1))
            };
            let expected: Vec<u16> = (0..)
                .zip(adjacency.ports_of(switch))
                .filter(|(_, port)| active[port.link as usize])
                .filter(|(_, port)| port.node == destination || !topology.is_host(port.node))
                .filter(|(_, port)| nearer(port.node))
                .map(|(number, _)| number)
                .collect();
            assert_eq!(routes.next_hops(switch, destination), expected, "{switch} {destination}");
        }
        for source in topology.hosts() {
            let expected = distance[source as usize];
            assert_eq!(routes.path_length(source, destination).ok(), expected);
        }
    }
}

/// Follows `egress` from host to host. Returns the number of links.
fn walk(topology: &Topology, routes: &Routes, from: NodeId, to: NodeId, hash: u32) -> usize {
    let adjacency = topology.adjacency();
    let mut node = adjacency.ports_of(from)[0].node;
    for links in 1.. {
        if node == to {
            return links;
        }
        let port = routes.egress(node, to, hash).expect("a way on");
        assert!(routes.next_hops(node, to).contains(&port));
        node = adjacency.ports_of(node)[usize::from(port)].node;
        assert!(links <= topology.nodes.len(), "the walk goes in circles");
    }
    unreachable!()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn next_hops_are_all_ports_on_shortest_paths(topology in network()) {
        check_against_definition(&topology, &topology.all_links_active());
    }

    #[test]
    fn inactive_links_carry_nothing(topology in network(), dice in any::<u64>()) {
        let active: Vec<_> = (0..topology.links.len()).map(|i| dice >> (i % 64) & 3 != 0).collect();
        check_against_definition(&topology, &active);
    }

    #[test]
    fn a_spanning_tree_leaves_one_path(topology in network()) {
        let routes = Routes::new(&topology, &spanning_tree(&topology)).unwrap();
        for switch in topology.switches() {
            for host in topology.hosts() {
                prop_assert_eq!(routes.next_hops(switch, host).len(), 1);
            }
        }
    }

    #[test]
    fn every_walk_arrives_after_path_length_links(topology in network(), hash in any::<u32>()) {
        let routes = routes(&topology).with_hash_seed(u64::from(hash).rotate_left(40));
        for from in topology.hosts() {
            for to in topology.hosts().filter(|&to| to != from) {
                let length = routes.path_length(from, to).unwrap();
                prop_assert_eq!(walk(&topology, &routes, from, to, hash), length);
                prop_assert_eq!(routes.shortest_path(from, to).unwrap().len(), length);
            }
        }
    }
}

#[test]
fn structured_topologies_have_all_shortest_paths() {
    for example in TopologyConfig::examples() {
        let topology = build(example);
        check_against_definition(&topology, &topology.all_links_active());
    }
}

#[test]
fn a_fat_tree_offers_half_its_ports_on_the_way_up_and_one_on_the_way_down() {
    for k in [4u32, 8] {
        let (topology, half) = (fat_tree(k), k / 2);
        let routes = routes(&topology);
        let node = |name: &str| topology.node_by_name(name).expect(name);
        let hops = |switch: &str, host: u32| routes.next_hops(node(switch), host).to_vec();
        let half_u16 = u16::try_from(half).unwrap();
        let up: Vec<u16> = (half_u16..2 * half_u16).collect();
        let last = topology.hosts().last().unwrap();
        assert_eq!(hops("tor-0", last), up, "to another pod: every aggregation switch");
        assert_eq!(hops("aggregation-0", last), up, "to another pod: every core of the group");
        assert_eq!(hops("tor-0", half), up, "to another rack of the pod");
        assert_eq!(hops("aggregation-0", half), [1], "down to the rack");
        assert_eq!(hops("core-0", last), [2 * half_u16 - 1], "down to the pod");
        assert_eq!(hops("tor-0", half - 1), [half_u16 - 1], "down to the host");
        let length = |to: u32| routes.path_length(0, to).unwrap();
        assert_eq!([length(0), length(1), length(half), length(last)], [0, 2, 4, 6]);
    }
}

#[test]
fn equal_switches_share_rows() {
    // All top-of-rack switches share a row, so do the aggregation switches of each pod, and all
    // cores.
    assert_eq!(routes(&fat_tree(8)).row_count(), 1 + 8 + 1);
    let parameters = leaf_spine::Parameters {
        leaves: 6,
        spines: 3,
        hosts_per_leaf: 4,
        host_link: link(),
        fabric_link: link(),
    };
    assert_eq!(routes(&build(TopologyConfig::LeafSpine(parameters))).row_count(), 2);
}

#[test]
fn the_320_hosts_spread_over_all_paths() {
    let hpcc = <clos::Parameters as rocelab_fabric::topology::Generate>::examples()[0].clone();
    let topology = build(TopologyConfig::Clos(hpcc));
    let routes = routes(&topology);
    let adjacency = topology.adjacency();
    let mut used = vec![0u32; topology.links.len()];
    const FLOWS: u32 = 16_000;
    for flow in 0..FLOWS {
        let hash = rocelab_fabric::FiveTuple {
            source: [11, 0, 0, 1].into(),
            destination: [11, 1, 44, 1].into(),
            source_port: 0xc000 + (flow & 0x3fff) as u16,
            destination_port: 4791,
            protocol: 17,
        }
        .flow_hash();
        let mut node = adjacency.ports_of(0)[0].node;
        while node != 319 {
            let port = routes.egress(node, 319, hash).unwrap();
            let hop = adjacency.ports_of(node)[usize::from(port)];
            used[hop.link as usize] += 1;
            node = hop.node;
        }
    }
    // 4 ways from the rack, 16 to the cores, and as many down: each within a fifth of its share
    // (more than 6 standard deviations of a binomial share of 1000).
    let busy: Vec<_> = used[320..].iter().filter(|&&flows| flows > 0).collect();
    assert_eq!(busy.len(), 4 + 16 + 16 + 4);
    assert!(
        busy.iter().all(|&&flows| (800..1200).contains(&flows) || (3700..4300).contains(&flows)),
        "{busy:?}"
    );
}

#[test]
fn what_is_no_route_is_no_panic() {
    let topology = fat_tree(4);
    let routes = routes(&topology);
    let switch = topology.node_by_name("tor-0").unwrap();
    for (from, to) in
        [(0, 1), (switch, switch), (switch, u32::MAX), (u32::MAX, 0), (u32::MAX, switch), (99, 99)]
    {
        assert_eq!(routes.next_hops(from, to), [0u16; 0], "{from} {to}");
        assert_eq!(routes.egress(from, to, 7), None, "{from} {to}");
    }
    assert_eq!(routes.path_length(0, switch), Err(PathError::NotAHost { node: switch }));
    assert_eq!(routes.path_length(u32::MAX, 0), Err(PathError::NotAHost { node: u32::MAX }));

    let cut: Vec<_> = (0..topology.links.len()).map(|link| link != 0).collect();
    let routes = Routes::new(&topology, &cut).unwrap();
    assert_eq!(routes.egress(switch, 0, 7), None);
    assert_eq!(routes.path_length(0, 1), Err(PathError::Unreachable { from: 0, to: 1 }));
    assert_eq!(routes.path_length(1, 0), Err(PathError::Unreachable { from: 1, to: 0 }));
    assert_eq!(routes.path_length(1, 2), Ok(4));

    let empty = Routes::new(&Topology::default(), &[]).unwrap();
    assert_eq!((empty.next_hops(0, 0), empty.row_count()), (&[][..], 0));
}

#[test]
fn what_routes_cannot_represent_is_refused() {
    let topology = single(3);
    let refuse = |topology: &Topology, active: &[bool]| Routes::new(topology, active).unwrap_err();
    assert_eq!(refuse(&topology, &[true]), RouteError::ActiveLinks { active: 1, links: 3 });
    let mut broken = topology.clone();
    broken.links[1].b = 77;
    assert_eq!(refuse(&broken, &[true; 3]), RouteError::NoSuchNode { link: 1, node: 77 });
    let mut twice = topology.clone();
    twice.links.push(twice.links[0].clone());
    assert_eq!(refuse(&twice, &[true; 4]), RouteError::SeveralHostLinks { host: 0 });
    assert!(Routes::new(&twice, &[true, true, true, false]).is_ok(), "an inactive one is no harm");
}

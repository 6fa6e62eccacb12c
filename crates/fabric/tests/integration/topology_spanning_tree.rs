//! Spanning trees: they reach all switches, have no loops, and are the trees that bridges would
//! build.

use crate::random_network::{graph, link, network, single};
use proptest::prelude::*;
use rocelab_fabric::Topology;
use rocelab_fabric::topology::spanning_tree;

/// The topology without its inactive links.
fn pruned(topology: &Topology, active: &[bool]) -> Topology {
    let kept = topology.links.iter().zip(active).filter(|&(_, &active)| active);
    Topology {
        nodes: topology.nodes.clone(),
        links: kept.map(|(link, _)| link.clone()).collect(),
        ..Topology::default()
    }
}

proptest! {
    #[test]
    fn the_active_links_are_a_spanning_tree(topology in network()) {
        let tree = pruned(&topology, &spanning_tree(&topology));
        prop_assert_eq!(tree.links.len(), topology.nodes.len() - 1);
        prop_assert!(tree.is_connected());
    }

    #[test]
    fn every_path_to_the_root_is_of_least_cost(topology in network()) {
        let root = topology.switches().next().expect("a switch");
        let tree = pruned(&topology, &spanning_tree(&topology));
        prop_assert_eq!(least_costs(&tree, root), least_costs(&topology, root));
    }
}

/// Path costs of the switches by the 802.1D-2004 values of the rates in use, by relaxing all
/// links until nothing changes.
fn least_costs(topology: &Topology, root: u32) -> Vec<u64> {
    const FAR: u64 = u64::MAX / 2;
    let mut cost = vec![FAR; topology.nodes.len()];
    cost[root as usize] = 0;
    for _ in 0..topology.nodes.len() {
        for link in &topology.links {
            let own = match link.rate.bits_per_second() / 1_000_000_000 {
                10 => 2000,
                25 => 800,
                100 => 200,
                400 => 50,
                other => unreachable!("{other} Gb/s"),
            };
            let [a, b] = [link.a as usize, link.b as usize];
            cost[a] = cost[a].min(cost[b] + own);
            cost[b] = cost[b].min(cost[a] + own);
        }
    }
    let is_switch = |&(id, _): &(u32, u64)| !topology.is_host(id);
    (0..).zip(cost).filter(is_switch).map(|(_, cost)| cost).collect()
}

/// Bridges 0 to 4 and two hosts, worked out by hand.
///
/// ```text
///            0 (root)
///    10G  /  |  \ 100G x2 (ports 2, 3)
///        1   |10G 2
///    25G |   |   | 100G
///        3 --+   4          also 3 - 4 at 100G, 1 - 4 at 10G
/// ```
#[test]
fn the_tree_is_that_of_the_standard() {
    let links = vec![
        link(0, 1, 10),  // 0: cost 2000: blocked, 1 reaches the root through 3 for 1200
        link(0, 3, 10),  // 1: cost 2000: blocked, 3 reaches the root through 4 for 600
        link(0, 2, 100), // 2: cost 200: root port of 2 by the lower port of bridge 0
        link(2, 0, 100), // 3: cost 200: blocked
        link(1, 3, 25),  // 4: cost 800: root port of 1, 800 + 600
        link(2, 4, 100), // 5: cost 200: root port of 4, 200 + 200
        link(3, 4, 100), // 6: cost 200: root port of 3, 200 + 400
        link(1, 4, 10),  // 7: cost 2000: blocked
        link(5, 1, 10),  // 8: a host
        link(6, 4, 10),  // 9: a host
    ];
    let topology = graph(&[true, true, true, true, true, false, false], links);
    let active = [false, false, true, false, true, true, true, false, true, true];
    assert_eq!(spanning_tree(&topology), active);
}

#[test]
fn ties_go_to_the_lower_bridge_then_to_its_lower_port() {
    // A square: 3 reaches root 0 through 1 or 2 at equal cost.
    let square = vec![
        link(2, 3, 100),
        link(0, 2, 100),
        link(1, 3, 100),
        link(0, 1, 100),
        link(4, 3, 100),
        link(5, 0, 100),
    ];
    let topology = graph(&[true, true, true, true, false, false], square);
    assert_eq!(spanning_tree(&topology), [false, true, true, true, true, true]);

    // Of two links between two bridges, the one at the lower ports.
    let links = vec![
        link(1, 2, 100),
        link(1, 0, 100),
        link(0, 2, 100),
        link(0, 1, 100),
        link(3, 1, 100),
        link(4, 2, 100),
    ];
    let topology = graph(&[true, true, true, false, false], links);
    assert_eq!(spanning_tree(&topology), [false, true, true, false, true, true]);
}

#[test]
fn without_loops_nothing_is_blocked() {
    assert_eq!(spanning_tree(&single(3)), [true; 3]);
    assert!(spanning_tree(&Topology::default()).is_empty());
}

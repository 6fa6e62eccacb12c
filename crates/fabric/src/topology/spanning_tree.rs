//! The links that a spanning tree leaves active.
//!
//! A RoCE v1 broadcast domain must not have loops. This computes the tree on which bridges that
//! run the (rapid) spanning tree protocol of IEEE Std 802.1D-2004 settle, at once and from the
//! whole topology: there are no BPDUs, no port states and no convergence time.
//!
//! - All bridges have the same priority, so the lowest switch id is the lowest bridge identifier,
//!   and the root. All ports have the same priority, so the lowest port number is the lowest port
//!   identifier.
//! - A port's path cost is the recommended value for its rate: 20,000,000,000,000 divided by the
//!   bit/s, such as 2000 at 10 Gb/s and 200 at 100 Gb/s, and from 1 to 200,000,000.
//! - A switch's root port is that with the best priority vector: the least cost to the root, then
//!   the lowest designated bridge, then that bridge's lowest port, then the lowest own port.
//! - A link between switches is active if it is the root port of one of its ends; all others end
//!   in an alternate port and are blocked. Links of hosts are always active.
//!
//! Links that are aggregated are one: if one of them is active, all are.
//!
//! Should the switches form several parts, each has a root of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rocelab_units::Bandwidth;

use super::{Adjacency, NodeId, Topology};

/// For each link, whether it is part of the tree.
///
/// # Panics
/// If a link names a node that does not exist, which [`Topology::check`] reports.
pub fn spanning_tree(topology: &Topology) -> Vec<bool> {
    spanning_tree_over(topology, &topology.all_links_active())
}

/// For each link, whether it is part of the tree over the links that are `up`.
///
/// # Panics
/// As [`spanning_tree`]; if `up` is not as long as the list of links.
pub fn spanning_tree_over(topology: &Topology, up: &[bool]) -> Vec<bool> {
    let bridges = Bridges { topology, up, adjacency: topology.adjacency() };
    let costs = bridges.root_path_costs();
    let mut active: Vec<bool> = topology
        .links
        .iter()
        .zip(up)
        .map(|(link, &up)| up && (topology.is_host(link.a) || topology.is_host(link.b)))
        .collect();
    for switch in topology.switches() {
        if let Some(link) = bridges.root_port_link(switch, &costs) {
            active[link as usize] = true;
        }
    }
    for aggregate in &topology.aggregates {
        if active[aggregate.clone()].contains(&true) {
            active[aggregate.clone()].copy_from_slice(&up[aggregate.clone()]);
        }
    }
    active
}

/// Path cost of a port.
fn path_cost(rate: Bandwidth) -> u64 {
    let cost = 20_000_000_000_000 / rate.bits_per_second().max(1);
    cost.clamp(1, 200_000_000)
}

struct Bridges<'a> {
    topology: &'a Topology,
    up: &'a [bool],
    adjacency: Adjacency,
}

/// A port to another switch.
struct BridgePort {
    number: usize,
    far: NodeId,
    link: u32,
    cost: u64,
}

impl Bridges<'_> {
    fn ports(&self, switch: NodeId) -> impl Iterator<Item = BridgePort> + '_ {
        let ports = self.adjacency.ports_of(switch).iter().enumerate();
        let to_bridges = ports.filter(move |(_, port)| {
            let is_bridge = port.node != switch && !self.topology.is_host(port.node);
            is_bridge && self.up[port.link as usize]
        });
        to_bridges.map(|(number, port)| {
            let cost = path_cost(self.topology.links[port.link as usize].rate);
            BridgePort { number, far: port.node, link: port.link, cost }
        })
    }

    /// Each switch's cost to the root of its part of the network.
    fn root_path_costs(&self) -> Vec<Option<u64>> {
        let mut costs = vec![None; self.topology.nodes.len()];
        for root in self.topology.switches() {
            if costs[root as usize].is_none() {
                self.spread_costs(root, &mut costs);
            }
        }
        costs
    }

    /// Dijkstra's algorithm.
    fn spread_costs(&self, root: NodeId, costs: &mut [Option<u64>]) {
        let mut open = BinaryHeap::from([Reverse((0u64, root))]);
        while let Some(Reverse((cost, switch))) = open.pop() {
            if costs[switch as usize].is_some() {
                continue;
            }
            costs[switch as usize] = Some(cost);
            for port in self.ports(switch) {
                if costs[port.far as usize].is_none() {
                    open.push(Reverse((cost + port.cost, port.far)));
                }
            }
        }
    }

    /// The link at the switch's root port; none at a root.
    fn root_port_link(&self, switch: NodeId, costs: &[Option<u64>]) -> Option<u32> {
        if costs[switch as usize] == Some(0) {
            return None;
        }
        let vector = |port: &BridgePort| {
            let root_path_cost = costs[port.far as usize].map_or(u64::MAX, |cost| cost + port.cost);
            // Parallel links are in the same order at both ends, so the lowest own port is also at
            // the designated bridge's lowest port.
            (root_path_cost, port.far, port.number)
        };
        self.ports(switch).min_by_key(vector).map(|port| port.link)
    }
}

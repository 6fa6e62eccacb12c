//! Tiers of switches in networks without a structure.

use super::{NodeId, NodeKind, Topology};

/// Tiers count from 1 at the switches with hosts.
pub(super) fn number_tiers(topology: &mut Topology) {
    let adjacency = topology.adjacency();
    let mut reached: Vec<bool> = vec![false; topology.nodes.len()];
    let mut border: Vec<NodeId> = topology.hosts().collect();
    for tier in 0..=u8::MAX {
        let mut next = Vec::new();
        for &node in &border {
            reached[node as usize] = true;
        }
        for &node in &border {
            if let NodeKind::Switch { tier: own } = &mut topology.nodes[node as usize].kind {
                *own = tier;
            }
            let far = adjacency.ports_of(node).iter().map(|port| port.node);
            next.extend(far.filter(|&far| !reached[far as usize]));
        }
        next.sort_unstable();
        next.dedup();
        border = next;
    }
}

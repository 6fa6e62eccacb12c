//! The path bits of connections, where hosts of InfiniBand have several LIDs.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;

use crate::scenario::{PathBits, Scenario};

/// Gives connections path bits in their turn.
pub(super) struct PathBitsInTurn<'a> {
    choice: &'a PathBits,
    mask: u32,
    /// Connections so far, by source and destination.
    connections: BTreeMap<(NodeId, NodeId), u32>,
}

impl<'a> PathBitsInTurn<'a> {
    /// None where hosts have one LID.
    pub(super) fn of(scenario: &'a Scenario) -> Option<Self> {
        let config = scenario.infiniband.as_ref().filter(|own| own.lmc > 0)?;
        let mask = (1 << config.lmc) - 1;
        Some(Self { choice: &config.path_bits, mask, connections: BTreeMap::new() })
    }

    /// The `entropy` of the next connection between these hosts, with its path bits in the lowest places.
    pub(super) fn put(&mut self, ends: (NodeId, NodeId), entropy: u32) -> u32 {
        let before = self.connections.entry(ends).or_default();
        let path_bits = match self.choice {
            PathBits::RoundRobin => *before,
            PathBits::Random => entropy,
            PathBits::List(list) => {
                let place = *before as usize % list.len().max(1);
                list.get(place).copied().unwrap_or(0).into()
            }
        };
        *before += 1;
        entropy & !self.mask | path_bits & self.mask
    }
}

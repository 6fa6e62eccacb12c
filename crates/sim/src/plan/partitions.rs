//! Partitions of hosts, and the keys of queue pairs.

use rocelab_fabric::NodeId;
use rocelab_transport::AlternatePath;

use super::Plan;
use crate::address::path_entropy;
use crate::scenario::AlternatePathConfig;

/// The membership bit of a P_Key: set of full members.
const FULL: u16 = 0x8000;

/// The P_Key of every host's first entry, if the scenario says nothing else.
const DEFAULT_P_KEY: u16 = 0xffff;

/// The P_Key tables of hosts.
#[derive(Clone, Debug, Default)]
pub struct Partitions {
    /// By [`NodeId`]; none at all where the scenario names no partitions.
    tables: Vec<Vec<u16>>,
}

/// Which entry of its host's P_Key table a queue pair uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionChoice {
    /// The first one.
    #[default]
    Default,
    /// That at this place.
    Index(u16),
    /// That with this number of 15 bits.
    Number(u16),
}

/// The keys and paths of queue pairs: those of both ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairKeys {
    /// Which partition it is in.
    pub partition: PartitionChoice,
    /// The Q_Key that it expects, of datagrams.
    pub q_key: u32,
    /// The Q_Key that its datagrams carry.
    pub sent_q_key: u32,
    /// A second path.
    pub alternate_path: Option<AlternatePathConfig>,
}

impl Partitions {
    /// Those of the tables by [`NodeId`].
    pub(crate) const fn new(tables: Vec<Vec<u16>>) -> Self {
        Self { tables }
    }

    /// Whether the scenario names any.
    pub fn are_named(&self) -> bool {
        !self.tables.is_empty()
    }

    /// The P_Keys of a host.
    pub fn table(&self, host: NodeId) -> &[u16] {
        self.tables.get(host as usize).map_or(&[DEFAULT_P_KEY], Vec::as_slice)
    }

    /// The P_Key that a queue pair of a host has, if the host's table has such an entry.
    pub fn p_key(&self, host: NodeId, choice: PartitionChoice) -> Option<u16> {
        let table = self.table(host);
        match choice {
            PartitionChoice::Default => table.first().copied(),
            PartitionChoice::Index(place) => table.get(usize::from(place)).copied(),
            PartitionChoice::Number(number) => {
                table.iter().copied().find(|entry| (entry ^ number) & !FULL == 0)
            }
        }
    }
}

/// Whether a queue pair with one P_Key takes a packet with the other: the same partition, and at least one of the two a full
/// member (IBTA, P_Key matching).
pub(crate) const fn p_keys_match(one: u16, other: u16) -> bool {
    (one ^ other) & !FULL == 0 && (one | other) & FULL != 0
}

impl Plan {
    /// The keys of queue pairs, by their place in [`Plan::queue_pairs`].
    pub(crate) fn keys(&self, queue_pairs: u32) -> QueuePairKeys {
        self.roce.keys.get(queue_pairs as usize).copied().unwrap_or_default()
    }

    /// The P_Key of a queue pair of a host.
    pub(crate) fn p_key(&self, queue_pairs: u32, host: NodeId) -> u16 {
        let choice = self.keys(queue_pairs).partition;
        self.roce.partitions.p_key(host, choice).unwrap_or(DEFAULT_P_KEY)
    }

    /// The second path of a connection whose first one has `entropy`, at one of its ends.
    pub(crate) fn alternate_path(
        &self,
        (queue_pairs, entropy): (u32, u32),
        (near, far): (NodeId, NodeId),
        is_source: bool,
    ) -> Option<AlternatePath> {
        let config = self.keys(queue_pairs).alternate_path?;
        Some(AlternatePath {
            entropy: self.flow_hash(near, far, self.alternate_entropy(entropy, &config)),
            rearm: config.rearm,
            migrate_at: config.migrate_at.filter(|_| is_source),
        })
    }

    /// The entropy of packets on the second path of a connection whose first one has `entropy`.
    pub(crate) fn alternate_entropy(&self, entropy: u32, config: &AlternatePathConfig) -> u32 {
        config.entropy.unwrap_or_else(|| path_entropy(self.roce.encapsulation, entropy, 1))
    }

    /// Whether connections may have second paths.
    pub(crate) fn has_alternate_paths(&self) -> bool {
        self.roce.keys.iter().any(|keys| keys.alternate_path.is_some())
    }

    /// Whether packets may arrive with a key that their queue pair does not have.
    pub(crate) fn keys_may_differ(&self) -> bool {
        let differ = |keys: &QueuePairKeys| keys.q_key != keys.sent_q_key;
        self.roce.partitions.are_named() || self.roce.keys.iter().any(differ)
    }
}

impl QueuePairKeys {
    /// The Q_Key of datagrams, where the scenario says nothing else.
    pub(crate) const Q_KEY: u32 = 0x1111_1111;
}

impl Default for QueuePairKeys {
    fn default() -> Self {
        let partition = PartitionChoice::Default;
        Self { partition, q_key: Self::Q_KEY, sent_q_key: Self::Q_KEY, alternate_path: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IBTA: the 15 low bits must be the same, and two limited members do not talk to each other.
    #[test]
    fn p_keys_match_unless_both_are_limited() {
        for (one, other, matches) in [
            (0xffff, 0xffff, true),
            (0x8001, 0x0001, true),
            (0x0001, 0x8001, true),
            (0x0001, 0x0001, false),
            (0x8001, 0x8002, false),
            (0x7fff, 0x7fff, false),
        ] {
            assert_eq!(p_keys_match(one, other), matches, "{one:#x} {other:#x}");
        }
    }

    #[test]
    fn a_queue_pair_has_the_entry_of_its_own_host() {
        let partitions = Partitions::new(vec![vec![0xffff, 0x8001], vec![0x7fff, 0x8002, 0x0001]]);
        let number = PartitionChoice::Number(0x8001);
        assert_eq!(partitions.p_key(0, number), Some(0x8001));
        assert_eq!(partitions.p_key(1, number), Some(0x0001));
        assert_eq!(partitions.p_key(1, PartitionChoice::Index(1)), Some(0x8002));
        assert_eq!(partitions.p_key(0, PartitionChoice::Index(2)), None);
        assert_eq!(partitions.p_key(1, PartitionChoice::Default), Some(0x7fff));
    }
}

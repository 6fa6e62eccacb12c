//! Whether slow receivers have room for what arrives after they have asked for pauses.
//!
//! A NIC asks when more than XOFF waits in its memory, for all lossless priorities at once, so what may
//! still come is what one link carries until then: the sum of a headroom in bytes. Frames that its
//! pauses do not stop take of the same memory.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{LosslessHop, NodeId};
use rocelab_units::Bytes;
use serde::Serialize;

use super::Verdict;
use super::headroom::HeadroomSum;
use super::priorities::stops;
use crate::Plan;
use crate::plan::SentMarkings;

/// The memory of slow receivers that are alike. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiverFinding {
    /// How many hosts.
    pub hosts: u64,
    /// The first of them.
    pub example: String,
    /// `slow_receiver.buffer`.
    pub buffer_bytes: u64,
    /// With more than this in it, pauses are asked for.
    pub xoff_bytes: u64,
    /// What must be left of the memory then.
    pub needed: HeadroomSum,
    /// Priorities of frames to these hosts that no pause of theirs stops.
    pub not_paused: Vec<u8>,
}

impl ReceiverFinding {
    /// What is left of the memory above XOFF (bytes).
    pub fn headroom_bytes(&self) -> u64 {
        self.buffer_bytes.saturating_sub(self.xoff_bytes)
    }

    /// Refuted if that is not enough; proved if all that arrives obeys pauses, too.
    pub fn verdict(&self) -> Verdict {
        if self.headroom_bytes() < self.needed.total_bytes {
            Verdict::Refuted
        } else if self.not_paused.is_empty() {
            Verdict::Proved
        } else {
            Verdict::Open
        }
    }
}

/// Kinds of slow receivers.
pub(super) fn find(plan: &Plan, sent: &SentMarkings) -> Vec<ReceiverFinding> {
    let adjacency = plan.topology.adjacency();
    let mut kinds: BTreeMap<_, ReceiverFinding> = BTreeMap::new();
    for (&host, receiver) in &plan.slow_receivers {
        let Some(port) = adjacency.ports_of(host).first() else { continue };
        let hop = plan.lossless_hop(host, port, &adjacency);
        // A NIC's memory is counted in bytes.
        let needed = HeadroomSum::from(LosslessHop { cell: Bytes::new(1), ..hop }.terms());
        let far_port = adjacency.port_of_link(port.node, port.link).unwrap_or(0);
        let far_port = u16::try_from(far_port).unwrap_or(u16::MAX);
        let not_paused = not_paused(
            plan,
            (port.node, far_port),
            &adjacency,
            receiver.lossless,
            sent.at(plan, host),
        );
        let key = (receiver.buffer, receiver.xoff, needed.total_bytes, not_paused.clone());
        let finding = kinds.entry(key).or_insert_with(|| ReceiverFinding {
            hosts: 0,
            example: plan.topology.nodes[host as usize].name.clone(),
            buffer_bytes: receiver.buffer.get(),
            xoff_bytes: receiver.xoff.get(),
            needed,
            not_paused,
        });
        finding.hosts += 1;
    }
    kinds.into_values().collect()
}

/// Priorities of what is `arriving` (by marking) that the sending port goes on with when a host has it pause those
/// of `reasons` (bit p).
fn not_paused(
    plan: &Plan,
    port: (NodeId, u16),
    adjacency: &Adjacency,
    reasons: u8,
    arriving: impl Iterator<Item = u8>,
) -> Vec<u8> {
    let going_on = arriving.filter(|&sent| !stops(plan, port, adjacency, reasons, sent));
    let priorities: BTreeSet<_> = going_on.map(|sent| plan.markings.of(sent).priority).collect();
    priorities.into_iter().collect()
}

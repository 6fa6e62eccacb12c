//! The priorities that frames are sent with, and those that switches and pauses take them for.
//!
//! A frame keeps the priority that its host gave it, and every switch classifies it anew. A pause
//! speaks of the priority of the switch that asks for it, and stops at the other end the egress queue
//! of that number (a host: the frames that it sends with it).

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;

use crate::Plan;

/// Whether pauses that are asked for because of these priorities (bit p) stop, at a port of a node, frames that
/// were sent with the marking `sent`.
pub(super) fn stops(
    plan: &Plan,
    (node, port): (NodeId, u16),
    adjacency: &Adjacency,
    reasons: u8,
    sent: u8,
) -> bool {
    let control = plan.flow_control_at(node, port, adjacency);
    let paused = numbers(reasons).fold(0, |mask, reason| mask | control.held_by(reason));
    if !plan.topology.is_switch(node) {
        return paused & 1 << plan.markings.of(sent).priority != 0;
    }
    let queue_of = |priority: u8| plan.queue_of(node, port, priority);
    let waits_in = queue_of(plan.priorities_in(node)[usize::from(sent)]);
    numbers(paused).any(|priority| queue_of(priority) == waits_in)
}

/// The priorities of a mask, ascending.
pub(super) fn numbers(mask: u8) -> impl Iterator<Item = u8> {
    (0..8).filter(move |priority| mask & 1 << priority != 0)
}

/// The mask of some priorities.
pub(super) fn mask(priorities: &[u8]) -> u8 {
    priorities.iter().fold(0, |mask, priority| mask | 1 << (priority & 7))
}

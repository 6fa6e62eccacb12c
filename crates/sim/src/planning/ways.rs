//! Ways through a network of what is of no workload, for checks that ask about flows.

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use crate::plan::FlowPlan;
use crate::scenario::{Transport, Verb};

/// A flow of one byte that stands for the way of a ping or of a stream, from its source to its destination, which begins at
/// `start` with this priority.
pub(super) fn way(
    (source, destination): (NodeId, NodeId),
    start: SimTime,
    priority: u8,
) -> FlowPlan {
    FlowPlan {
        source,
        destination,
        start,
        bytes: 1,
        message_bytes: 1,
        transport: Transport::Tcp, // It has no queue pair of a workload.
        verb: Verb::Send,
        priority,
        source_qpn: 0,
        destination_qpn: 0,
        source_psn: 0,
        destination_psn: 0,
        entropy: 0,
        queue_pairs: 0,
        marking: 0,
    }
}

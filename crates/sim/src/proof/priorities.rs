//! The priorities that frames are sent with, and those that switches and pauses take them for.
//!
//! A frame keeps the priority that its host gave it, and every switch classifies it anew. A pause
//! speaks of the priority of the switch that asks for it, and stops at the other end the egress queue
//! of that number (a host: the frames that it sends with it).

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_transport::congestion_control::Feedback;
use rocelab_units::Bandwidth;

use crate::Plan;

/// The priorities (bit p) of the frames of a plan's flows, connections, management and streams.
#[derive(Clone, Debug, Default)]
pub(super) struct SentPriorities {
    at_host: BTreeMap<NodeId, u8>,
    all: u8,
}

impl SentPriorities {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut sent = Self::default();
        for flow in &plan.flows {
            sent.add([flow.source, flow.destination], flow.priority, flow.queue_pairs, plan);
        }
        for connection in &plan.connections {
            let ends = connection.ends.map(|end| end.host);
            sent.add(ends, connection.priority, connection.queue_pairs, plan);
        }
        for stream in &plan.streams.all {
            let ends = [stream.source, stream.destination];
            sent.add_mask(ends, 1 << stream.config.stream().priority);
        }
        sent
    }

    /// What two hosts send to each other: data, what answers it, and messages about congestion.
    fn add(&mut self, ends: [NodeId; 2], priority: u8, queue_pairs: u32, plan: &Plan) {
        let profile = &plan.queue_pairs[queue_pairs as usize];
        let mut mask = 1 << priority;
        // What kind it is does not depend on the line rate.
        let feedback = profile.congestion_control.feedback(Bandwidth::default());
        if matches!(feedback, Feedback::Cnp { .. }) || plan.switches_notify() {
            mask |= 1 << profile.cnp_priority;
        }
        if profile.congestion_control.needs_qcn() {
            mask |= notifications(plan);
        }
        if let Some(management) = &plan.roce.connection_manager {
            mask |= 1 << management.priority;
        }
        self.add_mask(ends, mask);
    }

    /// What two hosts send to each other is of these priorities (bit p).
    fn add_mask(&mut self, ends: [NodeId; 2], mask: u8) {
        self.all |= mask;
        for end in ends {
            *self.at_host.entry(end).or_default() |= mask;
        }
    }

    /// Those of what a host sends and receives, or of what may pass a switch.
    pub(super) fn at(&self, plan: &Plan, node: NodeId) -> u8 {
        if plan.topology.is_switch(node) {
            return self.all;
        }
        self.at_host.get(&node).copied().unwrap_or(0)
    }
}

/// Those of the messages of all congestion points.
fn notifications(plan: &Plan) -> u8 {
    let adjacency = plan.topology.adjacency();
    let of_switch = |switch: NodeId| {
        let ports = (0u16..).zip(adjacency.ports_of(switch));
        ports.fold(0, |mask, (port, _)| mask | 1 << plan.cnm_priority(switch, port))
    };
    plan.topology.switches().fold(0, |mask, switch| mask | of_switch(switch))
}

/// Whether pauses that are asked for because of these priorities (bit p) stop, at a port of a node, frames that
/// were sent with the priority `sent`.
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
        return paused & 1 << sent != 0;
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

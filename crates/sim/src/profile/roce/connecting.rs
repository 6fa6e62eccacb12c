//! What a host does as its connections are made and go.

use rocelab_fabric::NodeId;
use rocelab_transport::cm::ConnectionParameters;
use rocelab_transport::{CompletionStatus, Content, Packet as RdmaPacket, QueuePairState};
use rocelab_units::SimTime;

use super::VerbsHost;
use super::connections::Change;
use super::host::ConnectionEnds;
use crate::Plan;
use crate::network::FlowEnd;

impl VerbsHost {
    /// A management datagram arrived.
    #[cold]
    pub(super) fn receive_datagram(
        &mut self,
        plan: &Plan,
        now: SimTime,
        source: NodeId,
        content: Option<Content>,
    ) {
        let (Some(connections), Some(mad)) = (&mut self.connections, content) else { return };
        connections.receive(plan, now, source, mad.payload());
        self.follow_connections(plan, now);
    }

    /// A packet for a queue pair arrived: a request may be the first sign that a connection is
    /// there.
    pub(super) fn note_data(&mut self, plan: &Plan, now: SimTime, packet: &RdmaPacket) {
        if let Some(connections) = &mut self.connections
            && packet.opcode().is_request()
        {
            connections.on_data(plan, now, packet.dest_qp());
            self.follow_connections(plan, now);
        }
    }

    /// A timer of the connection manager may be due.
    pub(super) fn connections_timeout(&mut self, plan: &Plan, now: SimTime) {
        if let Some(connections) = &mut self.connections {
            connections.handle_timeout(plan, now);
            self.follow_connections(plan, now);
        }
    }

    /// Does what follows from what happened to connections.
    pub(super) fn follow_connections(&mut self, plan: &Plan, now: SimTime) {
        while let Some(change) =
            self.connections.as_mut().and_then(|connections| connections.poll_change())
        {
            match change {
                Change::Established(flow, parameters) => {
                    self.create_queue_pair(plan, flow, agreed(&parameters));
                    self.post_messages(plan, now, flow);
                }
                Change::Accepted(flow, parameters) => {
                    self.create_queue_pair(plan, flow, agreed(&parameters));
                }
                Change::Failed(flow, failure) => self.unconnected.push_back(FlowEnd {
                    flow,
                    status: CompletionStatus::Flushed,
                    finished: now,
                    retransmitted_packets: 0,
                    connection: Some(failure),
                }),
                Change::Over(flow) => self.close(plan, now, flow),
            }
        }
    }

    /// The connection is over: the queue pair takes nothing more.
    fn close(&mut self, plan: &Plan, now: SimTime, flow: u32) {
        let described = &plan.flows[flow as usize];
        let is_source = described.source == self.node;
        let qpn = if is_source { described.source_qpn } else { described.destination_qpn };
        // One that has failed is there already.
        let _ = self.nic.modify_queue_pair(now, qpn, QueuePairState::Error);
    }
}

/// What both sides know of each other when the handshake is over.
const fn agreed(parameters: &ConnectionParameters) -> ConnectionEnds {
    ConnectionEnds {
        qpn: parameters.local_qpn,
        dest_qp: parameters.remote_qpn,
        initial_psn: parameters.send_psn,
        remote_initial_psn: parameters.receive_psn,
    }
}

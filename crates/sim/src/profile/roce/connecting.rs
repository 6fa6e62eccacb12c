//! What a host does beyond flows over reliable connections that are just there: connections that are
//! made and go, bytes that are real, messages that may be lost.

use rocelab_fabric::NodeId;
use rocelab_transport::cm::ConnectionParameters;
use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{CompletionStatus, Content, Packet as RdmaPacket, QueuePairState};
use rocelab_units::SimTime;

use super::connections::Change;
use super::host::{ConnectionEnds, is_of};
use super::{GSI_QPN, VerbsHost};
use crate::Plan;
use crate::profile::Delivery;
use crate::record::FlowEnd;

/// A host in a run where there is more to do.
#[derive(Debug)]
pub(super) struct Connecting<'a>(pub(super) &'a mut VerbsHost);

impl Connecting<'_> {
    /// A packet arrived, in a run where that is not all.
    #[cold]
    pub(super) fn receive_specially(
        &mut self,
        plan: &Plan,
        now: SimTime,
        arrival: &Delivery<RdmaPacket>,
        telemetry: Telemetry<'_>,
        content: Option<Content>,
    ) {
        let Delivery { packet, source, .. } = arrival;
        if packet.dest_qp() == GSI_QPN {
            return self.receive_datagram(plan, now, *source, content);
        }
        if is_of(self.0.monitor.as_deref(), packet.dest_qp()) {
            return self.0.nic.receive_probe(now, packet, *source);
        }
        if self.0.connections.is_some() {
            self.note_data(plan, now, packet);
        } else if !self.0.nic.has_queue_pair(packet.dest_qp()) {
            self.0.create_responder(plan, packet.dest_qp());
        }
        let delivered = self.0.nic.counters().messages_delivered;
        self.0.nic.receive_from(now, packet, telemetry, *source, content);
        if self.0.is_unreliable && self.0.nic.counters().messages_delivered > delivered {
            self.note_delivered(now, packet.dest_qp(), packet.psn());
        }
    }

    /// The next flow that has ended, in such a run.
    #[cold]
    pub(super) fn poll_end_specially(&mut self, plan: &Plan, now: SimTime) -> Option<FlowEnd> {
        if self.0.integrity.is_some() || self.0.monitor.is_some() {
            self.take_received(plan, now);
        }
        while let Some(completion) = self.0.nic.in_host().poll_completion(now) {
            if self.0.is_unreliable || is_of(self.0.monitor.as_deref(), completion.qpn) {
                continue; // It says that the last packet was sent, and no more.
            }
            if let Some(end) = self.0.complete(now, &completion) {
                self.disconnect(plan, now, end.flow);
                return Some(end);
            }
        }
        self.0.ends.pop_due(now)
    }

    /// What has been received by now: pings, and what integrity mode looks at.
    fn take_received(&mut self, plan: &Plan, now: SimTime) {
        let VerbsHost { nic, monitor, integrity, .. } = &mut *self.0;
        while let Some(completion) = nic.in_host().poll_receive_completion(now) {
            match (&mut *monitor, &mut *integrity) {
                (Some(monitor), _) if monitor.has(completion.qpn) => {
                    monitor.on_receive(plan, now, nic, &completion);
                }
                (_, Some(integrity)) => integrity.note_received(&completion),
                _ => {}
            }
        }
    }

    /// A message arrived on an unreliable service: the last one ends its flow.
    fn note_delivered(&mut self, now: SimTime, qpn: u32, psn: u32) {
        if !self.0.delivered.insert((qpn, psn)) {
            return; // It was duplicated on its way.
        }
        let state = self.0.state(qpn);
        if state.messages_left == 0 {
            return;
        }
        state.messages_left -= 1;
        if state.messages_left == 0 {
            let flow = state.flow;
            let found = self.0.nic.host_mut().map_or(now, |host| host.found_at(now, qpn));
            self.0.ends.push(
                found,
                FlowEnd {
                    flow,
                    status: CompletionStatus::Success,
                    finished: found,
                    retransmitted_packets: 0,
                    failure: None,
                },
            );
        }
    }

    /// A management datagram arrived.
    fn receive_datagram(
        &mut self,
        plan: &Plan,
        now: SimTime,
        source: NodeId,
        content: Option<Content>,
    ) {
        let (Some(connections), Some(mad)) = (&mut self.0.connections, content) else { return };
        connections.receive(plan, now, source, mad.payload());
        self.follow_connections(plan, now);
    }

    /// A packet for a queue pair arrived: a request may be the first sign that a connection is
    /// there.
    fn note_data(&mut self, plan: &Plan, now: SimTime, packet: &RdmaPacket) {
        if let Some(connections) = &mut self.0.connections
            && packet.opcode().is_request()
        {
            connections.on_data(plan, now, packet.dest_qp());
            self.follow_connections(plan, now);
        }
    }

    /// A timer of the connection manager may be due.
    pub(super) fn connections_timeout(&mut self, plan: &Plan, now: SimTime) {
        if let Some(connections) = &mut self.0.connections {
            connections.handle_timeout(plan, now);
            self.follow_connections(plan, now);
        }
    }

    /// The connection of a flow that is over is taken down.
    pub(super) fn disconnect(&mut self, plan: &Plan, now: SimTime, flow: u32) {
        if let Some(connections) = &mut self.0.connections {
            connections.disconnect(now, flow);
            self.follow_connections(plan, now);
        }
    }

    /// Does what follows from what happened to connections, and sends what their manager has to say.
    pub(super) fn follow_connections(&mut self, plan: &Plan, now: SimTime) {
        while let Some(change) =
            self.0.connections.as_mut().and_then(|connections| connections.poll_change())
        {
            match change {
                Change::Established(flow, parameters) => {
                    self.0.create_queue_pair(plan, flow, agreed(&parameters));
                    self.0.post_messages(plan, now, flow);
                }
                Change::Accepted(flow, parameters) => {
                    self.0.create_queue_pair(plan, flow, agreed(&parameters));
                }
                Change::Failed(flow, failure) => self.0.ends.push(
                    now,
                    FlowEnd {
                        flow,
                        status: CompletionStatus::Flushed,
                        finished: now,
                        retransmitted_packets: 0,
                        failure: Some(failure),
                    },
                ),
                Change::Over(flow) => self.close(plan, now, flow),
                Change::AnsweredLate => self.0.nic.note_late_connection(),
            }
        }
        let Some(connections) = &mut self.0.connections else { return };
        while let Some((datagram, content)) = connections.poll_transmit(plan) {
            self.0.nic.send_datagram(datagram, content);
        }
    }

    /// The connection is over: the queue pair takes nothing more.
    fn close(&mut self, plan: &Plan, now: SimTime, flow: u32) {
        let described = &plan.flows[flow as usize];
        let is_source = described.source == self.0.node;
        let qpn = if is_source { described.source_qpn } else { described.destination_qpn };
        // One that has failed is there already.
        let _ = self.0.nic.modify_queue_pair(now, qpn, QueuePairState::Error);
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

//! A frame out of a host and into one; flows from their start to their end.

use rocelab_engine::{EventKey, TieOrder, mix};
use rocelab_fabric::PacketId;
use rocelab_transport::CompletionStatus;

use super::core::Network;
use super::course::Course;
use super::event::Event;
use super::next_frames::held_at;
use super::node::Role;
use super::other_frames::OtherFrames;
use super::packet::{Body, Packet};
use super::pauses::PortPauses;
use crate::profile::{
    Context, Delivery, EndHost, FlowStarts, HostPacket, Inspect, OtherStacks, Profile,
};
use crate::record::{DropCause, HostEnd, Record, RecordKind};

/// The host and what it is given with a call: parts of the network that do not overlap.
macro_rules! with_host {
    ($network:expr, $host:expr, $now:expr) => {{
        let host = &mut $network.hosts[$host as usize];
        let node = &mut $network.nodes[host.node as usize].order;
        let context = Context {
            now: $now,
            plan: &$network.plan,
            shared: &mut $network.shared,
            order: &mut $network.order,
            node,
        };
        (host, context)
    }};
}

mod nvlink;
mod stack_frames;

impl<P: Profile> Network<P> {
    /// Delivers a frame to a host and acts on what follows.
    #[inline(always)] // Into `deliver`, which see.
    pub(super) fn host_receive(&mut self, key: EventKey, host: u32, id: PacketId) {
        let packet = *self.pool.get(id);
        let (state, mut context) = with_host!(self, host, key);
        let Body::Rdma(body) = packet.body else { return };
        if packet.destination != state.node {
            let port = state.port;
            return self.drop_frame(key, port, None, id, DropCause::ForeignDestination);
        }
        if let Some(notes) = &self.side.notes
            && notes.of(id).corrupted.is_some()
        {
            let port = state.port;
            return self.drop_frame(key, port, None, id, DropCause::Icrc);
        }
        self.pool.remove(id);
        self.course.totals.frames_delivered += 1;
        self.course.totals.packets_delivered += 1;
        let what = body.fingerprint();
        state.digest = mix(state.digest ^ key.time.ps() ^ what.rotate_left(17));
        let delivery =
            Delivery { packet: body, source: packet.source, flow_hash: packet.flow_hash };
        let watched = &mut self.features.sampling.watched;
        if !watched.is_empty() {
            let of = (body.as_rdma(), state.end_host.flow_in(&body));
            watched.note_arrival(key.time, state.node, of, state.end_host.counters());
        }
        let accepted = state.end_host.counters().payload_accepted;
        let sends = if body.has_company() {
            let telemetry = self.side.telemetry.as_ref();
            let telemetry = telemetry.and_then(|all| all.of(id, body.telemetry()));
            let content = if body.has_content() { self.side.contents.take(id) } else { None };
            state.end_host.receive_with(&mut context, &delivery, telemetry, content)
        } else {
            state.end_host.receive(&mut context, &delivery, None)
        };
        let watched = &mut self.features.sampling.watched;
        if !watched.is_empty() {
            watched.note_received(state.end_host.counters());
        }
        let accepted = state.end_host.counters().payload_accepted - accepted;
        if accepted > 0 {
            let (of, sampling) = (&state.end_host, &mut self.features.sampling);
            self.course.deliveries.note::<P>(key.time, of, (&body, accepted), &self.plan, sampling);
        }
        self.after_host(key, host, sends);
    }

    /// Sends what a host has next; its port is free.
    #[inline]
    pub(super) fn pump_host(&mut self, key: EventKey, host: u32) {
        let port = self.hosts[host as usize].port;
        if self.ports[port as usize].port.is_counted() {
            return PortPauses(self).pump_adapter(key, host);
        }
        let paused = self.ports[port as usize].port.blocked();
        if self.hosts[host as usize].end_host.is_their_turn(key.time, paused) {
            return OtherFrames(self).pump_stack(key, host);
        }
        if let Some((id, _, more)) = self.take_departing(key, host, paused) {
            self.transmit(key, port, id);
            if more {
                self.arm_free(port);
            }
        }
        self.arm_host_timeout(key, host);
    }

    /// Takes the next frame of a host, of which the priorities `paused` (bit p) must not leave: with its priority, and whether
    /// more may follow.
    #[inline(always)] // It is the body of `pump_host`.
    pub(super) fn take_departing(
        &mut self,
        key: EventKey,
        host: u32,
        paused: u8,
    ) -> Option<(PacketId, u8, bool)> {
        let (state, mut context) = with_host!(self, host, key);
        let departing = state.end_host.poll_transmit(&mut context, paused)?;
        let more = state.end_host.is_ready(paused);
        let body = departing.packet;
        if let Some(rdma) = body.as_rdma() {
            self.course.opcodes[usize::from(rdma.opcode() as u8)] += 1;
        }
        let watched = &mut self.features.sampling.watched;
        if !watched.is_empty() {
            let ends = (state.node, departing.destination);
            let of = (body.as_rdma(), state.end_host.flow_in(&body));
            if let Some(flow) = watched.note_departure(key.time, ends, of) {
                let progress = state.end_host.progress(flow, &self.plan.flows[flow as usize]);
                let bytes = progress.map(|progress| progress.in_flight);
                watched.note_in_flight(state.node, flow, bytes);
            }
        }
        let mut packet =
            Packet::new(state.node, departing.destination, departing.frame_len, Body::Rdma(body));
        packet.flow_hash = departing.flow_hash;
        let known = (&*self.plan, &*self.layout.adjacency);
        packet.path = self.layout.paths.of(host, packet.ends(), &*self.routing, known);
        self.course.totals.frames_created += 1;
        let id = self.pool.insert(packet);
        if let Some(notes) = &mut self.side.notes {
            notes.start(host, id);
        }
        if body.has_company() {
            self.side.start::<P>(&mut self.hosts[host as usize].end_host, id, &body);
        }
        Some((id, body.priority(), more))
    }

    /// A timer or pacing gap of a host is over.
    pub(super) fn host_timeout(&mut self, key: EventKey, host: u32) {
        let (state, mut context) = with_host!(self, host, key);
        let sends = state.end_host.handle_timeout(&mut context);
        let sampling = &mut self.features.sampling;
        self.course.deliveries.note_frames::<P>(key.time, &mut state.end_host, sampling);
        self.after_host(key, host, sends);
    }

    /// Starts the flows of a ticket.
    pub(super) fn flow_start(&mut self, key: EventKey, ticket: u32) {
        let Self { course: Course { starts, .. }, order, nodes, plan, queue, .. } = self;
        let range = starts.on_event(plan, key.time, ticket, |node, time, ticket| {
            let tie = order.reserve(&mut nodes[node as usize].order);
            queue.push(EventKey { time, tie }, Event::FlowStart { ticket });
        });
        let flows = &self.course.starts.in_order()[range];
        let Some(&first) = flows.first() else { return };
        let source = self.plan.flows[first as usize].source;
        let Role::Host(host) = self.nodes[source as usize].role else { return };
        self.course.flows.started += flows.len() as u64;
        let (state, mut context) = with_host!(self, host, key);
        state.end_host.start(&mut context, flows);
        self.after_host(key, host, true);
    }

    /// What follows every call of a host: flows that ended, the next frame if it `sends`, the next
    /// wake-up.
    #[inline]
    fn after_host(&mut self, key: EventKey, host: u32, sends: bool) {
        self.note_ends(key, host);
        if sends {
            let state = &self.hosts[host as usize];
            let port = &self.ports[state.port as usize];
            if port.is_free(key) {
                self.pump(key, state.port);
            } else if state.end_host.is_ready(held_at::<P>(&port.port, &self.plan)) {
                self.arm_free(state.port);
            }
        }
        self.arm_host_timeout(key, host);
    }

    /// Arms the host's next wake-up.
    #[inline]
    pub(super) fn arm_host_timeout(&mut self, key: EventKey, host: u32) {
        let (state, mut context) = with_host!(self, host, key);
        let free_at = self.ports[state.port as usize].port.free_at();
        if let Some(due) = state.end_host.wake_up(&mut context, free_at) {
            self.queue.push(due, Event::NicTimeout { host });
        }
    }

    #[inline]
    fn note_ends(&mut self, key: EventKey, host: u32) {
        if self.hosts[host as usize].end_host.may_have_ended() {
            self.note_each_end(key, host);
        }
    }

    fn note_each_end(&mut self, key: EventKey, host: u32) {
        loop {
            let (state, mut context) = with_host!(self, host, key);
            let Some(ended) = state.end_host.poll_end(&mut context) else { return };
            let node = state.node;
            let end = match ended {
                HostEnd::Flow(end) => end,
                HostEnd::Acknowledged(end) => {
                    self.features.sampling.note_end(node, end.flow);
                    let kind = RecordKind::FlowAcknowledged(end);
                    self.course.records.keep(node, Record { key, kind });
                    continue;
                }
                HostEnd::Closed => {
                    self.course.operations.close();
                    continue;
                }
                HostEnd::Transfer(departure) => {
                    OtherFrames(self).leave_by_nvlink(node, departure);
                    continue;
                }
                HostEnd::Operation(end) => {
                    self.course.flows.last_end = self.course.flows.last_end.max(key.time);
                    self.course.operations.count(&end);
                    self.course
                        .records
                        .keep(node, Record { key, kind: RecordKind::OperationEnd(end) });
                    continue;
                }
            };
            self.course.flows.last_end = self.course.flows.last_end.max(key.time);
            if let Some(ends) = &mut self.course.flow_ends {
                ends.note(end.flow, end.status);
            }
            if end.status == CompletionStatus::Success {
                self.course.flows.completed += 1;
            } else {
                self.course.flows.failed += 1;
                let flow = &self.plan.flows[end.flow as usize];
                if flow.is_tcp() {
                    // TCP gives up on nothing that it has begun.
                    self.course.flows.unopened_bytes += flow.bytes;
                }
            }
            if self.plan.flows[end.flow as usize].source == node {
                self.features.sampling.note_end(node, end.flow);
            }
            self.course.records.keep(node, Record { key, kind: RecordKind::FlowEnd(end) });
        }
    }
}

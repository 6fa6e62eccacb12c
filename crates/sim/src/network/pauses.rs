//! Pauses: what ports ask for, and what they obey. A switch asks the sender behind one of its ports to pause, and notes
//! because of which queue.

use std::cmp::Reverse;

use rocelab_engine::EventKey;
use rocelab_fabric::{BufferPolicy, ControlFrame, FlowControl, NodeId, PacketId};
use rocelab_units::{Duration, SimTime};

use super::core::Network;
use super::next_frames::has_more;
use super::node::Role;
use super::packet::{Body, Packet};
use super::port::NetworkPort;
use crate::profile::{Profile, Shared};
use crate::record::{PauseChange, PauseEvent, PauseRequest, PauseWithdrawal, Record, RecordKind};

/// A network in which ports ask for pauses, and obey them.
#[derive(Debug)]
pub(super) struct PortPauses<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> PortPauses<'_, P> {
    /// Makes the sender behind a switch's ingress port pause. The frame that crossed the threshold is
    /// to leave by port number `crossing`.
    #[cold]
    #[inline(never)] // What it looks through is no part of a frame's way.
    pub(super) fn pause_sender(
        &mut self,
        key: EventKey,
        receiving: u32,
        crossing: u16,
        priority: u8,
    ) {
        let egress = self.fullest_egress(receiving, priority, Some(crossing));
        self.note_request(key, receiving, priority, egress);
        self.0.shared.on_flow_control();
        self.0.ports[receiving as usize].port.request_pause(priority);
        self.0.pump(key, receiving);
    }

    /// A port asks for pauses (bit p) again, which have ended because its link was down: notes because
    /// of which queues a switch does so now. Where nothing waits any more, what was noted first stays;
    /// and hosts always have the same reason.
    #[cold]
    pub(super) fn note_repeated_pauses(&mut self, key: EventKey, receiving: u32, repeated: u8) {
        for priority in (0..8).filter(|priority| repeated & 1 << priority != 0) {
            let egress = self.fullest_egress(receiving, priority, None);
            if egress.is_some() {
                self.note_request(key, receiving, priority, egress);
            }
        }
    }

    /// Notes that a switch's port asks for a pause because of what waits for `egress`.
    fn note_request(&mut self, key: EventKey, receiving: u32, priority: u8, egress: Option<u16>) {
        let NetworkPort { node, number: port, .. } = self.0.ports[receiving as usize];
        let first = self.0.nodes[node as usize].first_port;
        let pauses_of = |egress: u16| {
            let out = first + u32::from(egress);
            self.0.ports[out as usize].port.pauses_of(priority)
        };
        let egress_paused = egress.map_or(0, pauses_of);
        let holds = self.0.ports[receiving as usize].port.held_by(priority);
        let request = PauseRequest { node, port, priority, holds, egress, egress_paused };
        self.0.course.records.keep(node, Record { key, kind: RecordKind::PauseRequest(request) });
    }

    /// Notes that a priority is no reason any more for a port to ask for a pause, if others may be a reason for the
    /// same pause: it goes on because of them.
    pub(super) fn note_withdrawal(&mut self, key: EventKey, asking: u32, priority: u8) {
        let NetworkPort { node, number: port, .. } = self.0.ports[asking as usize];
        let holds = self.0.ports[asking as usize].port.held_by(priority);
        if holds != 1 << priority {
            let withdrawal = PauseWithdrawal { node, port, priority, holds };
            let kind = RecordKind::PauseWithdrawal(withdrawal);
            self.0.course.records.keep_sample(Record { key, kind });
        }
    }

    /// The number of the egress port that most of the memory waits for which frames hold that came in
    /// by a port in a priority: they are why its threshold was crossed, whatever the frame did. Of
    /// equals a paused one, then the lowest. If they hold nothing (as their share of a full memory may
    /// be nothing), and where this is no switch, `crossing`.
    fn fullest_egress(
        &mut self,
        receiving: u32,
        priority: u8,
        crossing: Option<u16>,
    ) -> Option<u16> {
        let NetworkPort { node, number: ingress, .. } = self.0.ports[receiving as usize];
        let Role::Switch(switch) = self.0.nodes[node as usize].role else { return crossing };
        let buffer = &self.0.switches[switch as usize].buffer;
        if buffer.held(ingress, priority) == 0 {
            return crossing;
        }
        if let Some(held) = buffer.held_by_egress(ingress, priority) {
            return self.fullest_of(node, priority, held).or(crossing);
        }
        // Frames are looked at once; who has paused is likely to pause again.
        let held = self.count_by_egress((node, switch), ingress, priority);
        let fullest = self.fullest_of(node, priority, &held).or(crossing);
        self.0.switches[switch as usize].buffer.follow(ingress, priority, held);
        fullest
    }

    /// The egress port of a switch that most is held for; none if nothing is.
    fn fullest_of(&self, node: NodeId, priority: u8, held: &[u32]) -> Option<u16> {
        let first = self.0.nodes[node as usize].first_port;
        let held = (0u16..).zip(held).filter(|&(_, &held)| held > 0);
        let fullest = held.max_by_key(|&(number, held)| {
            let port = &self.0.ports[(first + u32::from(number)) as usize].port;
            (held, port.pauses_of(priority) != 0, Reverse(number))
        });
        fullest.map(|(number, _)| number)
    }

    /// Bytes of memory of frames that came in by an ingress port of a switch in a priority, by the
    /// port that they wait at.
    fn count_by_egress(
        &self,
        (node, switch): (NodeId, u32),
        ingress: u16,
        priority: u8,
    ) -> Box<[u32]> {
        let first = self.0.nodes[node as usize].first_port as usize;
        let of_switch = self.0.ports[first..].iter().take_while(|port| port.node == node);
        let state = &self.0.switches[switch as usize];
        let held_at = |port: &NetworkPort<P>| {
            let all = port.port.waiting_in(port.port.queue_of(priority), &self.0.pool);
            let held = all.map(|id| self.0.pool.get(id)).filter(|packet| {
                let class = packet.body.marking().map(|one| state.priorities.of(one));
                packet.switch_port == ingress && class == Some(priority)
            });
            held.map(|packet| state.buffer.memory_of(packet.frame_len.into())).sum()
        };
        of_switch.map(held_at).collect()
    }

    /// The memory is free again of a frame of `len` bytes of a priority that came in by port `receiving`. Costs nothing
    /// where flow control does not count frames.
    #[cold]
    pub(super) fn note_freed(&mut self, key: EventKey, receiving: u32, (priority, len): (u8, u32)) {
        let counted = self.0.ports[receiving as usize].port.counted();
        if counted.is_some_and(|mut port| port.note_freed(priority, len)) {
            self.0.pump(key, receiving);
        }
    }

    /// Pauses expire, or are asked for again.
    pub(super) fn port_timeout(&mut self, key: EventKey, port: u32) {
        let state = &mut self.0.ports[port as usize];
        if state.rare.timeout_armed != key.time {
            return; // An earlier one was armed since; it has served this one's purpose.
        }
        state.rare.timeout_armed = SimTime::NEVER;
        while let Some(frame) = self.0.ports[port as usize].port.take_response(key.time) {
            self.obey_control(key, port, &frame);
        }
        let state = &mut self.0.ports[port as usize];
        let since = [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|priority| state.port.flow_control().paused_since(priority));
        state.port.handle_timeout(key.time);
        for (priority, since) in (0u8..).zip(since) {
            let Some(since) = since else { continue };
            if state.port.flow_control().paused_since(priority).is_none() {
                let event = PauseEvent::Expire(key.time.since(since));
                let (node, port) = (state.node, state.number);
                let change = PauseChange { node, port, priority, quanta: 0, event };
                self.0.course.records.keep(node, Record { key, kind: RecordKind::Pause(change) });
            }
        }
        self.0.pump(key, port);
        self.0.arm_port_timeout(port);
    }

    pub(super) fn transmit_control(&mut self, key: EventKey, port: u32, frame: ControlFrame) {
        let state = &self.0.ports[port as usize];
        if matches!(state.role, Role::Elsewhere(_)) {
            return; // What the far port of a link that is cut sends is the other part's to say.
        }
        let peer = self.0.ports[state.far.port as usize].node;
        let len = P::FlowControl::frame_len(&frame);
        let packet = Packet::new(state.node, peer, len, Body::Control(frame));
        let id = self.0.pool.insert(packet);
        if let Some(notes) = &mut self.0.side.notes {
            notes.forget(id);
        }
        self.0.course.totals.frames_created += 1;
        self.0.transmit(key, port, id);
        self.0.arm_port_timeout(port);
        if has_more(self.0, port) {
            self.0.arm_free(port);
        }
    }

    pub(super) fn receive_control(
        &mut self,
        key: EventKey,
        receiving: u32,
        id: PacketId,
        frame: &ControlFrame,
    ) {
        self.0.pool.remove(id);
        self.0.course.totals.frames_delivered += 1;
        if self.0.ports[receiving as usize].port.defer_control(key.time, frame) {
            return self.0.arm_port_timeout(receiving);
        }
        self.obey_control(key, receiving, frame);
    }

    /// A control frame takes effect.
    pub(super) fn obey_control(&mut self, key: EventKey, receiving: u32, frame: &ControlFrame) {
        let state = &mut self.0.ports[receiving as usize];
        for priority in 0..8u8 {
            let Some(quanta) = frame.quanta_of(priority) else { continue };
            let since = state.port.flow_control().paused_since(priority);
            let event = match (quanta, since) {
                (0, None) if !P::RECORDS_EVERY_RESUME => continue,
                (0, None) => PauseEvent::Resume(Duration::ZERO),
                (0, Some(since)) => PauseEvent::Resume(key.time.since(since)),
                (_, None) => PauseEvent::Pause,
                (_, Some(_)) => PauseEvent::Refresh,
            };
            match event {
                PauseEvent::Pause => self.0.course.totals.pauses += 1,
                PauseEvent::Resume(_) => self.0.course.totals.resumes += 1,
                PauseEvent::Refresh | PauseEvent::Expire(_) => {}
            }
            let (node, port) = (state.node, state.number);
            let change = PauseChange { node, port, priority, quanta, event };
            self.0.course.records.keep(node, Record { key, kind: RecordKind::Pause(change) });
        }
        state.port.receive_control(key.time, frame);
        self.0.arm_port_timeout(receiving);
        if frame.resumes() != 0 && has_more(self.0, receiving) {
            self.0.pump(key, receiving);
        }
    }
}

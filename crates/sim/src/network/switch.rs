//! A frame through a switch.

use rocelab_engine::EventKey;
use rocelab_fabric::{
    Admission, Arrival, BufferPolicy, Departure, FlowControl, LeavingFrame, PacketId, Port,
    Serialisation, StartingPacket,
};

use super::core::Network;
use super::course::Course;
use super::node::Role;
use super::other_frames::{Kind, OtherFrames, Packets};
use super::own_frames::Emitting;
use super::packet::{Body, PacketOf, PacketPool};
use super::pauses::PortPauses;
use crate::profile::{HostPacket, Joining, Marking, Profile, Shared};
use crate::record::{DropCause, TrafficKind};

/// What the marks of a port with credits go by, as a packet of `len` bytes that came in by port `input` has been taken to start.
#[cold]
fn starting<L: Serialisation, F: FlowControl>(
    port: &mut Port<L, F>,
    (lane, input): (u8, u16),
    len: u32,
) -> StartingPacket {
    let lacks_credits = port.flow_control().is_short_of_credits(lane, len);
    let behind = port.counted().map_or(0, |port| port.queued_from(lane, input));
    StartingPacket { len, input, waiting: behind + len, lacks_credits }
}

impl<P: Profile> Network<P> {
    /// A packet that was decided about as it was sent reaches a switch.
    ///
    /// Most find the port idle by which they go on, and start at once: they come and go without the switch's memory
    /// having to be told.
    #[inline(always)] // Into where events are told apart.
    pub(super) fn forward(&mut self, key: EventKey, (ingress, egress): (u16, u32), id: PacketId) {
        let Self {
            ports,
            nodes,
            pool,
            order,
            course: Course { totals, .. },
            routing,
            switches,
            queue,
            ..
        } = self;
        let packet = pool.get_mut(id);
        packet.end_on_link();
        let out = &mut ports[egress as usize];
        if let (Role::Switch(switch), Body::Rdma(body)) = (out.role, &packet.body)
            && out.sends_plainly()
            && out.is_free(key)
        {
            let state = &switches[switch as usize];
            let priority = state.priorities.of(body.marking());
            let len = u32::from(packet.frame_len);
            let arrival = Arrival { ingress, egress: out.number, priority, len, egress_queue: 0 };
            if len <= out.marks_above
                && out.port.is_idle_for(key.time, priority, len)
                && state.buffer.passes(arrival)
            {
                out.port.note_passed(priority);
                *totals.traversals.of_mut(body.kind()) += 1;
                let ties = (order, &mut nodes[out.node as usize].order);
                // Where flow control counts frames, no port sends plainly.
                return out.start(key, (egress, id), packet, ties, routing, queue);
            }
        }
        self.switch_receive::<Packets>(key, (ingress, egress), id);
    }

    /// Classifies, stores, marks and queues a frame that has arrived at a switch by its port number `ingress`, and
    /// goes on by port `egress` of all.
    #[inline(never)] // The case that is not the common one of `forward`.
    pub(super) fn switch_receive<K: Kind<P>>(
        &mut self,
        key: EventKey,
        (ingress, egress): (u16, u32),
        id: PacketId,
    ) {
        let packet = self.pool.get_mut(id);
        let Some(body) = K::packet_in(&mut packet.body) else {
            debug_assert!(false, "it was asked, and flow control ends at the port");
            return;
        };
        let mut out = &mut self.ports[egress as usize];
        let Role::Switch(switch) = out.role else {
            debug_assert!(false, "a port of a switch");
            return;
        };
        let state = &mut self.switches[switch as usize];
        let priority = state.priorities.of(body.marking());
        let len = u32::from(packet.frame_len);
        let number = out.number;
        let receiving = egress - u32::from(number) + u32::from(ingress);
        let Some(waits_in) = out.port.place_of(priority) else {
            let cause = if out.port.is_up() { DropCause::Watchdog } else { DropCause::LinkDown };
            self.drop_frame(key, receiving, Some(number), id, cause);
            return PortPauses(self).note_freed(key, receiving, (priority, len));
        };
        let egress_queue = out.port.queued(waits_in);
        let arrival = Arrival { ingress, egress: number, priority, len, egress_queue };
        let admission = state.buffer.admit(arrival);
        if let Admission::Dropped(reason) | Admission::DroppedAndPause(reason) = admission {
            self.drop_frame(key, receiving, Some(number), id, DropCause::Buffer(reason));
            if matches!(admission, Admission::DroppedAndPause(_)) {
                PortPauses(self).pause_sender(key, receiving, number, priority);
            }
            return PortPauses(self).note_freed(key, receiving, (priority, len));
        }
        packet.switch_port = ingress;
        let queued = egress_queue + len;
        if queued > out.marks_above
            && let Some(marking) = &mut out.marking
        {
            let markable = body.is_markable();
            let joining = Joining { markable, queue: waits_in, len, queued };
            if marking.on_enqueue(&mut self.shared, joining) {
                if markable {
                    body.mark();
                    out.rare.ecn_marks += 1;
                } else {
                    Emitting(self).notify_congestion(key, switch, egress, id);
                    out = &mut self.ports[egress as usize];
                }
            }
        }
        if matches!(admission, Admission::Stored)
            && out.is_free(key)
            && out.port.is_idle_for(key.time, waits_in, len)
        {
            match out.port.counted() {
                Some(mut port) => port.note_passed(key.time, (waits_in, ingress), len),
                None => out.port.note_passed(waits_in),
            }
            return self.send::<K>(key, switch, egress, id);
        }
        out.rare.max_queue_bytes = out.rare.max_queue_bytes.max(queued);
        match out.port.counted() {
            Some(mut port) => port.enqueue(&mut self.pool, id, (waits_in, ingress), len),
            None => out.port.enqueue(&mut self.pool, id, waits_in, len),
        }
        if matches!(admission, Admission::StoredAndPause) {
            PortPauses(self).pause_sender(key, receiving, number, priority);
        }
        self.pump(key, egress);
    }

    /// Sends the frame that is next at a switch's port, whose transmitter is free.
    #[inline]
    pub(super) fn pump_switch(&mut self, key: EventKey, port: u32, switch: u32) {
        let len_of =
            |pool: &PacketPool<PacketOf<P>>, id: PacketId| u32::from(pool.get(id).frame_len);
        let state = &mut self.ports[port as usize];
        let next = match state.port.counted() {
            Some(mut port) => port.dequeue(key.time, &self.pool, len_of),
            None => state.port.dequeue(&self.pool, len_of),
        };
        let Some((id, _)) = next else {
            if let Some(frame) = state.port.take_last_control_frame(key.time) {
                PortPauses(self).transmit_control(key, port, frame);
            }
            return;
        };
        let more = state.port.has_eligible();
        self.send::<Packets>(key, switch, port, id);
        if more {
            self.arm_free(port);
        }
    }

    /// Sends a frame that was admitted and is in no queue, or no longer: one that need not wait is
    /// spared queue and scheduler.
    #[inline]
    pub(super) fn send<K: Kind<P>>(&mut self, key: EventKey, switch: u32, port: u32, id: PacketId) {
        let Self {
            ports,
            nodes,
            pool,
            order,
            course: Course { totals, .. },
            routing,
            switches,
            shared,
            queue,
            ..
        } = self;
        let packet = pool.get_mut(id);
        let Some(body) = K::packet_in(&mut packet.body) else {
            return OtherFrames(self).send_other(key, switch, port, id);
        };
        let state = &mut switches[switch as usize];
        let (ingress, len) = (packet.switch_port, u32::from(packet.frame_len));
        let priority = state.priorities.of(body.marking());
        let out = &mut ports[port as usize];
        let resume = state.buffer.release(Departure { ingress, egress: out.number, priority, len });
        if out.sends_plainly() & !resume {
            *totals.traversals.of_mut(body.kind()) += 1;
            let ties = (order, &mut nodes[out.node as usize].order);
            return out.start(key, (port, id), packet, ties, routing, queue);
        }
        let is_counted = out.port.is_counted();
        if out.marks_departures
            && let Some(marking) = &mut out.marking
            && if is_counted {
                body.is_markable()
                    && !body.is_marked()
                    && marking.on_start(&starting(&mut out.port, (priority, ingress), len))
            } else {
                marking.on_dequeue(shared, body.is_markable(), || {
                    let queue = out.port.queue_of(priority);
                    (queue, out.port.queued(queue))
                })
            }
        {
            body.mark();
            out.rare.ecn_marks += 1;
        }
        let stamped = body.telemetry().is_some() && body.kind() == TrafficKind::Data;
        if resume {
            self.resume_sender(key, (switch, ingress, priority), port);
        }
        if stamped {
            let Self { ports, pool, shared, side, .. } = self;
            if let Some(telemetry) = &mut side.telemetry {
                let place = (port, &ports[port as usize]);
                telemetry.stamp(key.time, place, (id, pool.get_mut(id)), shared);
                // Among bridges and routers not every switch takes from the hop limit.
                if let Some(notes) = &side.notes
                    && let Some(hops) = notes.counted_hops(id)
                {
                    telemetry.set_hops(id, hops);
                }
            }
        }
        self.transmit(key, port, id);
        if is_counted {
            let frame = LeavingFrame { input: ingress, priority, len };
            PortPauses(self).note_leaving(key, port, frame);
        }
    }

    /// A frame starts at a port that may have shapers.
    #[cold]
    pub(super) fn shape(&mut self, key: EventKey, port: u32, id: PacketId) {
        let state = &mut self.ports[port as usize];
        let packet = self.pool.get(id);
        let (Some(marking), Some(own)) = (packet.body.marking(), packet.body.priority()) else {
            return;
        };
        let priority = match self.nodes[state.node as usize].role {
            Role::Switch(switch) => self.switches[switch as usize].priorities.of(marking),
            Role::Host(_) => own & 7,
            Role::Elsewhere(_) => return,
        };
        let waited_in = state.port.queue_of(priority);
        state.port.note_sent(key.time, waited_in, u32::from(packet.frame_len));
        self.arm_port_timeout(port);
    }

    /// Lets the sender behind a switch's ingress port go on, because of a frame that leaves by the
    /// port `sending` now.
    #[cold]
    pub(super) fn resume_sender(
        &mut self,
        key: EventKey,
        (switch, ingress, priority): (u32, u16, u8),
        sending: u32,
    ) {
        self.shared.on_flow_control();
        let node = self.switches[switch as usize].node;
        let ingress = self.nodes[node as usize].first_port + u32::from(ingress);
        PortPauses(self).note_withdrawal(key, ingress, priority);
        self.ports[ingress as usize].port.request_resume(priority);
        if ingress == sending {
            return self.arm_at_once(key, ingress);
        }
        self.pump(key, ingress);
    }
}

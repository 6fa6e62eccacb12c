//! Frames onto links and off them; pauses and their timers.

use rocelab_engine::{EventKey, TieOrder};
use rocelab_fabric::{PacketId, Serialisation};
use rocelab_units::SimTime;

use super::core::Network;
use super::course::Course;
use super::crossing::Crossing;
use super::event::Event;
use super::failure::Failing;
use super::features::Stage;
use super::multicast::{is_stray, is_to_group};
use super::node::Role;
use super::other_frames::{OtherFrames, Packets};
use super::packet::{ANY, Body, NO_ROUTE};
use super::passed::Passed;
use super::pauses::PortPauses;
use super::port::FarEnd;
use crate::profile::{HostPacket, Profile, Routing, Shared};
use crate::record::{DropCause, FrameDropped, Record, RecordKind};

impl<P: Profile> Network<P> {
    /// Starts what `port` sends next, if its transmitter is free; else sees to it that it is asked
    /// again when it is. To call it once too often is harmless.
    #[inline]
    pub(super) fn pump(&mut self, key: EventKey, port: u32) {
        let state = &mut self.ports[port as usize];
        if !state.is_free(key) {
            return self.arm_free(port);
        }
        if let Some(frame) = state.port.take_control_frame(key.time) {
            return PortPauses(self).transmit_control(key, port, frame);
        }
        match state.role {
            Role::Host(host) => self.pump_host(key, host),
            Role::Switch(switch) => self.pump_switch(key, port, switch),
            Role::Elsewhere(_) => {}
        }
    }

    /// Puts a frame on the link of `port`, whose transmitter is free.
    #[inline(always)] // Where a host sends: it does not pay for a call.
    pub(super) fn transmit(&mut self, key: EventKey, port: u32, id: PacketId) {
        let Self {
            ports, nodes, pool, order, course: Course { totals, .. }, routing, queue, ..
        } = self;
        let state = &mut ports[port as usize];
        let ties = (order, &mut nodes[state.node as usize].order);
        let packet = pool.get_mut(id);
        match packet.body {
            Body::Rdma(ref body) => *totals.traversals.of_mut(body.kind()) += 1,
            ref other => totals.count_other(other),
        }
        if state.sends_plainly() {
            return state.start(key, (port, id), packet, ties, routing, queue);
        }
        let arrival = state.occupy(key, packet.frame_len, ties);
        self.transmit_specially(key, port, id, arrival);
    }

    /// A frame starts at a port where more has to be done than elsewhere.
    #[cold]
    #[inline(never)]
    fn transmit_specially(&mut self, key: EventKey, port: u32, id: PacketId, arrival: EventKey) {
        let state = &self.ports[port as usize];
        let (shapes, captured, far) =
            (state.port.has_extras(), state.rare.captured, state.far.role);
        let is_counted = state.port.is_counted();
        if let Some(telemetry) = &mut self.side.telemetry {
            telemetry.note_departure(key.time, port, self.pool.get(id).frame_len);
        }
        if captured.is_some() {
            let (features, scene) = self.scene();
            if let Some(capture) = &mut features.capture {
                capture.capture_sent(key, port, id, &scene);
            }
        }
        if shapes {
            self.shape(key, port, id);
        } else if is_counted {
            self.arm_port_timeout(port); // Links that may lose packets are told of it again.
        }
        match far {
            Role::Elsewhere(part) => Crossing(self).leave(port, id, arrival, part),
            Role::Host(_) | Role::Switch(_) => self.put_on_link(port, id, arrival),
        }
    }

    /// A frame is on the link of `port` from now on. Its last bit reaches the other end at `arrival`.
    #[inline(never)] // `transmit` does so where nothing is special, with what it has at hand.
    pub(super) fn put_on_link(&mut self, port: u32, id: PacketId, mut arrival: EventKey) {
        let Self { ports, pool, routing, .. } = self;
        let (state, packet) = (&mut ports[port as usize], pool.get_mut(id));
        state.far.route(&**routing, packet);
        if state.far.switch.cuts_through() {
            arrival.time = self.head_arrival(port, id, arrival.time);
        }
        let Self { ports, pool, queue, .. } = self;
        ports[port as usize].join_link(port, id, pool.get_mut(id), arrival, queue);
    }

    /// When the switch at the other end acts on a frame that has just started: as its first 64 bytes
    /// have arrived, if it leaves by a port that is not faster, which would run dry.
    #[cold]
    fn head_arrival(&self, port: u32, id: PacketId, tail: SimTime) -> SimTime {
        let state = &self.ports[port as usize];
        let packet = self.pool.get(id);
        let is_data = packet.body.priority().is_some() && packet.switch_port != NO_ROUTE;
        let rate = state.port.link().rate();
        let is_no_faster = |number: &u16| {
            let egress = state.far.first_port + u32::from(*number);
            self.ports[egress as usize].port.link().rate() <= rate
        };
        // A switch that has not chosen yet cuts through if it may whichever port it chooses.
        let cuts_through = match packet.switch_port {
            _ if !is_data || is_to_group(packet) => false,
            ANY => {
                let ports = self.routing.next_hops(state.far.node, packet.destination);
                !ports.is_empty() && ports.iter().all(is_no_faster)
            }
            number => is_no_faster(&number),
        };
        if cuts_through { state.head_of(packet.frame_len, tail) } else { tail }
    }

    /// A frame on the link of `port` reaches the other end.
    pub(super) fn arrive(&mut self, key: EventKey, port: u32, id: PacketId) {
        debug_assert!(self.pool.link_of(id) == Some(port), "an arrival without a frame");
        self.pool.get_mut(id).end_on_link();
        let far = self.ports[port as usize].far;
        if far.special {
            return self.arrive_specially(key, port, id);
        }
        self.deliver(key, &far, id);
    }

    /// A frame reaches the node at the far end of a link.
    pub(super) fn deliver(&mut self, key: EventKey, far: &FarEnd, id: PacketId) {
        let packet = self.pool.get(id);
        if !matches!(packet.body, Body::Rdma(_)) {
            return OtherFrames(self).deliver_other(key, far, id);
        }
        match far.role {
            Role::Host(host) => self.host_receive(key, host, id),
            Role::Switch(_) => match far.way_of(packet) {
                Some(egress) => {
                    self.switch_receive::<Packets>(key, (far.number, egress), id);
                }
                None => self.drop_without_way(key, far, id),
            },
            Role::Elsewhere(_) => debug_assert!(false, "it has left"),
        }
    }

    /// Drops a frame that the switch at the far end of a link has no way for.
    #[cold]
    pub(super) fn drop_without_way(&mut self, key: EventKey, far: &FarEnd, id: PacketId) {
        let cause = self.failures.no_way(&self.routing, far.node, self.pool.get(id));
        self.drop_frame(key, far.port, None, id, cause);
    }

    /// A frame reaches the end of a link that may lose it, whose rules may change what becomes of
    /// it, where it is captured, or whose switch chooses among paths.
    #[cold]
    fn arrive_specially(&mut self, key: EventKey, port: u32, id: PacketId) {
        let sender = &self.ports[port as usize];
        let (receiving, sender_far, node) = (sender.far.port, sender.far.role, sender.far.node);
        if Failing(self).is_lost(port) {
            return self.drop_frame(key, receiving, None, id, DropCause::LinkDown);
        }
        if let (Role::Host(host), Some(_)) = (sender_far, self.pool.get(id).body.priority())
            && self.hosts[host as usize].handles_nothing()
        {
            let is_stray = is_stray(&self.plan, node, self.pool.get(id));
            let cause = if is_stray { DropCause::NotInGroup } else { DropCause::ReceiverStopped };
            return self.drop_frame(key, receiving, None, id, cause);
        }
        if self.shared.loses(port) {
            return self.drop_frame(key, receiving, None, id, DropCause::Link);
        }
        self.pass_features(key, port, id, Stage::Link);
    }

    /// A frame that came over the link of `port` reaches its node, at last, or one of its copies does.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_specially(&mut self, key: EventKey, port: u32, id: PacketId) {
        let far = self.ports[port as usize].far;
        if let Some(passed) = &mut self.features.passed {
            passed.push(Passed::arrived(id, port, self.pool.get(id)));
        }
        if self.ports[far.port as usize].port.is_counted() {
            return PortPauses(self).deliver_with_credits(key, &far, id);
        }
        self.deliver(key, &far, id);
    }

    /// The transmitter of `port` is free and something waited.
    pub(super) fn port_free(&mut self, key: EventKey, port: u32) {
        let state = &mut self.ports[port as usize];
        if state.port.free_at() == SimTime::NEVER {
            return self.failures.outages.forget_free(port); // Its link failed meanwhile; it stays armed.
        }
        state.free_armed = false;
        if state.port.is_counted() && state.is_free(key) {
            PortPauses(self).free_what_left(key, port);
        }
        self.pump(key, port);
    }

    /// Has `port` asked again when its transmitter is free, unless that is arranged already.
    #[inline]
    pub(super) fn arm_free(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        if !state.free_armed {
            state.free_armed = true;
            self.queue.push(state.free_key(), Event::PortFree { port });
            // Its turn comes soon, often too soon for what is prefetched by the order of events.
            self.pool.place_of(state.port.first_waiting().unwrap_or(PacketId(0))).prefetch::<1>();
        }
    }

    /// Has a port asked again after this event, in which it starts a frame: a frame that goes back by
    /// the port it came in by is about to take the transmitter that the end of a pause needs too.
    pub(super) fn arm_at_once(&mut self, key: EventKey, port: u32) {
        let state = &mut self.ports[port as usize];
        if !state.free_armed {
            state.free_armed = true;
            let tie = self.order.reserve(&mut self.nodes[state.node as usize].order);
            self.queue.push(EventKey { time: key.time, tie }, Event::PortFree { port });
        }
    }

    /// Counts and forgets a frame.
    #[cold]
    pub(super) fn drop_frame(
        &mut self,
        key: EventKey,
        receiving: u32,
        egress: Option<u16>,
        id: PacketId,
        cause: DropCause,
    ) {
        let port = &self.ports[receiving as usize];
        let packet = self.pool.get(id);
        let priority = packet.body.priority().unwrap_or(0);
        let marking = packet.body.marking().unwrap_or(0);
        let dropped = FrameDropped {
            node: port.node,
            ingress: port.number,
            egress,
            priority,
            marking,
            frame_len: packet.frame_len,
            cause,
        };
        self.course.records.keep(dropped.node, Record { key, kind: RecordKind::Drop(dropped) });
        self.course.totals.frames_dropped += 1;
        *self.course.totals.drops.entry(cause.name()).or_default() += 1;
        if let Some(passed) = &mut self.features.passed {
            let FrameDropped { node, ingress, .. } = dropped;
            passed.push(Passed::Dropped { packet: id, node, ingress, egress, cause });
        }
        self.side.contents.take(id);
        self.pool.remove(id);
    }

    pub(super) fn arm_port_timeout(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        let due = state.port.poll_timeout();
        // What the far port of a link that is cut does is the other part's to say.
        let is_here = !matches!(state.role, Role::Elsewhere(_));
        if due < state.rare.timeout_armed && is_here {
            state.rare.timeout_armed = due;
            let tie = self.order.reserve(&mut self.nodes[state.node as usize].order);
            self.queue.push(EventKey { time: due, tie }, Event::PortTimeout { port });
        }
    }
}

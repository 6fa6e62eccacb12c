//! A frame through a switch.

use rocelab_engine::{EventKey, EventQueue};
use rocelab_fabric::{Admission, Arrival, BufferPolicy, Departure, PacketId};
use rocelab_units::SimTime;
use rocelab_wire::Ecn;

use super::packet::{Body, PacketPool};
use super::{DropCause, Event, FarEnd, Network};

impl Network {
    /// Classifies, routes, stores, marks and queues a frame that has arrived at a switch.
    #[inline]
    pub(super) fn switch_receive(
        &mut self,
        key: EventKey,
        switch: u32,
        at: &FarEnd,
        id: PacketId,
        queue: &mut EventQueue<Event>,
    ) {
        let packet = self.pool.get_mut(id);
        let Body::Rdma(rdma) = &mut packet.body else {
            debug_assert!(false, "flow control ends at the port");
            return;
        };
        let state = &mut self.switches[switch as usize];
        let (receiving, ingress) = (at.port, at.number);
        let priority = rdma.priority();
        let len = u32::from(packet.frame_len);
        let next = self.routes.egress(state.node, packet.destination, packet.flow_hash);
        let Some(number) = next else {
            return self.drop_frame(key, receiving, None, id, DropCause::NoRoute);
        };
        let egress = self.nodes[state.node as usize].first_port + u32::from(number);
        let out = &mut self.ports[egress as usize];
        let egress_queue = out.port.queued(priority);
        let admission = state.buffer.admit(Arrival { ingress, priority, len, egress_queue });
        if let Admission::Dropped(reason) | Admission::DroppedAndPause(reason) = admission {
            self.drop_frame(key, receiving, Some(number), id, DropCause::Buffer(reason));
            if matches!(admission, Admission::DroppedAndPause(_)) {
                self.pause_sender(key.time, receiving, priority, queue);
            }
            return;
        }
        packet.ingress = ingress;
        let queued = egress_queue + len;
        if let Some(marking) = &mut out.marking
            && rdma.ecn() != Ecn::NotEct
            && marking.marker.marks(queued, || marking.dice.bits())
        {
            rdma.set_ce();
            out.counters.ecn_marks += 1;
        }
        if admission == Admission::Stored && out.port.is_idle_for(key.time, priority) {
            return self.pass_through(key.time, switch, egress, id, queue);
        }
        out.counters.max_queue_bytes = out.counters.max_queue_bytes.max(queued);
        out.port.enqueue(&mut self.pool, id, priority, len);
        if admission == Admission::StoredAndPause {
            self.pause_sender(key.time, receiving, priority, queue);
        }
        self.pump(key.time, egress, queue);
    }

    /// Sends a frame that need not wait. It was admitted like any other; only queue and scheduler
    /// are spared (a round-robin scheduler keeps its turn).
    #[inline]
    fn pass_through(
        &mut self,
        now: SimTime,
        switch: u32,
        egress: u32,
        id: PacketId,
        queue: &mut EventQueue<Event>,
    ) {
        let packet = self.pool.get(id);
        let Body::Rdma(rdma) = &packet.body else { return };
        let (ingress, priority) = (packet.ingress, rdma.priority());
        let departure = Departure { ingress, priority, len: u32::from(packet.frame_len) };
        let resume = self.switches[switch as usize].buffer.release(departure);
        self.transmit(now, egress, id, queue);
        if resume {
            self.resume(now, switch, ingress, priority, queue);
        }
    }

    /// Sends the frame that is next at a switch's port, whose transmitter is free.
    #[inline]
    pub(super) fn pump_switch(
        &mut self,
        now: SimTime,
        port: u32,
        switch: u32,
        queue: &mut EventQueue<Event>,
    ) {
        let len_of = |pool: &PacketPool, id: PacketId| u32::from(pool.get(id).frame_len);
        let state = &mut self.ports[port as usize];
        let Some((id, priority)) = state.port.dequeue(&self.pool, len_of) else { return };
        let more = state.port.has_eligible();
        let packet = self.pool.get(id);
        let ingress = packet.ingress;
        let departure = Departure { ingress, priority, len: u32::from(packet.frame_len) };
        let resume = self.switches[switch as usize].buffer.release(departure);
        self.transmit(now, port, id, queue);
        if more {
            self.arm_free(port, queue);
        }
        if resume {
            self.resume(now, switch, ingress, priority, queue);
        }
    }

    /// Makes the sender behind a switch's ingress port pause.
    #[cold]
    fn pause_sender(
        &mut self,
        now: SimTime,
        receiving: u32,
        priority: u8,
        queue: &mut EventQueue<Event>,
    ) {
        self.ports[receiving as usize].port.request_pause(priority);
        self.pump(now, receiving, queue);
    }

    /// Lets the sender behind a switch's ingress port go on.
    #[cold]
    fn resume(
        &mut self,
        now: SimTime,
        switch: u32,
        ingress: u16,
        priority: u8,
        queue: &mut EventQueue<Event>,
    ) {
        let node = self.switches[switch as usize].node;
        let ingress = self.nodes[node as usize].first_port + u32::from(ingress);
        self.ports[ingress as usize].port.request_resume(priority);
        self.pump(now, ingress, queue);
    }
}

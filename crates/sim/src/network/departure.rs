//! A frame starts on the link of a port.

use rocelab_engine::{EventKey, EventQueue, TieOrder};
use rocelab_fabric::PacketId;

use super::event::Event;
use super::node::Role;
use super::packet::{ANY, Body, NO_ROUTE, Packet, PacketOf};
use super::port::{FarEnd, NetworkPort, SAME_UNIT, Takes};
use crate::profile::{Profile, Routing};

/// What hands out places in the order of events: for all nodes, and for the one that sends.
type Ties<'a, P> =
    (&'a mut <P as Profile>::Order, &'a mut <<P as Profile>::Order as TieOrder>::OfNode);

impl<P: Profile> NetworkPort<P> {
    /// Whether nothing but the usual is done as a frame starts here.
    #[inline(always)]
    pub(super) fn sends_plainly(&self) -> bool {
        !(self.departs_specially | self.marks_departures | self.port.has_extras())
    }

    /// Starts a frame where [nothing special](Self::sends_plainly) is to be done: this is port `port` of all, and its
    /// transmitter is free.
    #[inline(always)] // Where a switch sends and where a host does: neither pays for a call.
    pub(super) fn start(
        &mut self,
        key: EventKey,
        (port, id): (u32, PacketId),
        packet: &mut Packet<PacketOf<P>>,
        ties: Ties<'_, P>,
        routing: &P::Routing,
        queue: &mut EventQueue<Event>,
    ) {
        let arrival = self.occupy(key, packet.frame_len, ties);
        self.far.route(routing, packet);
        self.join_link(port, id, packet, arrival, queue);
    }

    /// Occupies the transmitter with a frame of `frame_len` bytes from now on. Gives when its last bit arrives.
    #[inline(always)]
    pub(super) fn occupy(
        &mut self,
        key: EventKey,
        frame_len: u16,
        (order, node): Ties<'_, P>,
    ) -> EventKey {
        self.free_tie = order.reserve(node);
        let transmission = self.port.transmit(key.time, u32::from(frame_len));
        self.sent.frames += 1;
        self.sent.bytes += u64::from(frame_len);
        EventKey { time: transmission.arrival, tie: order.reserve(node) }
    }

    /// A frame is on the link from now on: it comes into the inbox of the node at the far end.
    #[inline(always)]
    pub(super) fn join_link(
        &mut self,
        port: u32,
        id: PacketId,
        packet: &mut Packet<PacketOf<P>>,
        arrival: EventKey,
        queue: &mut EventQueue<Event>,
    ) {
        self.last = id;
        packet.start_on_link(port);
        let event = self.far.arrival_of(port, id, packet);
        match self.far.beyond {
            SAME_UNIT => queue.push(arrival, event),
            unit => queue.push_beyond(unit, arrival, event),
        }
    }
}

impl FarEnd {
    /// From now on frames are looked at as they arrive there.
    pub(super) fn look_at_arrivals(&mut self) {
        self.special = true;
        self.takes = Takes::Any;
    }

    /// Finds out by which port the node there will send a packet on that is sent there.
    #[inline(always)]
    pub(super) fn route<R>(&self, routing: &impl Routing, packet: &mut Packet<R>) {
        packet.switch_port = match packet.path.next() {
            Some(port) => port,
            None => self.ask(routing, packet),
        };
    }

    /// Asks the routes by which port the node there sends a packet on, if it is a switch.
    #[inline(never)] // Most packets know it.
    fn ask<R>(&self, routing: &impl Routing, packet: &Packet<R>) -> u16 {
        let Role::Switch(_) = self.role else { return NO_ROUTE };
        if self.switch.chooses() {
            return ANY;
        }
        let (source, destination) = (packet.source, packet.destination);
        routing.egress(self.node, source, destination, packet.flow_hash).unwrap_or(NO_ROUTE)
    }

    /// The event in which a packet arrives that has just started on the link of `port`.
    #[inline(always)]
    pub(super) fn arrival_of<R>(&self, port: u32, packet: PacketId, sent: &Packet<R>) -> Event {
        match (self.takes, &sent.body) {
            (Takes::PacketsOf(host), Body::Rdma(_)) => Event::Deliver { host, packet },
            (Takes::Packets, Body::Rdma(_)) if sent.switch_port != NO_ROUTE => {
                let egress = self.first_port + u32::from(sent.switch_port);
                Event::Forward { egress, ingress: self.number, packet }
            }
            _ => Event::Arrive { port, packet },
        }
    }

    /// The port, of all, by which the switch there forwards a packet, if it has a way for it.
    #[inline(always)]
    pub(super) fn way_of<R>(&self, packet: &Packet<R>) -> Option<u32> {
        (packet.switch_port != NO_ROUTE).then(|| self.first_port + u32::from(packet.switch_port))
    }
}

//! Frames at switches that do not know everything: where one goes, or that it goes everywhere.
//!
//! A router (RoCE v2) finds the MAC address of a host of its own by ARP, and that address's port in the
//! MAC table. The two have timers of their own: where the first entry lives and the second is gone, it
//! sends the frame by every port of the broadcast domain (Guo et al., RDMA over Commodity Ethernet at
//! Scale, SIGCOMM 2016, section 4.2). A bridge (RoCE v1) learns where source addresses are and floods
//! what is for others (IEEE 802.1Q, the learning and the forwarding process).

use rocelab_engine::EventKey;
use rocelab_fabric::topology::Neighbour;
use rocelab_fabric::{NodeId, PacketId};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use super::build::Building;
use super::core::Network;
use super::failure::Failing;
use super::node::Role;
use super::packet::{Body, NO_ROUTE};
use super::tables::{Place, Tables};
use crate::profile::{HostPacket, Profile};
use crate::record::DropCause;

/// What a switch does with a frame.
enum Verdict {
    /// It forwards it by this port.
    Forward(u16),
    /// It sends it by every port of the broadcast domain but that where it came in.
    Flood,
    /// It drops it.
    Drop(DropCause),
}

impl<P: Profile> Building<'_, P> {
    /// Has all arrivals looked at, if there is a switch that does not know everything.
    pub(super) fn add_tables(&mut self) {
        if self.0.plan.tables.are_complete() {
            return;
        }
        let plan = self.0.plan.tables.clone();
        self.0.features.tables =
            Some(Box::new(Tables::new(plan, self.0.switches.len(), self.0.ports.len())));
        self.0.side.notes.get_or_insert_default();
        for port in &mut self.0.ports {
            port.far.look_at_arrivals();
        }
    }
}

/// A network whose switches do not know everything.
#[derive(Debug)]
pub(super) struct Flooding<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Flooding<'_, P> {
    /// Looks up where a frame goes that has come over the link of `port` to a switch with tables, and
    /// sees to it.
    #[cold]
    pub(super) fn forward_by_tables(&mut self, key: EventKey, port: u32, id: PacketId) {
        let receiving = self.0.ports[port as usize].far.port;
        match self.look_up(key.time, port, id) {
            Verdict::Forward(number) => {
                self.0.pool.get_mut(id).switch_port = number;
                self.0.deliver_specially(key, port, id);
            }
            Verdict::Flood => self.flood(key, port, id),
            Verdict::Drop(cause) => self.0.drop_frame(key, receiving, None, id, cause),
        }
    }

    fn look_up(&mut self, now: SimTime, port: u32, id: PacketId) -> Verdict {
        let packet = self.0.pool.get(id);
        let (sender, far) = (self.0.ports[port as usize].node, self.0.ports[port as usize].far);
        let (number, source) = (packet.switch_port, packet.source);
        let (Role::Switch(switch), Some(_)) = (far.role, packet.body.priority()) else {
            return Verdict::Forward(number);
        };
        // A notification of congestion says that it comes from where the sampled frame went.
        let is_from_source = match &packet.body {
            Body::Rdma(body) => body.as_rdma().is_none_or(|rdma| rdma.cnm().is_none()),
            _ => true,
        };
        let is_routed = self.0.plan.roce.encapsulation != Encapsulation::V1;
        let first_port = self.0.nodes[self.0.ports[far.port as usize].node as usize].first_port;
        let ingress = Place { switch, first_port, number: far.number };
        if let Some(tables) = &mut self.0.features.tables
            && is_from_source
            // The source address of what a router sends is its own.
            && (sender == source || !is_routed)
        {
            tables.hear(ingress, source, now);
        }
        if is_routed {
            self.look_up_at_router(now, ingress, id)
        } else {
            self.look_up_at_bridge(now, ingress, id)
        }
    }

    fn look_up_at_bridge(&mut self, now: SimTime, ingress: Place, id: PacketId) -> Verdict {
        let packet = self.0.pool.get(id);
        let number = packet.switch_port;
        let Some(tables) = self.0.features.tables.as_mut().filter(|_| number != NO_ROUTE) else {
            return Verdict::Forward(number);
        };
        match tables.port_of(Place { number, ..ingress }, packet.destination, now) {
            Some(known) if known == ingress.number && tables.learn() => {
                Verdict::Drop(DropCause::Filtered)
            }
            Some(known) => Verdict::Forward(known),
            None => Verdict::Flood,
        }
    }

    fn look_up_at_router(&mut self, now: SimTime, ingress: Place, id: PacketId) -> Verdict {
        let packet = self.0.pool.get(id);
        let (number, destination) = (packet.switch_port, packet.destination);
        if self.is_flooded(id) {
            // Its MAC address is that of a host, and not the one of this router.
            return Verdict::Drop(DropCause::ForeignDestination);
        }
        // One without a way has no port here, but its number may be one of another node.
        let egress = (number != NO_ROUTE).then(|| ingress.first_port + u32::from(number));
        let next = egress.map(|egress| {
            let far = self.0.ports[egress as usize].far.port;
            self.0.ports[far as usize].node
        });
        let (Some(tables), true) = (&mut self.0.features.tables, next == Some(destination)) else {
            return Verdict::Forward(number); // To the next router, or nowhere.
        };
        // When which host is up is in the plan, so that this is no look into another node.
        let answers = self.0.plan.topology.is_host(destination)
            && !self.0.failures.outages.is_dead(destination);
        let place = Place { number, ..ingress };
        if !tables.resolve(place, destination, now, answers) {
            return Verdict::Drop(DropCause::IncompleteArp);
        }
        match tables.port_of(place, destination, now) {
            Some(known) => Verdict::Forward(known),
            None if tables.drops_incomplete() && self.is_lossless_at(ingress.switch, id) => {
                self.ask_again(place, destination, (now, answers))
            }
            None => Verdict::Flood,
        }
    }

    /// Where lossless frames are not flooded, an entry without a port is incomplete, and the router
    /// asks again: a host that is only silent is heard of by its answer.
    fn ask_again(
        &mut self,
        place: Place,
        host: NodeId,
        (now, answers): (SimTime, bool),
    ) -> Verdict {
        match &mut self.0.features.tables {
            Some(tables) if answers && tables.learn() => {
                tables.hear(place, host, now);
                Verdict::Forward(place.number)
            }
            _ => Verdict::Drop(DropCause::IncompleteArp),
        }
    }

    fn is_lossless_at(&self, switch: u32, id: PacketId) -> bool {
        let Some(priority) = self.0.pool.get(id).body.priority() else { return false };
        let state = &self.0.switches[switch as usize];
        let priority = state.priorities[usize::from(priority & 7)];
        self.0.plan.switch_at(state.node).lossless.contains(&priority)
    }

    /// Whether a frame was flooded: by a router, so that it has the MAC address of its host, or by a
    /// bridge.
    pub(super) fn is_flooded(&self, id: PacketId) -> bool {
        self.0.side.notes.as_ref().is_some_and(|notes| notes.of(id).flooded)
    }

    /// Sends a frame by every port of the broadcast domain but that where it came in. Every copy is a
    /// frame of its own in the switch's memory.
    fn flood(&mut self, key: EventKey, port: u32, id: PacketId) {
        let receiving = self.0.ports[port as usize].far.port;
        let numbers = self.flooded_ports(receiving, self.0.pool.get(id).destination);
        if numbers.is_empty() {
            let node = self.0.ports[receiving as usize].node;
            let host = self.0.layout.adjacency.ports_of(self.0.pool.get(id).destination).first();
            let is_here = host.is_some_and(|host| host.node == node);
            // A copy of a frame ends at a switch that is a leaf of the tree.
            let ends = self.is_flooded(id) && !is_here;
            let cause = if ends { DropCause::Filtered } else { Failing(self.0).no_way(node, id) };
            return self.0.drop_frame(key, receiving, None, id, cause);
        }
        self.0.course.totals.layer2.floods += 1;
        self.0.course.totals.layer2.flooded_frames += numbers.len() as u64;
        if let Some(notes) = &mut self.0.side.notes {
            notes.flood(id);
        }
        let copies: Vec<_> = numbers.iter().skip(1).map(|_| self.0.duplicate(id)).collect();
        for (number, copy) in numbers.into_iter().zip(std::iter::once(id).chain(copies)) {
            self.0.pool.get_mut(copy).switch_port = number;
            self.0.deliver_specially(key, port, copy);
        }
    }

    /// The ports by which a switch floods what came in by `receiving` and is for a host: those to
    /// hosts of its VLAN, and those to switches, but for links that are down or not in the tree.
    fn flooded_ports(&self, receiving: u32, destination: u32) -> Vec<u16> {
        let receiving = &self.0.ports[receiving as usize];
        let topology = &self.0.plan.topology;
        let vlan = |node: u32| self.0.plan.roce.vlans.get(node as usize);
        let takes_part = |&(number, far): &(u16, &Neighbour)| {
            let is_inside = topology.is_switch(far.node) || vlan(far.node) == vlan(destination);
            number != receiving.number
                && is_inside
                && self.0.failures.active_links[far.link as usize]
        };
        let ports = (0u16..).zip(self.0.layout.adjacency.ports_of(receiving.node));
        ports.filter(takes_part).map(|(number, _)| number).collect()
    }
}

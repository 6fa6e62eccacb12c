//! Frames at switches that do not know everything: where one goes, or that it goes everywhere.
//!
//! A router (RoCE v2) finds the MAC address of a host of its own by ARP, and that address's port in the
//! MAC table. The two have timers of their own: where the first entry lives and the second is gone, it
//! sends the frame by every port of the broadcast domain (Guo et al., RDMA over Commodity Ethernet at
//! Scale, SIGCOMM 2016, section 4.2). A bridge (RoCE v1) learns where source addresses are and floods
//! what is for others (IEEE 802.1Q, the learning and the forwarding process).

use rocelab_fabric::topology::Neighbour;
use rocelab_fabric::{NodeId, PacketId};
use rocelab_state::{Result, load_value, save_value};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use super::feature::{Arrival, Feature, Frames, Scene, SetUp, Sight, StateOf, Verdict};
use super::node::Role;
use super::packet::{Body, NO_ROUTE};
use super::saved_packets::SavedPackets;
use super::tables::{Place, Tables};
use crate::profile::{HostPacket, Profile};
use crate::record::DropCause;

impl<P: Profile> Feature<P> for Tables {
    /// All arrivals are looked at, if there is a switch that does not know everything.
    fn set_up(network: &mut SetUp<'_, P>) -> Option<Box<Self>> {
        if network.plan.tables.are_complete() {
            return None;
        }
        network.side.notes.get_or_insert_default();
        network.look_at_arrivals(|_, _| true);
        let (plan, switches) = (network.plan.tables.clone(), network.switches.len());
        Some(Box::new(Self::new(plan, switches, network.ports.len())))
    }

    fn judge(&mut self, arrival: &Arrival, scene: &mut Scene<'_, P>) -> Verdict {
        let Role::Switch(switch) = arrival.far.role else { return Verdict::Continue };
        let Scene { sight, frames, .. } = scene;
        Lookup { tables: self, sight, frames, arrival }.look_up(switch)
    }

    fn save(&self, of: StateOf, _: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        match of {
            StateOf::Switch(switch) => save_value(&self.mac[switch as usize], to),
            StateOf::Port(port) => save_value(&self.flushed[port as usize], to),
            StateOf::Link(_) | StateOf::Host(_) => Ok(()),
        }
    }

    fn load(&mut self, of: StateOf, _: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        match of {
            StateOf::Switch(switch) => self.mac[switch as usize] = load_value(from)?,
            StateOf::Port(port) => self.flushed[port as usize] = load_value(from)?,
            StateOf::Link(_) | StateOf::Host(_) => {}
        }
        Ok(())
    }
}

/// A frame that has arrived at a switch that does not know everything.
struct Lookup<'a, 'b, P: Profile> {
    tables: &'a mut Tables,
    sight: &'a Sight<'b, P>,
    frames: &'a mut Frames<'b, P>,
    arrival: &'a Arrival,
}

impl<P: Profile> Lookup<'_, '_, P> {
    /// Looks up where it goes.
    fn look_up(&mut self, switch: u32) -> Verdict {
        let Arrival { key, port, far, id } = *self.arrival;
        let (now, packet) = (key.time, self.frames.get(id));
        let (sender, source) = (self.sight.ports[port as usize].node, packet.source);
        if packet.body.priority().is_none() {
            return Verdict::Continue;
        }
        // A notification of congestion says that it comes from where the sampled frame went.
        let is_from_source = match &packet.body {
            Body::Rdma(body) => body.as_rdma().is_none_or(|rdma| rdma.cnm().is_none()),
            _ => true,
        };
        let is_routed = self.sight.plan.roce.encapsulation != Encapsulation::V1;
        let ingress = Place { switch, first_port: far.first_port, number: far.number };
        // The source address of what a router sends is its own.
        if is_from_source && (sender == source || !is_routed) {
            self.tables.hear(ingress, source, now);
        }
        if is_routed {
            self.look_up_at_router(now, ingress, id)
        } else {
            self.look_up_at_bridge(now, ingress, id)
        }
    }

    fn look_up_at_bridge(&mut self, now: SimTime, ingress: Place, id: PacketId) -> Verdict {
        let packet = self.frames.get(id);
        let number = packet.switch_port;
        if number == NO_ROUTE {
            return Verdict::Continue;
        }
        match self.tables.port_of(Place { number, ..ingress }, packet.destination, now) {
            Some(known) if known == ingress.number && self.tables.learn() => {
                Verdict::Drop(DropCause::Filtered)
            }
            Some(known) => Verdict::Redirect(known),
            None => self.flood(),
        }
    }

    fn look_up_at_router(&mut self, now: SimTime, ingress: Place, id: PacketId) -> Verdict {
        let packet = self.frames.get(id);
        let (number, destination) = (packet.switch_port, packet.destination);
        if self.is_flooded(id) {
            // Its MAC address is that of a host, and not the one of this router.
            return Verdict::Drop(DropCause::ForeignDestination);
        }
        // One without a way has no port here, but its number may be one of another node.
        let egress = (number != NO_ROUTE).then(|| ingress.first_port + u32::from(number));
        let next = egress.map(|egress| self.sight.ports[egress as usize].far.node);
        if next != Some(destination) {
            return Verdict::Continue; // To the next router, or nowhere.
        }
        // When which host is up is in the plan, so that this is no look into another node.
        let answers = self.sight.plan.topology.is_host(destination)
            && !self.sight.failures.outages.is_dead(destination);
        let place = Place { number, ..ingress };
        if !self.tables.resolve(place, destination, now, answers) {
            return Verdict::Drop(DropCause::IncompleteArp);
        }
        match self.tables.port_of(place, destination, now) {
            Some(known) => Verdict::Redirect(known),
            None if self.tables.drops_incomplete() && self.is_lossless_at(ingress.switch, id) => {
                self.ask_again(place, destination, (now, answers))
            }
            None => self.flood(),
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
        if !(answers && self.tables.learn()) {
            return Verdict::Drop(DropCause::IncompleteArp);
        }
        self.tables.hear(place, host, now);
        Verdict::Redirect(place.number)
    }

    fn is_lossless_at(&self, switch: u32, id: PacketId) -> bool {
        let Some(priority) = self.frames.get(id).body.priority() else { return false };
        let state = &self.sight.switches[switch as usize];
        let priority = state.priorities[usize::from(priority & 7)];
        self.sight.plan.switch_at(state.node).lossless.contains(&priority)
    }

    /// Whether a frame was flooded: by a router, so that it has the MAC address of its host, or by a
    /// bridge.
    fn is_flooded(&self, id: PacketId) -> bool {
        self.frames.side.notes.as_ref().is_some_and(|notes| notes.of(id).flooded)
    }

    /// Sends a frame by every port of the broadcast domain but that where it came in. Every copy is a
    /// frame of its own in the switch's memory.
    fn flood(&mut self) -> Verdict {
        let Arrival { far, id, .. } = *self.arrival;
        let (sight, packet) = (self.sight, self.frames.get(id));
        let numbers = self.flooded_ports(far.port, packet.destination);
        if numbers.is_empty() {
            let host = sight.layout.adjacency.ports_of(packet.destination).first();
            let is_here = host.is_some_and(|host| host.node == far.node);
            // A copy of a frame ends at a switch that is a leaf of the tree.
            let ends = self.is_flooded(id) && !is_here;
            let no_way = || sight.failures.no_way(sight.routing, far.node, packet);
            return Verdict::Drop(if ends { DropCause::Filtered } else { no_way() });
        }
        self.frames.totals.layer2.floods += 1;
        self.frames.totals.layer2.flooded_frames += numbers.len() as u64;
        if let Some(notes) = &mut self.frames.side.notes {
            notes.flood(id);
        }
        Verdict::Replicate(numbers)
    }

    /// The ports by which a switch floods what came in by `receiving` and is for a host: those to
    /// hosts of its VLAN, and those to switches, but for links that are down or not in the tree.
    fn flooded_ports(&self, receiving: u32, destination: u32) -> Vec<u16> {
        let receiving = &self.sight.ports[receiving as usize];
        let topology = &self.sight.plan.topology;
        let vlan = |node: u32| self.sight.plan.roce.vlans.get(node as usize);
        let takes_part = |&(number, far): &(u16, &Neighbour)| {
            let is_inside = topology.is_switch(far.node) || vlan(far.node) == vlan(destination);
            number != receiving.number
                && is_inside
                && self.sight.failures.active_links[far.link as usize]
        };
        let ports = (0u16..).zip(self.sight.layout.adjacency.ports_of(receiving.node));
        ports.filter(takes_part).map(|(number, _)| number).collect()
    }
}

//! Switches that do not know every host, or do not look: their forwarding planes are asked as frames arrive. The planes
//! themselves are those of `fabric`. And networks of bridges and routers, of which each switch forwards a frame by what it is, and
//! drops what it has no way for.

use std::sync::Arc;

use rocelab_fabric::topology::Neighbour;
use rocelab_fabric::{
    DomainForwarding, DomainFrame, DomainPlace, Domains, ForwardedFrame, Forwarding as Decision,
    ForwardingDrop, ForwardingPlane, MacEntries, NodeId, PacketId, PlaneState,
};
use rocelab_state::{Result, State as _};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use super::feature::{Arrival, Feature, Frames, Scene, SetUp, Sight, StateOf, Verdict};
use super::multicast::is_to_group;
use super::neighbours::answer;
use super::node::Role;
use super::packet::{Body, NO_ROUTE, Packet, PacketOf};
use super::port::FarEnd;
use super::saved_packets::SavedPackets;
use crate::Plan;
use crate::profile::{HostPacket, NeighbourFrame, NeighbourKind, Profile, StackFrame};
use crate::record::DropCause;

/// The forwarding planes of all switches, by their places.
#[derive(Debug)]
pub(super) struct Forwarding(Vec<PlaneState>);

impl Forwarding {
    /// What became of the MAC entries of all switches.
    pub(super) fn mac_entries(&self) -> MacEntries {
        self.0.iter().map(PlaneState::mac_entries).fold(MacEntries::default(), |sum, one| {
            MacEntries { learnt: sum.learnt + one.learnt, aged: sum.aged + one.aged }
        })
    }

    /// A switch forgets what it has learnt behind a port, by its number.
    pub(super) fn flush(&mut self, switch: u32, port: u16, now: SimTime) {
        self.0[switch as usize].flush(port, now);
    }
}

impl<P: Profile> Feature<P> for Forwarding {
    /// All arrivals are looked at, if there is a switch that may not do as the routes say.
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        if plan.all_switches_follow_routes() || plan.roce.domains.is_some() {
            return None;
        }
        network.side.notes.get_or_insert_default();
        network.look_at_arrivals(|_, _| true);
        let plane = |node: u32| {
            let ports = network.layout.adjacency.ports_of(node).len();
            plan.forwarding_plane_of(node).state(plan.roce.encapsulation, ports)
        };
        Some(Box::new(Self(network.switches.iter().map(|switch| plane(switch.node)).collect())))
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        let Role::Switch(switch) = arrival.far.role else { return Verdict::Continue };
        let Scene { sight, mut frames, .. } = scene;
        let body = &frames.get(arrival.id).body;
        if body.priority().is_none() || body.stays_in_domain() {
            return Verdict::Continue;
        }
        let is_to_group = is_to_group(frames.get(arrival.id));
        let mut forwarded = Forwarded { switch, sight: &sight, frames: &mut frames, arrival };
        let mut frame = forwarded.frame();
        if is_to_group {
            frame.route = None; // No host is asked for.
        }
        match self.0[switch as usize].forward(&sight.plan.known_hosts, &frame) {
            // Its ports are known; the bridge has learnt where its sender is.
            _ if is_to_group => Verdict::Continue,
            Decision::AsRouted => Verdict::Continue,
            Decision::By(port) => Verdict::Redirect(port),
            Decision::Flood => forwarded.flood(),
            Decision::Drop(why) => Verdict::Drop(why.into()),
        }
    }

    fn save(&self, of: StateOf, _: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        match of {
            StateOf::Switch(switch) => self.0[switch as usize].save(to),
            StateOf::Link(_) | StateOf::Port(_) | StateOf::Host(_) => Ok(()),
        }
    }

    fn load(&mut self, of: StateOf, _: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        match of {
            StateOf::Switch(switch) => self.0[switch as usize].load(from),
            StateOf::Link(_) | StateOf::Port(_) | StateOf::Host(_) => Ok(()),
        }
    }
}

impl From<ForwardingDrop> for DropCause {
    fn from(why: ForwardingDrop) -> Self {
        match why {
            ForwardingDrop::Filtered => Self::Filtered,
            ForwardingDrop::ForeignDestination => Self::ForeignDestination,
            ForwardingDrop::IncompleteArp => Self::IncompleteArp,
            ForwardingDrop::UnknownDestination => Self::UnknownDestination,
        }
    }
}

/// A frame that has arrived at a switch whose forwarding plane is asked.
struct Forwarded<'a, 'b, P: Profile> {
    /// The switch, by its place among the switches.
    switch: u32,
    sight: &'a Sight<'b, P>,
    frames: &'a mut Frames<'b, P>,
    arrival: &'a Arrival,
}

impl<P: Profile> Forwarded<'_, '_, P> {
    /// What the switch sees of it.
    fn frame(&self) -> ForwardedFrame {
        let Arrival { key, port, far, id } = *self.arrival;
        let packet = self.frames.get(id);
        let (source, destination) = (packet.source, packet.destination);
        // A notification of congestion says that it comes from where the sampled frame went.
        let is_from_source = match &packet.body {
            Body::Rdma(body) => body.as_rdma().is_none_or(|rdma| rdma.cnm().is_none()),
            _ => true,
        };
        let is_routed = self.sight.plan.roce.encapsulation != Encapsulation::V1;
        let was_routed = is_routed && self.sight.ports[port as usize].node != source;
        // The number of a frame without a way is that of no port here, but may be one of another node.
        let route = (packet.switch_port != NO_ROUTE).then_some(packet.switch_port);
        let egress = route.map(|number| far.first_port + u32::from(number));
        let next = egress.map(|egress| self.sight.ports[egress as usize].far.node);
        // When which host is up is in the plan, so that this is no look into another node.
        let is_last_hop = next == Some(destination);
        let answers = is_last_hop
            && self.sight.plan.topology.is_host(destination)
            && !self.sight.failures.outages.is_dead(destination);
        ForwardedFrame {
            now: key.time,
            source,
            destination,
            ingress: far.number,
            has_source_mac: is_from_source && !was_routed,
            route,
            is_last_hop,
            was_flooded: self.is_flooded(id),
            is_lossless: self.sight.plan.known_hosts.drop_incomplete_arp && self.is_lossless(),
            answers,
        }
    }

    fn is_lossless(&self) -> bool {
        let Some(marking) = self.frames.get(self.arrival.id).body.marking() else {
            return false;
        };
        let state = &self.sight.switches[self.switch as usize];
        let priority = state.priorities.of(marking);
        self.sight.plan.switch_at(state.node).lossless.contains(&priority)
    }

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

/// The domains of the network, and what its bridges have learnt. How many routers a frame has crossed is noted, and saved,
/// beside it.
#[derive(Debug)]
pub(super) struct InDomains {
    domains: Arc<Domains>,
    /// By place among the switches: the MAC table; none where every bridge knows all.
    tables: Vec<PlaneState>,
}

impl<P: Profile> Feature<P> for InDomains {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        let domains = Arc::clone(plan.roce.domains.as_ref()?);
        let learns = !plan.known_hosts.are_complete();
        let is_asked_at_hosts = !plan.roce.v1_hosts.is_empty();
        network.look_at_arrivals(|_, far| is_asked_at_hosts || matches!(far.role, Role::Switch(_)));
        let notes = network.side.notes.get_or_insert_default();
        notes.limit_hops(plan.roce.hop_limit, true);
        let table = |node: NodeId| {
            let ports = network.layout.adjacency.ports_of(node).len();
            // A MAC table asks for no header behind the MAC addresses.
            ForwardingPlane::Bridge.state(Encapsulation::V1, ports)
        };
        let switches = network.switches.iter().filter(|_| learns);
        let tables = switches.map(|switch| table(switch.node)).collect();
        Some(Box::new(Self { domains, tables }))
    }

    fn judge(&mut self, arrival: &Arrival, mut scene: Scene<'_, P>) -> Verdict {
        let (id, far) = (arrival.id, &arrival.far);
        let packet = *scene.frames.get(id);
        if matches!(packet.body, Body::Control(_)) {
            return Verdict::Continue;
        }
        let roce = &scene.sight.plan.roce;
        let Role::Switch(switch) = far.role else {
            let versions = [packet.source, packet.destination];
            let [theirs, own] = versions.map(|host| roce.v1_hosts.contains(&host));
            let is_rdma = matches!(packet.body, Body::Rdma(_));
            // Its queue pairs have GIDs of the other version.
            let is_wrong = is_rdma && theirs != own && packet.destination == far.node;
            return if is_wrong { Verdict::Drop(DropCause::WrongGid) } else { Verdict::Continue };
        };
        if let Body::Stack(StackFrame::Neighbour(frame)) = packet.body {
            return self.forward_neighbour((switch, arrival), &frame, &mut scene);
        }
        let frame = frame_of(scene.sight.plan, &scene.frames, id, &packet);
        match self.domains.forward(far.node, far.number, &frame) {
            DomainForwarding::Bridge(port) => match self.tables.get_mut(switch as usize) {
                None => Verdict::Redirect(port),
                Some(table) => {
                    let Some(place) = self.domains.place(&frame) else {
                        return Verdict::Drop(DropCause::NoRoute);
                    };
                    let sender = place.sender.unwrap_or(frame.source);
                    bridge(&self.domains, table, (arrival, port), (sender, &place), &mut scene)
                }
            },
            DomainForwarding::Route(port) => {
                if scene.frames.side.expires(id, &packet) {
                    return Verdict::Drop(DropCause::TtlExpired);
                }
                Verdict::Redirect(port)
            }
            DomainForwarding::NotRoutable => Verdict::Drop(DropCause::NotRoutable),
            DomainForwarding::NoRoute => Verdict::Drop(DropCause::NoRoute),
            DomainForwarding::Foreign => Verdict::Drop(DropCause::ForeignDestination),
        }
    }

    fn save(&self, of: StateOf, _: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        let StateOf::Switch(switch) = of else { return Ok(()) };
        self.tables.get(switch as usize).map_or(Ok(()), |table| table.save(to))
    }

    fn load(&mut self, of: StateOf, _: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        let StateOf::Switch(switch) = of else { return Ok(()) };
        self.tables.get_mut(switch as usize).map_or(Ok(()), |table| table.load(from))
    }
}

impl InDomains {
    /// What became of the MAC entries of all switches.
    pub(super) fn mac_entries(&self) -> MacEntries {
        self.tables.iter().map(PlaneState::mac_entries).fold(MacEntries::default(), |sum, one| {
            MacEntries { learnt: sum.learnt + one.learnt, aged: sum.aged + one.aged }
        })
    }
}

impl InDomains {
    /// A switch answers a question for its own address, and bridges the others, and answers, in their domain.
    fn forward_neighbour<P: Profile>(
        &mut self,
        (switch, arrival): (u32, &Arrival),
        frame: &NeighbourFrame,
        scene: &mut Scene<'_, P>,
    ) -> Verdict {
        let far = &arrival.far;
        let no_route = Verdict::Drop(DropCause::NoRoute);
        let packet = scene.frames.get(arrival.id);
        let Some(place) = place_of_neighbour(&self.domains, packet.source, frame) else {
            return no_route;
        };
        if place.target == far.node {
            return if self.domains.takes_in(far.node, far.number, place.segment) {
                answer(arrival, scene)
            } else {
                Verdict::Drop(DropCause::ForeignDestination)
            };
        }
        if !self.domains.bridges(far.node) {
            return Verdict::Drop(DropCause::ForeignDestination);
        }
        let sender = packet.source;
        let port = self.domains.port(far.node, &place);
        let decided = match (self.tables.get_mut(switch as usize), port) {
            (_, None) => return no_route,
            (None, Some(port)) => Verdict::Redirect(port),
            (Some(table), Some(port)) => {
                bridge(&self.domains, table, (arrival, port), (sender, &place), scene)
            }
        };
        // To all: by all ports of the domain, whatever is known of the target.
        match decided {
            Verdict::Redirect(_) | Verdict::Drop(DropCause::Filtered) if frame.to_all => {
                flood(&self.domains, far, &place, scene)
            }
            other => other,
        }
    }
}

/// Where a question or an answer of ARP or Neighbour Discovery is, which comes from the host or router `source`.
pub(super) fn place_of_neighbour(
    domains: &Domains,
    source: NodeId,
    frame: &NeighbourFrame,
) -> Option<DomainPlace> {
    let asks = frame.kind == NeighbourKind::Solicitation;
    let target = if asks { frame.asked } else { frame.asker };
    domains.place_within(frame.asker, target, (source != frame.asker).then_some(source))
}

/// A bridge learns where the sender is, and forwards a frame to its target, or floods it. `port` leads to the target at the
/// beginning.
fn bridge<P: Profile>(
    domains: &Domains,
    table: &mut PlaneState,
    (arrival, port): (&Arrival, u16),
    (sender, place): (NodeId, &DomainPlace),
    scene: &mut Scene<'_, P>,
) -> Verdict {
    let far = &arrival.far;
    let seen = ForwardedFrame {
        now: arrival.key.time,
        source: sender,
        destination: place.target,
        ingress: far.number,
        has_source_mac: true,
        route: Some(port),
        is_last_hop: false,
        was_flooded: false,
        is_lossless: false,
        answers: false,
    };
    match table.forward(&scene.sight.plan.known_hosts, &seen) {
        Decision::AsRouted => Verdict::Redirect(port),
        Decision::By(port) => Verdict::Redirect(port),
        Decision::Drop(why) => Verdict::Drop(why.into()),
        Decision::Flood => flood(domains, far, place, scene),
    }
}

/// A bridge sends a frame by all ports of its domain but that where it came in.
fn flood<P: Profile>(
    domains: &Domains,
    far: &FarEnd,
    place: &DomainPlace,
    scene: &mut Scene<'_, P>,
) -> Verdict {
    let adjacency = &scene.sight.layout.adjacency;
    let ports = domains.flooded_ports(far.node, far.number, place, adjacency);
    if ports.is_empty() {
        // A copy ends at a bridge that is a leaf of the tree.
        return Verdict::Drop(DropCause::Filtered);
    }
    scene.frames.totals.layer2.floods += 1;
    scene.frames.totals.layer2.flooded_frames += ports.len() as u64;
    Verdict::Replicate(ports)
}

/// What the way of a frame follows from.
pub(super) fn frame_of<P: Profile>(
    plan: &Plan,
    frames: &Frames<'_, P>,
    id: PacketId,
    packet: &Packet<PacketOf<P>>,
) -> DomainFrame {
    let crossed = frames.side.notes.as_ref().map_or(0, |notes| notes.routers_crossed(id));
    let is_rdma = matches!(packet.body, Body::Rdma(_));
    let (source, destination) = (packet.source, packet.destination);
    let is_ip = !(is_rdma && plan.roce.is_v1(source));
    DomainFrame { source, destination, crossed, is_ip, hash: packet.flow_hash }
}

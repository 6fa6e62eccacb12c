//! Bridges and routers in one network: each switch forwards a frame by what it is, and drops what it has no way for.

use std::sync::Arc;

use rocelab_fabric::{
    DomainForwarding, DomainFrame, Domains, ForwardedFrame, Forwarding, ForwardingPlane,
    MacEntries, NodeId, PacketId, PlaneState,
};
use rocelab_state::{Result, State as _};
use rocelab_wire::Encapsulation;

use super::feature::{Arrival, Feature, Frames, Scene, SetUp, StateOf, Verdict};
use super::node::Role;
use super::packet::{Body, Packet, PacketOf};
use super::saved_packets::SavedPackets;
use crate::Plan;
use crate::profile::Profile;
use crate::record::DropCause;

/// The domains of the network, and what its bridges have learnt. How many routers a frame has crossed is noted, and saved,
/// beside it.
#[derive(Debug)]
pub(super) struct InDomains {
    domains: Arc<Domains>,
    /// By place among the switches: the MAC table; none where every bridge knows all.
    tables: Vec<PlaneState>,
}

impl<P: Profile> Feature<P> for InDomains {
    fn set_up(network: &mut SetUp<'_, P>) -> Option<Box<Self>> {
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

    fn judge(&mut self, arrival: &Arrival, scene: &mut Scene<'_, P>) -> Verdict {
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
        let frame = frame_of(scene.sight.plan, &scene.frames, id, &packet);
        match self.domains.forward(far.node, far.number, &frame) {
            DomainForwarding::Bridge(port) => match self.tables.get_mut(switch as usize) {
                None => Verdict::Redirect(port),
                Some(table) => bridge(&self.domains, table, (arrival, port), &frame, scene),
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

/// A bridge learns where the sender is, and forwards a frame to its target, or floods it. `port` leads to the target at the
/// beginning.
fn bridge<P: Profile>(
    domains: &Domains,
    table: &mut PlaneState,
    (arrival, port): (&Arrival, u16),
    frame: &DomainFrame,
    scene: &mut Scene<'_, P>,
) -> Verdict {
    let far = &arrival.far;
    let Some(place) = domains.place(frame) else { return Verdict::Drop(DropCause::NoRoute) };
    let seen = ForwardedFrame {
        now: arrival.key.time,
        source: place.sender.unwrap_or(frame.source),
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
        Forwarding::AsRouted => Verdict::Redirect(port),
        Forwarding::By(port) => Verdict::Redirect(port),
        Forwarding::Drop(why) => Verdict::Drop(why.into()),
        Forwarding::Flood => {
            let adjacency = &scene.sight.layout.adjacency;
            let ports = domains.flooded_ports(far.node, far.number, &place, adjacency);
            if ports.is_empty() {
                // A copy ends at a bridge that is a leaf of the tree.
                return Verdict::Drop(DropCause::Filtered);
            }
            scene.frames.totals.layer2.floods += 1;
            scene.frames.totals.layer2.flooded_frames += ports.len() as u64;
            Verdict::Replicate(ports)
        }
    }
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
    DomainFrame { source, destination, crossed, is_ip: !(is_rdma && plan.roce.is_v1(source)) }
}

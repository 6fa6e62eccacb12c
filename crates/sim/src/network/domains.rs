//! Bridges and routers in one network: each switch forwards a frame by what it is, and drops what it has no way for.

use std::sync::Arc;

use rocelab_fabric::{DomainForwarding, DomainFrame, Domains, PacketId};

use super::feature::{Arrival, Feature, Frames, Scene, SetUp, Verdict};
use super::node::Role;
use super::packet::{Body, Packet, PacketOf};
use crate::Plan;
use crate::profile::Profile;
use crate::record::DropCause;

/// The domains of the network. How many routers a frame has crossed is noted, and saved, beside it.
#[derive(Debug)]
pub(super) struct InDomains(Arc<Domains>);

impl<P: Profile> Feature<P> for InDomains {
    fn set_up(network: &mut SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        let domains = Arc::clone(plan.roce.domains.as_ref()?);
        let has_both = !plan.roce.v1_hosts.is_empty();
        network.look_at_arrivals(|_, far| has_both || matches!(far.role, Role::Switch(_)));
        let notes = network.side.notes.get_or_insert_default();
        notes.limit_hops(plan.roce.hop_limit, true);
        Some(Box::new(Self(domains)))
    }

    fn judge(&mut self, arrival: &Arrival, scene: &mut Scene<'_, P>) -> Verdict {
        let (id, far) = (arrival.id, &arrival.far);
        let packet = *scene.frames.get(id);
        if matches!(packet.body, Body::Control(_)) {
            return Verdict::Continue;
        }
        let roce = &scene.sight.plan.roce;
        if !matches!(far.role, Role::Switch(_)) {
            let versions = [packet.source, packet.destination];
            let [theirs, own] = versions.map(|host| roce.v1_hosts.contains(&host));
            let is_rdma = matches!(packet.body, Body::Rdma(_));
            // Its queue pairs have GIDs of the other version.
            let is_wrong = is_rdma && theirs != own && packet.destination == far.node;
            return if is_wrong { Verdict::Drop(DropCause::WrongGid) } else { Verdict::Continue };
        }
        let frame = frame_of(scene.sight.plan, &scene.frames, id, &packet);
        match self.0.forward(far.node, &frame) {
            DomainForwarding::Bridge(port) => Verdict::Redirect(port),
            DomainForwarding::Route(port) => {
                if scene.frames.side.expires(id, &packet) {
                    return Verdict::Drop(DropCause::TtlExpired);
                }
                Verdict::Redirect(port)
            }
            DomainForwarding::NotRoutable => Verdict::Drop(DropCause::NotRoutable),
            DomainForwarding::NoRoute => Verdict::Drop(DropCause::NoRoute),
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

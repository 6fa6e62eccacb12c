//! P_Keys and Q_Keys: what a NIC drops because it is not for its queue pair.

use super::feature::{Arrival, Feature, Scene, SetUp, Verdict};
use super::node::Role;
use super::packet::{Body, PacketOf};
use crate::plan::{Pings, p_keys_match};
use crate::profile::roce::GSI_QPN;
use crate::profile::{HostPacket, Profile};
use crate::record::DropCause;

/// Hosts look at keys, in a network where they may differ.
#[derive(Debug)]
pub(super) struct Keys;

impl<P: Profile> Feature<P> for Keys {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        if !network.plan.keys_may_differ() {
            return None;
        }
        let plan = network.plan.clone();
        network.look_at_arrivals(|_, far| plan.topology.is_host(far.node));
        Some(Box::new(Self))
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        if !matches!(arrival.far.role, Role::Host(_)) {
            return Verdict::Continue;
        }
        let packet = scene.frames.get(arrival.id);
        let Body::Rdma(body) = &packet.body else { return Verdict::Continue };
        let Some(rdma) = PacketOf::<P>::as_rdma(body) else { return Verdict::Continue };
        if rdma.cnm().is_some() || packet.destination != arrival.far.node {
            return Verdict::Continue; // No RDMA packet, or not for this host.
        }
        let plan = scene.sight.plan;
        let (source, destination) = (packet.source, packet.destination);
        // Those for management and for pings are in the default partition; pings know their Q_Key.
        let is_default = rdma.dest_qp() == GSI_QPN || Pings(plan).has(destination, rdma.dest_qp());
        let queue_pairs = if is_default {
            None
        } else {
            let owners = scene.owners;
            let known = owners.and_then(|owners| owners.place(plan, destination, rdma.dest_qp()));
            if known.is_none() {
                return Verdict::Continue; // The NIC counts it.
            }
            known
        };
        let p_key = |host| match queue_pairs {
            Some(place) => plan.p_key(place, host),
            None => plan.roce.partitions.table(host)[0],
        };
        if !p_keys_match(p_key(source), p_key(destination)) {
            return Verdict::Drop(DropCause::PKey);
        }
        let expected = queue_pairs.map(|place| plan.keys(place).q_key);
        if rdma.deth().is_some_and(|deth| expected.is_some_and(|q_key| q_key != deth.q_key)) {
            return Verdict::Drop(DropCause::QKey);
        }
        Verdict::Continue
    }
}

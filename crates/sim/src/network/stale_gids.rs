//! Hosts that others send to by a GID which is not theirs: what is sent so is lost where nobody has that address.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_wire::Encapsulation;

use super::feature::{Arrival, Feature, Scene, SetUp, Verdict};
use super::node::Role;
use super::packet::Body;
use crate::profile::Profile;
use crate::record::DropCause;

/// Such hosts, each with the node where frames for it end. The GRH of RoCE v1 is looked at by the host itself, whose MAC
/// address the frame has. An IP address is one that the last router asks for by ARP, and nobody answers.
#[derive(Debug)]
pub(super) struct StaleGids(BTreeMap<NodeId, NodeId>);

impl<P: Profile> Feature<P> for StaleGids {
    fn set_up(network: &mut SetUp<'_, P>) -> Option<Box<Self>> {
        let roce = &network.plan.roce;
        let stale = roce.addresses.all_given().filter(|(_, given)| given.stale_gid.is_some());
        let end = |host: NodeId| match roce.encapsulation {
            Encapsulation::V1 => host,
            _ => network.layout.adjacency.ports_of(host).first().map_or(host, |far| far.node),
        };
        let ends: BTreeMap<_, _> = stale.map(|(host, _)| (host, end(host))).collect();
        if ends.is_empty() {
            return None;
        }
        network.look_at_arrivals(|_, far| ends.values().any(|&end| end == far.node));
        Some(Box::new(Self(ends)))
    }

    fn judge(&mut self, arrival: &Arrival, scene: &mut Scene<'_, P>) -> Verdict {
        let packet = scene.frames.get(arrival.id);
        let is_rdma = matches!(packet.body, Body::Rdma(_));
        if !is_rdma || self.0.get(&packet.destination) != Some(&arrival.far.node) {
            return Verdict::Continue;
        }
        Verdict::Drop(match arrival.far.role {
            Role::Host(_) => DropCause::WrongGid,
            _ => DropCause::IncompleteArp,
        })
    }
}

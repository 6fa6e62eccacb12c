//! What nodes look at in the network header of each frame: the hop limit (TTL in IPv4), where static routes may lead in a circle;
//! and GIDs that nobody has: what others send to such a one is lost where it is looked up.
//!
//! Frames along shortest paths always arrive, which plans check, so nobody counts there. With static
//! routes every arrival at a router is looked at: a router takes one off, and drops what then has
//! none left (RFC 1812, section 5.3.1; RFC 8200, section 3).
//!
//! Captures show it. Where routes stay the shortest paths it follows from the place of a frame. Where they
//! are made anew while frames are under way, it is counted for captures, and nothing is dropped for it.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_wire::Encapsulation;

use super::feature::{Arrival, Feature, Scene, SetUp, Verdict};
use super::node::Role;
use super::packet::Body;
use crate::FailureChange;
use crate::profile::Profile;
use crate::record::DropCause;

/// Routers take one off the hop limits of frames. How many each has crossed is noted, and saved, beside it.
#[derive(Debug)]
pub(super) struct HopLimits;

impl<P: Profile> Feature<P> for HopLimits {
    /// Hops are counted if there are routers, and static routes, or captures of routes that change or of ways to several
    /// hosts.
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan;
        let is_routed = plan.roce.encapsulation != Encapsulation::V1;
        let by_hand = !plan.static_routes.is_empty();
        let steps = &plan.failures.steps;
        let reroutes = || steps.iter().any(|step| step.change == FailureChange::Reroute);
        let is_layered = plan.roce.domains.is_some();
        let is_counted = || reroutes() || plan.roce.multicast.is_some();
        if is_layered || !is_routed || !(by_hand || plan.capture.is_some() && is_counted()) {
            return None;
        }
        network.look_at_arrivals(|_, far| matches!(far.role, Role::Switch(_)));
        let notes = network.side.notes.get_or_insert_default();
        notes.limit_hops(plan.roce.hop_limit, by_hand);
        Some(Box::new(Self))
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        let packet = scene.frames.pool.get(arrival.id);
        let is_router = matches!(arrival.far.role, Role::Switch(_));
        if is_router && scene.frames.side.expires(arrival.id, packet) {
            return Verdict::Drop(DropCause::TtlExpired);
        }
        Verdict::Continue
    }
}

/// Hosts that others send to by a GID which is not theirs, each with the node where frames for it end. The GRH of RoCE v1 is looked at by the host itself, whose MAC
/// address the frame has. An IP address is one that the last router asks for by ARP, and nobody answers.
#[derive(Debug)]
pub(super) struct StaleGids(BTreeMap<NodeId, NodeId>);

impl<P: Profile> Feature<P> for StaleGids {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let roce = &network.plan.roce;
        let stale = roce.addresses.all_given().filter(|(_, given)| given.stale_gid.is_some());
        let topology = &network.plan.topology;
        let end = |host: NodeId| match roce.encapsulation_of(host) {
            Encapsulation::V1 => host,
            _ => {
                // Without a router it is the host itself that has no such address.
                let far = network.layout.adjacency.ports_of(host).first();
                far.map_or(host, |far| if topology.is_switch(far.node) { far.node } else { host })
            }
        };
        let ends: BTreeMap<_, _> = stale.map(|(host, _)| (host, end(host))).collect();
        if ends.is_empty() {
            return None;
        }
        network.look_at_arrivals(|_, far| ends.values().any(|&end| end == far.node));
        Some(Box::new(Self(ends)))
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
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

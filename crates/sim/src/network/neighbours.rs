//! Routers that answer hosts which ask for their MAC addresses (ARP, Neighbour Discovery).
//!
//! A question for a router is addressed to the host itself, so that routes lead the answer back. It leaves by the port that the
//! question came in by. A router takes no longer for it than for any other frame.

use super::feature::{Arrival, Feature, Scene, SetUp, Verdict};
use super::node::Role;
use super::packet::Body;
use crate::profile::{NeighbourFrame, NeighbourKind, Profile, StackFrame};

/// Routers at the links of hosts, in a network whose hosts ask for addresses. Bridges and routers in one network have a
/// [feature](super::forwarding) of their own.
#[derive(Debug)]
pub(super) struct Neighbours;

impl<P: Profile> Feature<P> for Neighbours {
    fn set_up(network: &mut SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = network.plan.clone();
        if plan.roce.neighbours.is_none() || plan.roce.domains.is_some() {
            return None;
        }
        network.look_at_arrivals(|_, far| plan.topology.is_switch(far.node));
        Some(Box::new(Self))
    }

    fn judge(&mut self, arrival: &Arrival, scene: &mut Scene<'_, P>) -> Verdict {
        let is_switch = matches!(arrival.far.role, Role::Switch(_));
        if is_switch && scene.frames.get(arrival.id).body.stays_in_domain() {
            return answer(arrival, scene);
        }
        Verdict::Continue
    }
}

/// A router answers a question, for its own address or in place of a host behind it: the frame goes back as the answer.
pub(super) fn answer<P: Profile>(arrival: &Arrival, scene: &mut Scene<'_, P>) -> Verdict {
    let packet = scene.frames.pool.get_mut(arrival.id);
    let Body::Stack(StackFrame::Neighbour(frame)) = &mut packet.body else {
        return Verdict::Continue;
    };
    if frame.kind != NeighbourKind::Solicitation {
        return Verdict::Continue;
    }
    let asker = frame.asker;
    *frame = NeighbourFrame { kind: NeighbourKind::Advertisement, to_all: false, ..*frame };
    (packet.source, packet.destination) = (arrival.far.node, asker);
    scene.frames.totals.neighbours.advertisements += 1;
    Verdict::Redirect(arrival.far.number)
}

//! The ports by which a switch may send packets of a flow.

use rocelab_fabric::{LoadBalancing, NodeId, Routes};

use crate::Plan;

/// The ports by which `switch` sends packets that go to a host with a hash of their addresses and entropy: one with
/// ECMP, those of all shortest paths with any other load balancing, none if there is no way.
pub(super) fn ports_towards<'a>(
    plan: &Plan,
    routes: &'a Routes,
    switch: NodeId,
    (to, hash): (NodeId, u32),
) -> impl Iterator<Item = u16> + use<'a> {
    let is_by_hash = plan.load_balancing_of(switch) == LoadBalancing::Ecmp;
    let by_hash = if is_by_hash { routes.egress(switch, to, hash) } else { None };
    let all = if is_by_hash { &[] } else { routes.next_hops(switch, to) };
    by_hash.into_iter().chain(all.iter().copied())
}

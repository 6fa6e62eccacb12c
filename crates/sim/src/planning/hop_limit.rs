//! Whether frames live long enough.

use rocelab_fabric::{NodeKind, Topology};
use rocelab_wire::Encapsulation;

use super::static_routes::Forwarding;
use crate::plan::{FlowPlan, RocePlan};
use crate::scenario::{Fault, ensure};

/// In v2 every switch is a router that takes one off the hop limit and drops what has none left,
/// so that a frame crosses fewer routers than its hop limit says. Static routes may lead in a circle,
/// which is no mistake.
pub(super) fn check(
    roce: &RocePlan,
    forwarding: &Forwarding<'_>,
    flows: &[FlowPlan],
) -> Result<(), Fault> {
    let Forwarding { topology, by_hand, .. } = forwarding;
    let never_reached = by_hand.is_empty() && most_routers(topology) < roce.hop_limit.into();
    if roce.encapsulation == Encapsulation::V1 || never_reached {
        return Ok(());
    }
    let Some(routes) = forwarding.routes() else { return Ok(()) };
    for flow in flows {
        let links = routes.path_length(flow.source, flow.destination).unwrap_or(0);
        let routers = links.saturating_sub(1);
        ensure(routers < usize::from(roce.hop_limit), || {
            let name = |node: u32| &topology.nodes[node as usize].name;
            let (source, destination) = (name(flow.source), name(flow.destination));
            let message =
                format!("frames from `{source}` to `{destination}` cross {routers} routers");
            Fault::at("roce.hop_limit", message)
                .value(roce.hop_limit)
                .help(format!("give at least {}", routers + 1))
        })?;
    }
    Ok(())
}

/// More routers than this are on no shortest path: the way leads up through each tier once and down
/// once, or where tiers are not known, at most through every switch.
fn most_routers(topology: &Topology) -> usize {
    let (mut switches, mut highest, mut known) = (0, 0, true);
    for node in &topology.nodes {
        if let NodeKind::Switch { tier } = node.kind {
            switches += 1;
            highest = highest.max(usize::from(tier));
            known &= tier > 0;
        }
    }
    if known { switches.min(2 * highest) } else { switches }
}

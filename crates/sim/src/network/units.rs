//! The units of a network, each of which [runs its own window](rocelab_engine::Windows): a node, or a switch and
//! its hosts.
//!
//! Nodes of different units affect each other by frames only, as those of different parts do; but
//! units share the memory of their part, so a frame crosses from one to another without being moved.

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Partitioning;
use rocelab_units::Duration;

use crate::Plan;

/// Links of hosts as long as this let each host be a unit of its own: so much happens there in a window that it pays
/// to have the state of one node alone in the first cache. Over shorter links windows would be too short.
pub(super) const LONG: Duration = Duration::from_ns(500);

/// The least number of hosts that are units of their own. The caches hold all of a smaller network.
pub(super) const MANY: usize = 128;

/// Windows shorter than this have too few events each to pay, but in a network of more than [`FEW_PORTS`] ports, whose
/// state no cache holds.
pub(super) const SHORT: Duration = Duration::from_ns(100);
pub(super) const FEW_PORTS: usize = 16_000;

/// The units of a plan's topology. There is only one where the order of events depends on that.
pub(super) fn units_of(plan: &Plan) -> Partitioning {
    let Plan { topology, .. } = plan;
    if plan.profile.hpcc_ns3().is_some() {
        return Partitioning::whole(topology);
    }
    let adjacency = topology.adjacency();
    let is_long = |host: NodeId| {
        let mut links = adjacency.ports_of(host).iter().map(|port| port.link as usize);
        links.all(|link| topology.links[link].delay >= LONG)
    };
    let mut units: Vec<NodeId> = (0..).take(topology.nodes.len()).collect();
    if topology.host_count() < MANY || !topology.hosts().all(is_long) {
        for host in topology.hosts() {
            if let Some(port) = adjacency.ports_of(host).first() {
                units[host as usize] = port.node;
            }
        }
    }
    Partitioning::by_parts(&units)
}

//! The clusters of a network, which [take turns](rocelab_engine::Clusters) so that each finds its state
//! in the cache.
//!
//! Nodes of different clusters affect each other by frames only, as those of different parts do; but
//! clusters share the memory of their part, so a frame crosses from one to another without being moved.

use rocelab_engine::Clusters;
use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Partitioning;
use rocelab_units::Duration;

use super::{Event, Network, Setting};
use crate::Plan;
use crate::profile::{FlowStarts, Profile};

/// The cluster of a frame's receiver is the sender's, or there is only one.
pub(super) const SAME_CLUSTER: u16 = u16::MAX;

/// Ports of a cluster, about: with their packets and hosts, as many as the caches of a core hold. Measured with
/// 128 to 2,000, on a processor with 1 MiB a core.
const PORTS_A_CLUSTER: usize = 512;

/// Clusters of a network at the most.
const MOST_CLUSTERS: usize = 4_096;

/// The clusters of a plan's topology. There is only one where the order of events depends on that.
pub(super) fn clusters_of(plan: &Plan) -> Partitioning {
    if plan.profile.hpcc_ns3().is_some() {
        return Partitioning::whole(&plan.topology);
    }
    let count = (plan.topology.links.len() * 2 / PORTS_A_CLUSTER).min(MOST_CLUSTERS);
    Partitioning::balanced(&plan.topology, u32::try_from(count).unwrap_or(1))
}

impl<P: Profile> Network<P> {
    /// Puts its nodes into clusters: those of the whole network, as far as they are in this part.
    pub(crate) fn cluster(&mut self, setting: &Setting<P>) -> Clusters<Event> {
        let cut = self.part.share_cut();
        match cut.clusters() {
            Some(asked) => self.cluster_by(asked, setting).always(),
            None => self.cluster_by(setting.clusters(), setting),
        }
    }

    fn cluster_by(&mut self, all: &Partitioning, setting: &Setting<P>) -> Clusters<Event> {
        let own = |node: &NodeId| self.part.has(*node);
        let nodes = || (0u32..).take(self.nodes.len());
        let mut here: Vec<u32> = nodes().filter(own).map(|node| all.part_of(node)).collect();
        here.sort_unstable();
        here.dedup();
        if here.len() < 2 {
            return Clusters::new(1, Duration::ZERO);
        }
        let number = |node: NodeId| {
            let place = here.binary_search(&all.part_of(node)).ok();
            place.and_then(|place| u16::try_from(place).ok()).unwrap_or(SAME_CLUSTER)
        };
        let clusters: Vec<u16> = nodes().map(number).collect();
        for port in &mut self.ports {
            let (from, to) = (port.node, port.far.node);
            let is_same = self.part.has(from) && clusters[from as usize] == clusters[to as usize];
            if self.part.has(to) && !is_same {
                port.far.beyond = clusters[to as usize];
            }
        }
        self.clusters = clusters;
        let count = u16::try_from(here.len()).unwrap_or(1);
        Clusters::new(count, self.lookahead_of_clusters(setting))
    }

    /// The least time from the start of a frame in one cluster to its arrival in another, or in another part:
    /// no window is longer than that between parts.
    fn lookahead_of_clusters(&self, setting: &Setting<P>) -> Duration {
        let cluster = |node: NodeId| self.part.has(node).then(|| self.clusters[node as usize]);
        let links = (0u32..).zip(&self.plan.topology.links);
        let crossing = links.filter(|(_, link)| cluster(link.a) != cluster(link.b));
        setting.lookahead(crossing.map(|(link, _)| link))
    }

    /// The node at which an event happens, if it happens at one.
    pub(crate) fn scene_of(&self, event: &Event) -> Option<NodeId> {
        let host = |host: u32| self.hosts[host as usize].node;
        match *event {
            Event::Arrive { port, .. } | Event::LineDue { port } | Event::HoldDue { port } => {
                Some(self.ports[port as usize].far.node)
            }
            Event::PortFree { port } | Event::PortTimeout { port } => {
                Some(self.ports[port as usize].node)
            }
            Event::NicTimeout { host: due } => Some(host(due)),
            Event::Handled { host: busy } => Some(host(busy)),
            Event::FlowStart { ticket } => self.starts.host_of(&self.plan, ticket),
            Event::Sample { sampler } => Some(self.sampling.samplers[sampler as usize].node),
            Event::LinkFailure { .. } | Event::Failure { .. } | Event::Watchdog => None,
        }
    }
}

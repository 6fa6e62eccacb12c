//! The paths of flows, where they follow from the plan alone.

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{HpccNs3Routes, LoadBalancing, NodeId};

use crate::plan::{FlowPlan, Plan, ProfilePlan};
use crate::profile::Routing;

/// A node that forwards a flow's data, and the port by which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathHop {
    pub(super) node: NodeId,
    pub(super) port: u16,
    /// Whether a hash chose the port among several.
    pub(super) is_chosen: bool,
}

/// Finds the paths that the data of flows take.
///
/// A path is known where it is the same for the whole run: switches choose among equal paths by a hash, no link
/// fails, nothing is flooded, all packets of a queue pair have the same entropy, and no group is sent to.
#[derive(Debug)]
pub(super) struct KnownPaths<'a> {
    plan: &'a Plan,
    adjacency: Adjacency,
    routing: Box<dyn Routing>,
}

impl<'a> KnownPaths<'a> {
    /// `None` if no flow's path is known.
    pub(super) fn new(plan: &'a Plan) -> Option<Self> {
        let may_change = !plan.failures.steps.is_empty() || plan.link_failure().is_some();
        if may_change || !plan.all_switches_follow_routes() || plan.roce.domains.is_some() {
            return None;
        }
        let routing: Box<dyn Routing> = match plan.profile {
            ProfilePlan::Roce => Box::new(plan.routes(&plan.active_links).ok()?),
            ProfilePlan::HpccNs3(_) => {
                Box::new(HpccNs3Routes::over(&plan.topology, &plan.active_links).ok()?)
            }
        };
        Some(Self { plan, adjacency: plan.topology.adjacency(), routing })
    }

    /// The hops of a flow's data from the host that sends them; `None` if they are not known.
    pub(super) fn of(&self, flow: &FlowPlan) -> Option<Vec<PathHop>> {
        let hash = self.hash(flow)?;
        let (sender, receiver) = match flow.receiver() {
            receiver if receiver == flow.source => (flow.destination, receiver),
            receiver => (flow.source, receiver),
        };
        let mut hops = vec![PathHop { node: sender, port: 0, is_chosen: false }];
        let mut node = self.neighbour(sender, 0)?;
        while node != receiver {
            let is_known = self.plan.topology.is_switch(node)
                && self.plan.load_balancing_of(node) == LoadBalancing::Ecmp
                && hops.len() <= self.plan.topology.nodes.len();
            let port = self.routing.egress(node, sender, receiver, hash).filter(|_| is_known)?;
            let is_chosen = self.routing.next_hops(node, receiver).len() > 1;
            hops.push(PathHop { node, port, is_chosen });
            node = self.neighbour(node, port)?;
        }
        Some(hops)
    }

    /// The node at the other end of a port.
    pub(super) fn neighbour(&self, node: NodeId, port: u16) -> Option<NodeId> {
        Some(self.adjacency.ports_of(node).get(usize::from(port))?.node)
    }

    /// Whether a port leads to a node that other ports lead to as well.
    pub(super) fn is_parallel(&self, hop: &PathHop) -> bool {
        let ports = self.adjacency.ports_of(hop.node);
        let far = self.neighbour(hop.node, hop.port);
        ports.iter().filter(|port| Some(port.node) == far).count() > 1
    }

    /// The number of a port among those of all nodes.
    pub(super) fn place(&self, hop: &PathHop) -> usize {
        self.adjacency.first_port_index(hop.node) + usize::from(hop.port)
    }

    /// What equal-cost multipath goes by for the flow's data, if that is one number.
    fn hash(&self, flow: &FlowPlan) -> Option<u32> {
        let plan = self.plan;
        if flow.is_tcp() {
            return Some(plan.segment_hash(flow, true));
        }
        if plan.profile.hpcc_ns3().is_some() {
            return Some(flow.entropy);
        }
        let queue_pair = (flow.source, flow.source_qpn);
        let is_to_group = plan.senders_to_groups().any(|sender| sender == queue_pair);
        let numbers = plan.common_queue_pair().path_entropy.numbers();
        let sender = if flow.receiver() == flow.source { flow.destination } else { flow.source };
        (numbers == 1 && !is_to_group)
            .then(|| plan.flow_hash(sender, flow.receiver(), flow.entropy))
    }
}

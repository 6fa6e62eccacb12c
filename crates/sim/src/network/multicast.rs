//! Frames for multicast groups: switches copy them along a tree, and the NICs of members hand them to the queue pairs that are
//! attached to the group.
//!
//! On its way a frame is one for the member that stands for all ([`MulticastSending`](crate::MulticastSending)), to the queue pair number of
//! all groups. Its hash is the number of the sending, which its tree and its group follow from.

use std::sync::Arc;

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{DistributionTree, NodeId};
use rocelab_wire::MULTICAST_QPN;

use super::feature::{Arrival, Feature, Scene, SetUp, Sight, Verdict};
use super::node::Role;
use super::packet::{Body, Packet};
use crate::plan::{MulticastPlan, MulticastSending, Plan};
use crate::profile::{HostPacket, Profile};
use crate::record::DropCause;

/// The trees of all sendings.
#[derive(Debug)]
pub(super) struct Multicast {
    plan: Arc<MulticastPlan>,
    /// By sending: over the links that routes were made over the last time.
    trees: Vec<DistributionTree>,
    /// Steps of failures that had been taken when the trees were made.
    steps: usize,
}

impl<P: Profile> Feature<P> for Multicast {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = Arc::clone(network.plan.roce.multicast.as_ref()?);
        network.look_at_arrivals(|_, _| true);
        // The trees are made as the first frame comes: it may be after a checkpoint.
        Some(Box::new(Self { plan, trees: Vec::new(), steps: 0 }))
    }

    fn judge(&mut self, arrival: &Arrival, scene: Scene<'_, P>) -> Verdict {
        let Arrival { far, id, .. } = *arrival;
        let packet = scene.frames.pool.get_mut(id);
        if !is_to_group(packet) {
            return Verdict::Continue;
        }
        let sending = packet.flow_hash;
        match far.role {
            Role::Switch(_) => {
                self.make_trees(&scene.sight);
                let ports = self.trees[sending as usize].ports_of(far.node).iter().copied();
                let ports: Vec<_> = ports.filter(|&port| port != far.number).collect();
                match ports[..] {
                    [] => Verdict::Drop(self.no_way(&scene.sight)),
                    [port] => Verdict::Redirect(port),
                    _ => {
                        scene.frames.totals.multicast_copies += ports.len() as u64 - 1;
                        Verdict::Replicate(ports)
                    }
                }
            }
            Role::Host(_) => match scene.sight.plan.flow_to_member(sending, far.node) {
                Some(flow) => {
                    packet.destination = far.node;
                    if let Body::Rdma(body) = &mut packet.body {
                        body.deliver_to(flow.destination_qpn);
                    }
                    Verdict::Continue
                }
                None => Verdict::Drop(DropCause::NotInGroup),
            },
            Role::Elsewhere(_) => Verdict::Continue,
        }
    }
}

/// Whether a frame is for a multicast group, and not for one host.
pub(super) fn is_to_group<R: HostPacket>(packet: &Packet<R>) -> bool {
    let Body::Rdma(body) = &packet.body else { return false };
    body.as_rdma().is_some_and(|rdma| rdma.dest_qp() == MULTICAST_QPN && rdma.cnm().is_none())
}

impl Multicast {
    /// The trees over the links of now.
    fn make_trees<P: Profile>(&mut self, sight: &Sight<'_, P>) {
        let outages = &sight.failures.outages;
        if self.trees.len() == self.plan.sendings.len() && self.steps == outages.steps {
            return;
        }
        self.steps = outages.steps;
        let links = outages.routed_over.as_deref().unwrap_or(&sight.plan.active_links);
        let adjacency = &sight.layout.adjacency;
        let tree = |sending: &MulticastSending| {
            let hosts = self.reached(sight.plan, sending);
            let ends = (sending.source, &hosts[..]);
            DistributionTree::new(&sight.plan.topology, adjacency, links, ends, sending.group)
        };
        self.trees = self.plan.sendings.iter().map(tree).collect();
    }

    /// The hosts that frames of a sending are brought to.
    fn reached(&self, plan: &Plan, sending: &MulticastSending) -> Vec<NodeId> {
        if !self.plan.is_flooded {
            return self.plan.group_of(sending).members.clone();
        }
        let vlan = |host: NodeId| plan.roce.vlans.get(host as usize);
        plan.topology.hosts().filter(|&host| vlan(host) == vlan(sending.source)).collect()
    }

    /// Whether a frame of a sending comes to a member from a node on, by one of its ports or by all of its tree.
    pub(super) fn leads_to(
        &self,
        sending: u32,
        (node, egress): (NodeId, Option<u16>),
        member: NodeId,
        adjacency: &Adjacency,
    ) -> bool {
        let far = |node: NodeId, port: u16| adjacency.ports_of(node).get(usize::from(port));
        let tree = &self.trees[sending as usize];
        let mut open: Vec<NodeId> = match egress {
            Some(port) => far(node, port).map(|far| far.node).into_iter().collect(),
            None => vec![node],
        };
        while let Some(node) = open.pop() {
            if node == member {
                return true;
            }
            open.extend(tree.ports_of(node).iter().filter_map(|&port| Some(far(node, port)?.node)));
        }
        false
    }

    /// Why a switch drops a frame that it sends nowhere.
    fn no_way<P: Profile>(&self, sight: &Sight<'_, P>) -> DropCause {
        if sight.failures.outages.lacks_links { DropCause::LinkDown } else { DropCause::NoRoute }
    }
}

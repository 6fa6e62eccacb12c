//! Frames for multicast groups: switches copy them along a tree, and the NICs of members hand them to the queue pairs that are
//! attached to the group.
//!
//! On its way a frame is one for the member that stands for all ([`MulticastSending`](crate::MulticastSending)), to the queue pair number of
//! all groups. Its hash is the number of the sending, which its tree and its group follow from.

use std::collections::BTreeMap;
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
    /// Those links.
    links: Vec<bool>,
    /// Steps of failures that had been taken when they were looked at.
    steps: usize,
}

impl<P: Profile> Feature<P> for Multicast {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let plan = Arc::clone(network.plan.roce.multicast.as_ref()?);
        network.look_at_arrivals(|_, _| true);
        // The trees are made as the first frame comes: it may be after a checkpoint.
        Some(Box::new(Self { plan, trees: Vec::new(), links: Vec::new(), steps: 0 }))
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
                let tree = self.trees.get(sending as usize);
                let ports = tree.map_or(&[][..], |tree| tree.ports_of(far.node));
                let mut ports = ports.iter().copied().filter(|&port| port != far.number);
                match (ports.next(), ports.next()) {
                    (None, _) => Verdict::Drop(no_way(&scene.sight)),
                    (Some(port), None) => Verdict::Redirect(port),
                    (Some(first), Some(second)) => {
                        let ports: Vec<_> = [first, second].into_iter().chain(ports).collect();
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

/// Whether a frame is for a multicast group that a host is no member of.
pub(super) fn is_stray<R: HostPacket>(plan: &Plan, host: NodeId, packet: &Packet<R>) -> bool {
    is_to_group(packet) && plan.flow_to_member(packet.flow_hash, host).is_none()
}

impl Multicast {
    /// The trees over the links of now.
    fn make_trees<P: Profile>(&mut self, sight: &Sight<'_, P>) {
        let outages = &sight.failures.outages;
        let is_whole = self.trees.len() == self.plan.sendings.len();
        if is_whole && self.steps == outages.steps {
            return;
        }
        self.steps = outages.steps;
        let links = links_of(sight);
        if !is_whole || self.links != links {
            self.links = links.to_vec();
            let tree = |sending| tree_of(sight.plan, &sight.layout.adjacency, links, sending);
            self.trees = self.plan.sendings.iter().map(tree).collect();
        }
    }
}

/// The links that routes were made over the last time.
fn links_of<'a, P: Profile>(sight: &Sight<'a, P>) -> &'a [bool] {
    sight.failures.outages.routed_over.as_deref().unwrap_or(&sight.plan.active_links)
}

/// The way of a sending's frames over these links.
fn tree_of(
    plan: &Plan,
    adjacency: &Adjacency,
    links: &[bool],
    sending: &MulticastSending,
) -> DistributionTree {
    let hosts = reached(plan, sending);
    let ends = (sending.source, &hosts[..]);
    DistributionTree::new(&plan.topology, adjacency, links, ends, sending.group)
}

/// The hosts that frames of a sending are brought to.
fn reached(plan: &Plan, sending: &MulticastSending) -> Vec<NodeId> {
    match &plan.roce.multicast {
        Some(multicast) if !multicast.is_flooded => multicast.group_of(sending).members.clone(),
        _ => {
            let vlan = |host: NodeId| plan.roce.vlans.get(host as usize);
            plan.topology.hosts().filter(|&host| vlan(host) == vlan(sending.source)).collect()
        }
    }
}

/// Why a switch drops a frame that it sends nowhere: links are down, or were until a while ago, and it has come along
/// another tree.
fn no_way<P: Profile>(sight: &Sight<'_, P>) -> DropCause {
    match sight.failures.outages.routed_over {
        Some(_) => DropCause::LinkDown,
        None => DropCause::NoRoute,
    }
}

/// Where frames for multicast groups come to, for who looks from outside.
#[derive(Debug)]
pub(super) struct Ways<'a, P: Profile> {
    sight: Sight<'a, P>,
    /// By sending: the trees that were asked for.
    trees: BTreeMap<u32, DistributionTree>,
}

impl<'a, P: Profile> Ways<'a, P> {
    /// Those of now.
    pub(super) const fn new(sight: Sight<'a, P>) -> Self {
        Self { sight, trees: BTreeMap::new() }
    }

    /// Whether a frame of a flow's sending comes to the flow's member from a node on, by one of its ports or by all of
    /// its tree. Nothing of a flow to one host.
    pub(super) fn leads_to_member(
        &mut self,
        flow: u32,
        (node, egress): (NodeId, Option<u16>),
    ) -> Option<bool> {
        let sight = self.sight;
        let (number, sending) = sight.plan.roce.multicast.as_ref()?.sending_of(flow)?;
        let member = sight.plan.flows[flow as usize].destination;
        let adjacency = &sight.layout.adjacency;
        let tree = || tree_of(sight.plan, adjacency, links_of(&sight), sending);
        let tree = self.trees.entry(number).or_insert_with(tree);
        let far = |node: NodeId, port: u16| adjacency.ports_of(node).get(usize::from(port));
        // A host has one port.
        let egress = egress.or((node == sending.source).then_some(0));
        let mut open: Vec<NodeId> = match egress {
            Some(port) => far(node, port).map(|far| far.node).into_iter().collect(),
            None => vec![node],
        };
        while let Some(node) = open.pop() {
            if node == member {
                return Some(true);
            }
            open.extend(tree.ports_of(node).iter().filter_map(|&port| Some(far(node, port)?.node)));
        }
        Some(false)
    }
}

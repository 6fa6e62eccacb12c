//! What paths are made of: nodes, links, and the time that frames spend on them.

use std::collections::BTreeMap;

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{NodeId, Topology};
use rocelab_units::Duration;

use super::ways::Step;
use crate::plan::Plan;

/// A topology with what nodes do with frames.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) topology: Topology,
    pub(super) adjacency: Adjacency,
    /// Whether links are of Ethernet.
    is_ethernet: bool,
    /// By node: the time that frames spend in it, and whether they cut through.
    pub(super) latencies: Vec<Duration>,
    pub(super) cuts_through: Vec<bool>,
    /// By node: the place of a switch among the switches, and among those with hosts.
    places: Vec<u32>,
    end_places: Vec<u32>,
    switches: usize,
    /// The places among the switches of those with hosts.
    ends: Vec<u32>,
    /// By place among those with hosts: the first with the same links to the same other switches.
    twins: Vec<NodeId>,
}

/// The place of a switch without hosts among those with hosts.
const NOWHERE: u32 = u32::MAX;

impl Ground {
    pub(super) fn new(plan: &Plan) -> Self {
        let topology = plan.topology.clone();
        let adjacency = topology.adjacency();
        let nodes = || (0u32..).take(topology.nodes.len());
        let has_hosts =
            |node: NodeId| adjacency.ports_of(node).iter().any(|far| topology.is_host(far.node));
        let (mut places, mut end_places) =
            (vec![0; topology.nodes.len()], vec![NOWHERE; topology.nodes.len()]);
        let (mut switches, mut ends) = (0, Vec::new());
        for switch in topology.switches() {
            places[switch as usize] = switches;
            if has_hosts(switch) {
                end_places[switch as usize] = u32::try_from(ends.len()).unwrap_or(NOWHERE);
                ends.push(switches);
            }
            switches += 1;
        }
        let mut ground = Self {
            latencies: nodes().map(|node| plan.latency_of(node)).collect(),
            cuts_through: nodes().map(|node| plan.cuts_through(node)).collect(),
            is_ethernet: plan.infiniband.is_none(),
            topology,
            adjacency,
            places,
            end_places,
            switches: switches as usize,
            ends,
            twins: Vec::new(),
        };
        ground.twins = ground.find_twins(&plan.active_links);
        ground
    }

    fn find_twins(&self, active: &[bool]) -> Vec<NodeId> {
        let mut first = BTreeMap::new();
        let has_hosts = |&switch: &NodeId| self.end_place(switch) != NOWHERE as usize;
        let ends = self.topology.switches().filter(has_hosts);
        ends.map(|switch| *first.entry(self.links_between(switch, active)).or_insert(switch))
            .collect()
    }

    /// All that the ways from and to a switch go by of it: where its active links to other switches lead, in their
    /// order, and the steps there and back.
    fn links_between(&self, switch: NodeId, active: &[bool]) -> Vec<(NodeId, [Step; 2])> {
        let ports = self.adjacency.ports_of(switch).iter();
        let ports = ports.filter(|far| self.topology.is_switch(far.node));
        let ports = ports.filter(|far| active.get(far.link as usize) == Some(&true));
        let steps = |far: Neighbour| {
            let back = Neighbour { node: switch, link: far.link };
            [self.step(switch, far), self.step(far.node, back)]
        };
        ports.map(|&far| (far.node, steps(far))).collect()
    }

    /// The first switch to and from which ways are as those of a switch with hosts, but that each is where the
    /// other one is.
    pub(super) fn twin_of(&self, switch: NodeId) -> NodeId {
        self.twins.get(self.end_place(switch)).copied().unwrap_or(switch)
    }

    /// How many switches there are.
    pub(super) const fn switches(&self) -> usize {
        self.switches
    }

    /// The place of a switch among the switches.
    pub(super) fn place(&self, switch: NodeId) -> usize {
        self.places[switch as usize] as usize
    }

    /// The place of a switch with hosts among those that have any.
    pub(super) fn end_place(&self, switch: NodeId) -> usize {
        self.end_places[switch as usize] as usize
    }

    /// The places among the switches of those with hosts.
    pub(super) fn switches_with_hosts(&self) -> impl Iterator<Item = usize> + '_ {
        self.ends.iter().map(|&place| place as usize)
    }

    /// What a host is connected to.
    pub(super) fn access(&self, host: NodeId) -> Option<Neighbour> {
        self.adjacency.ports_of(host).first().copied()
    }

    /// From a node over a link.
    pub(super) fn step(&self, from: NodeId, to: Neighbour) -> Step {
        let link = &self.topology.links[to.link as usize];
        Step {
            rate: link.rate,
            delay: link.delay + self.latencies[to.node as usize],
            cuts_through: self.cuts_through[from as usize],
            is_ethernet: self.is_ethernet,
        }
    }
}

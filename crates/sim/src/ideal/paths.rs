//! Paths between hosts over the active links: the shortest, or those that static routes make.

use std::collections::{BTreeMap, VecDeque};

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{NodeId, Routes, Topology};
use rocelab_units::Duration;

use super::train::Hop;
use crate::plan::Plan;

/// Shortest paths, with a breadth-first tree over the switches for each switch that was asked for.
#[derive(Debug)]
pub(super) struct ShortestPaths {
    topology: Topology,
    /// Where static routes may lead elsewhere.
    by_hand: Option<Routes>,
    active: Vec<bool>,
    adjacency: Adjacency,
    /// The position of each switch among the switches, by node.
    switch_index: Vec<u32>,
    switches: usize,
    trees: BTreeMap<NodeId, Tree>,
    /// By node: the time that frames spend in it, and whether they cut through.
    latencies: Vec<Duration>,
    cuts_through: Vec<bool>,
}

/// For each switch, the neighbour and link that lead to the root; none at the root itself and
/// where there is no way.
type Tree = Vec<Option<Neighbour>>;

impl ShortestPaths {
    pub(super) fn new(plan: &Plan) -> Self {
        let topology = plan.topology.clone();
        let mut switch_index = vec![0; topology.nodes.len()];
        let mut switches = 0;
        for switch in topology.switches() {
            switch_index[switch as usize] = switches;
            switches += 1;
        }
        let nodes = || (0u32..).take(topology.nodes.len());
        Self {
            latencies: nodes().map(|node| plan.latency_of(node)).collect(),
            cuts_through: nodes().map(|node| plan.cuts_through(node)).collect(),
            by_hand: if plan.static_routes.is_empty() {
                None
            } else {
                plan.routes(&plan.active_links).ok()
            },
            active: plan.active_links.clone(),
            adjacency: topology.adjacency(),
            topology,
            switch_index,
            switches: switches as usize,
            trees: BTreeMap::new(),
        }
    }

    /// The links from host to host, in order; empty if there is no way.
    pub(super) fn between(&mut self, from: NodeId, to: NodeId) -> Vec<Hop> {
        let (Some(first), Some(last)) = (self.access(from), self.access(to)) else {
            return Vec::new();
        };
        if first.node == to {
            return vec![self.hop(first.link, to)];
        }
        if let Some(routes) = &self.by_hand
            && let Ok(links) = routes.shortest_path(from, to)
        {
            return self.hops(&self.with_far_ends(from, &links));
        }
        let mut links = vec![(last.link, to)];
        let mut node = last.node;
        while node != first.node {
            let index = self.switch_index[node as usize] as usize;
            let Some(towards) = self.tree(first.node)[index] else { return Vec::new() };
            links.push((towards.link, node));
            node = towards.node;
        }
        links.push((first.link, first.node));
        links.reverse();
        self.hops(&links)
    }

    /// Links in order from a node on, each with the node at its far end.
    fn with_far_ends(&self, mut node: NodeId, links: &[u32]) -> Vec<(u32, NodeId)> {
        let far_end = |&link: &u32| {
            let ends = &self.topology.links[link as usize];
            node = if ends.a == node { ends.b } else { ends.a };
            (link, node)
        };
        links.iter().map(far_end).collect()
    }

    /// Links in order, each with the node at its far end.
    fn hops(&self, links: &[(u32, NodeId)]) -> Vec<Hop> {
        let mut hops: Vec<_> = links.iter().map(|&(link, far)| self.hop(link, far)).collect();
        for index in 1..hops.len() {
            let (_, switch) = links[index - 1];
            hops[index - 1].cuts_through =
                self.cuts_through[switch as usize] && hops[index].rate <= hops[index - 1].rate;
        }
        hops
    }

    /// What a host is connected to.
    fn access(&self, host: NodeId) -> Option<Neighbour> {
        self.adjacency.ports_of(host).first().copied()
    }

    /// A link towards the node `far`.
    fn hop(&self, link: u32, far: NodeId) -> Hop {
        let link = &self.topology.links[link as usize];
        let delay = link.delay + self.latencies[far as usize];
        Hop { rate: link.rate, delay, cuts_through: false }
    }

    fn tree(&mut self, root: NodeId) -> &Tree {
        if !self.trees.contains_key(&root) {
            let tree = self.grown(root);
            self.trees.insert(root, tree);
        }
        &self.trees[&root]
    }

    fn grown(&self, root: NodeId) -> Tree {
        let mut tree: Tree = vec![None; self.switches];
        let mut open = VecDeque::from([root]);
        while let Some(node) = open.pop_front() {
            for port in self.adjacency.ports_of(node) {
                let usable = self.active[port.link as usize] && !self.topology.is_host(port.node);
                if !usable || port.node == root {
                    continue;
                }
                let towards = &mut tree[self.switch_index[port.node as usize] as usize];
                if towards.is_none() {
                    *towards = Some(Neighbour { node, link: port.link });
                    open.push_back(port.node);
                }
            }
        }
        tree
    }
}

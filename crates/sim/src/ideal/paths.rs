//! Paths between hosts over the active links: all shortest ones, or those that static routes make.
//!
//! Where the routes can become others in the run, or lead in circles, a bound on all paths stands beside
//! them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{NodeId, Routes, Topology};
use rocelab_units::Duration;

use super::any_path::AnyPath;
use super::ways::{SetNumber, Step, Way, WaySets};
use crate::plan::{FailureChange, Plan};

/// Sets of ways that are remembered, at most: more come up only where hardly two paths are alike.
const MOST_SETS: usize = 1 << 16;

/// The ways of equal cost from each switch that was asked for to all others.
#[derive(Debug)]
pub(super) struct ShortestPaths {
    topology: Topology,
    /// Where static routes may lead elsewhere, and the hosts to which they do.
    by_hand: Option<Routes>,
    by_hand_to: BTreeSet<NodeId>,
    /// Ways by static routes, from a switch to a host.
    static_ways: BTreeMap<(NodeId, NodeId), StaticWays>,
    /// Whether frames can take other paths in the run than those of its beginning.
    routes_change: bool,
    any_path: AnyPath,
    active: Vec<bool>,
    adjacency: Adjacency,
    /// The position of each switch among the switches, by node.
    switch_index: Vec<u32>,
    switches: usize,
    trees: BTreeMap<NodeId, Tree>,
    sets: WaySets,
    /// By node: the time that frames spend in it, and whether they cut through.
    latencies: Vec<Duration>,
    cuts_through: Vec<bool>,
}

/// For each switch, the ways from the root to it; [`NO_WAY`] where there is none.
type Tree = Vec<SetNumber>;

const NO_WAY: SetNumber = SetNumber::MAX;

/// The ways that static routes make.
#[derive(Clone, Copy, Debug)]
struct StaticWays {
    set: SetNumber,
    /// Whether routes lead in a circle, so that not all ways are in the set.
    has_circles: bool,
}

/// The ways there, and those back, of which a frame and its answer may take any.
#[derive(Debug, Default)]
pub(super) struct Ways {
    pub(super) forward: Vec<Way>,
    pub(super) backward: Vec<Way>,
}

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
        let latencies: Vec<_> = nodes().map(|node| plan.latency_of(node)).collect();
        let cuts_through: Vec<_> = nodes().map(|node| plan.cuts_through(node)).collect();
        let is_by_hand = !plan.static_routes.is_empty();
        let by_hand = is_by_hand.then(|| plan.routes(&plan.active_links).ok()).flatten();
        let by_hand_to = by_hand.iter().flat_map(Routes::static_destinations).collect();
        Self {
            any_path: AnyPath::new(&topology, &cuts_through),
            latencies,
            cuts_through,
            by_hand,
            by_hand_to,
            static_ways: BTreeMap::new(),
            routes_change: routes_change(plan),
            active: plan.active_links.clone(),
            adjacency: topology.adjacency(),
            topology,
            switch_index,
            switches: switches as usize,
            trees: BTreeMap::new(),
            sets: WaySets::default(),
        }
    }

    /// The ways from host to host and back; empty if no links join them.
    pub(super) fn between(&mut self, from: NodeId, to: NodeId) -> Ways {
        let is_plain = |host| !self.by_hand_to.contains(host);
        if !self.routes_change && [from, to].iter().all(is_plain) {
            let forward = self.shortest(from, to);
            if !forward.is_empty() {
                return Ways { backward: forward.iter().map(Way::reversed).collect(), forward };
            }
        }
        Ways { forward: self.one_way(from, to), backward: self.one_way(to, from) }
    }

    fn one_way(&mut self, from: NodeId, to: NodeId) -> Vec<Way> {
        let (mut ways, mut are_all) = if self.by_hand_to.contains(&to) {
            self.by_routes(from, to)
        } else {
            (self.shortest(from, to), true)
        };
        if ways.is_empty() {
            // Nothing arrives by these routes. A time for what would is of use all the same.
            (ways, are_all) = (self.shortest(from, to), false);
        }
        if self.routes_change || !are_all {
            ways.extend(self.bound_on_all(from, to));
        }
        ways
    }

    /// What no path over the links of the topology is quicker than, if there is one over several switches.
    fn bound_on_all(&mut self, from: NodeId, to: NodeId) -> Option<Way> {
        let (first, last) = (self.access(from)?, self.access(to)?);
        if first.node == to || first.node == last.node {
            return None;
        }
        let up = self.step(from, first);
        let down = self.step(last.node, Neighbour { node: to, link: last.link });
        self.any_path.bound(
            &self.topology,
            &self.adjacency,
            &self.latencies,
            (first.node, last.node),
            (up, down),
        )
    }

    fn shortest(&mut self, from: NodeId, to: NodeId) -> Vec<Way> {
        let (Some(first), Some(last)) = (self.access(from), self.access(to)) else {
            return Vec::new();
        };
        let up = Way::default().then(self.step(from, first));
        if first.node == to {
            return vec![up];
        }
        let down = self.step(last.node, Neighbour { node: to, link: last.link });
        let index = self.switch_index[last.node as usize] as usize;
        let set = self.tree(first.node)[index];
        self.sets.ways(set).iter().map(|way| up.followed_by(way).then(down)).collect()
    }

    /// Over all ports that routes allow, and whether these are all ways.
    fn by_routes(&mut self, from: NodeId, to: NodeId) -> (Vec<Way>, bool) {
        let Some(first) = self.access(from) else { return (Vec::new(), false) };
        let up = Way::default().then(self.step(from, first));
        if first.node == to {
            return (vec![up], true);
        }
        self.limit_sets();
        let key = (first.node, to);
        let known = self.static_ways.get(&key).copied();
        let found = known.unwrap_or_else(|| self.static_ways(first.node, to));
        self.static_ways.insert(key, found);
        let ways = self.sets.ways(found.set).iter().map(|way| up.followed_by(way)).collect();
        (ways, !found.has_circles)
    }

    /// The sets of ways to all switches that frames can come by, in an order in which all ways to a
    /// switch are complete before it is looked at. Each switch is looked at once, circles or not.
    fn static_ways(&mut self, start: NodeId, to: NodeId) -> StaticWays {
        let (order, has_circles) = self.order_of_switches(start, to);
        let places: BTreeMap<NodeId, usize> =
            order.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let mut sets = vec![NO_WAY; order.len()];
        sets[0] = WaySets::HERE;
        let mut there = NO_WAY;
        for (place, &node) in order.iter().enumerate() {
            for port in self.static_ports(node, to) {
                let next = self.adjacency.ports_of(node)[usize::from(port)];
                // One that is not behind this one closes a circle.
                let behind = places.get(&next.node).copied().filter(|&behind| behind > place);
                let longer = self.sets.then(sets[place], self.step(node, next));
                if next.node == to {
                    there = self.united(there, longer);
                } else if let Some(behind) = behind {
                    sets[behind] = self.united(sets[behind], longer);
                }
            }
        }
        StaticWays { set: there, has_circles }
    }

    /// The switches by which frames from a switch to a host can come, each before those behind it, and
    /// whether some lead back to one before.
    fn order_of_switches(&self, start: NodeId, to: NodeId) -> (Vec<NodeId>, bool) {
        let mut is_done = BTreeMap::from([(start, false)]);
        let mut has_circles = false;
        let mut order = Vec::new();
        let mut open = vec![(start, self.static_ports(start, to).into_iter())];
        while let Some((node, ports)) = open.last_mut() {
            let node = *node;
            let Some(port) = ports.next() else {
                is_done.insert(node, true);
                order.push(node);
                open.pop();
                continue;
            };
            let next = self.adjacency.ports_of(node)[usize::from(port)].node;
            if self.topology.is_host(next) {
                continue;
            }
            match is_done.get(&next) {
                Some(&is_done) => has_circles |= !is_done,
                None => {
                    is_done.insert(next, false);
                    open.push((next, self.static_ports(next, to).into_iter()));
                }
            }
        }
        order.reverse();
        (order, has_circles)
    }

    fn static_ports(&self, switch: NodeId, to: NodeId) -> Vec<u16> {
        self.by_hand.as_ref().map_or_else(Vec::new, |routes| routes.next_hops(switch, to).to_vec())
    }

    /// The ways of both sets, of which either may be none.
    fn united(&mut self, a: SetNumber, b: SetNumber) -> SetNumber {
        if a == NO_WAY { b } else { self.sets.union(a, b) }
    }

    /// What a host is connected to.
    fn access(&self, host: NodeId) -> Option<Neighbour> {
        self.adjacency.ports_of(host).first().copied()
    }

    /// From a node over a link.
    fn step(&self, from: NodeId, to: Neighbour) -> Step {
        let link = &self.topology.links[to.link as usize];
        Step {
            rate: link.rate,
            delay: link.delay + self.latencies[to.node as usize],
            cuts_through: self.cuts_through[from as usize],
        }
    }

    fn limit_sets(&mut self) {
        if self.sets.len() > MOST_SETS {
            self.trees.clear();
            self.static_ways.clear();
            self.sets = WaySets::default();
        }
    }

    fn tree(&mut self, root: NodeId) -> &Tree {
        self.limit_sets();
        if !self.trees.contains_key(&root) {
            let tree = self.grown(root);
            self.trees.insert(root, tree);
        }
        &self.trees[&root]
    }

    /// Breadth first: the ways to a switch are complete before any that is farther is looked at.
    fn grown(&mut self, root: NodeId) -> Tree {
        let mut tree: Tree = vec![NO_WAY; self.switches];
        let mut distances = vec![u32::MAX; self.switches];
        let index = |this: &Self, node: NodeId| this.switch_index[node as usize] as usize;
        let start = index(self, root);
        (tree[start], distances[start]) = (WaySets::HERE, 0);
        let mut open = VecDeque::from([root]);
        let (mut left, mut farthest) = (self.switches.saturating_sub(1), 0);
        while let Some(node) = open.pop_front() {
            let here = index(self, node);
            if left == 0 && distances[here] == farthest {
                break; // All ways are found, long before all links have been looked at.
            }
            for place in 0..self.adjacency.ports_of(node).len() {
                let port = self.adjacency.ports_of(node)[place];
                if !self.active[port.link as usize] || self.topology.is_host(port.node) {
                    continue;
                }
                let there = index(self, port.node);
                if distances[there] <= distances[here] {
                    continue;
                }
                let set = self.sets.then(tree[here], self.step(node, port));
                if distances[there] == u32::MAX {
                    distances[there] = distances[here] + 1;
                    open.push_back(port.node);
                    farthest = distances[there];
                    left -= 1;
                    tree[there] = set;
                } else {
                    tree[there] = self.sets.union(tree[there], set);
                }
            }
        }
        tree
    }
}

/// Whether frames can take other paths in the run than those of its beginning: after a link has failed,
/// or because they are flooded where there is more than one path.
fn routes_change(plan: &Plan) -> bool {
    let is_change = |change: FailureChange| {
        matches!(
            change,
            FailureChange::LinkDown(_) | FailureChange::LinkUp(_) | FailureChange::Reroute
        )
    };
    plan.link_failure().is_some()
        || plan.failures.steps.iter().any(|step| is_change(step.change))
        || (!plan.tables.are_complete() && !plan.failures.spanning_tree)
}

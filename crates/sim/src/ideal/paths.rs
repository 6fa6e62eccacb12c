//! Paths between hosts over the active links: all shortest ones, or those that static routes make.
//!
//! Where the routes can become others in the run, or lead in circles, a bound on all paths stands beside
//! them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rocelab_fabric::topology::Neighbour;
use rocelab_fabric::{Domains, NodeId, Routes};
use rocelab_units::SimTime;

use super::any_path::AnyPath;
use super::ground::Ground;
use super::kept::{Kept, PerSwitch};
use super::ways::{Candidate, Question, SetNumber, Step, Way, WaySets, candidates};
use crate::plan::{FailureChange, Plan};

/// What is kept of the ways from all switches, and of those by static routes (bytes).
const MOST_BYTES: usize = 256 << 20;

/// The ways of equal cost from each switch that was asked for to all others with hosts.
#[derive(Debug)]
pub(super) struct ShortestPaths {
    ground: Ground,
    /// Where static routes may lead elsewhere, and the hosts to which they do.
    by_hand: Option<Routes>,
    by_hand_to: BTreeSet<NodeId>,
    /// Ways by static routes, from a switch to a host.
    static_ways: Kept<(NodeId, NodeId), StaticWays>,
    /// Where bridges and routers are in one network: its ways.
    domains: Option<Arc<Domains>>,
    /// Those ways, none where there is none.
    domain_ways: Kept<DomainEnds, Option<Vec<Candidate>>>,
    /// Hosts of RoCE v1 among others of v2.
    v1_hosts: BTreeSet<NodeId>,
    /// Whether frames can take other paths in the run than those of its beginning.
    changes: RouteChanges,
    any_path: AnyPath,
    /// Whether the packets of a queue pair take several paths at any time.
    spreads: bool,
    active: Vec<bool>,
    trees: Kept<NodeId, Tree>,
}

/// For each switch with hosts, the ways from the root to it.
type Tree = PerSwitch<Vec<Candidate>>;

/// The number of the set of ways to a switch that there are none to.
const NO_WAY: SetNumber = SetNumber::MAX;

/// What the ways through bridges and routers from one host to another follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DomainEnds {
    switches: (NodeId, NodeId),
    /// The first and the last link.
    links: (Step, Step),
    domains: (u32, u32),
    are_neighbours: bool,
}

/// The ways that static routes make.
#[derive(Debug)]
struct StaticWays {
    ways: Vec<Candidate>,
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
        let ground = Ground::new(plan);
        let is_by_hand = !plan.static_routes.is_empty();
        let by_hand = is_by_hand.then(|| plan.routes(&plan.active_links).ok()).flatten();
        let by_hand_to = by_hand.iter().flat_map(Routes::static_destinations).collect();
        Self {
            any_path: AnyPath::new(&ground),
            spreads: plan.spreads_packets(),
            ground,
            by_hand,
            by_hand_to,
            static_ways: Kept::new(MOST_BYTES),
            domains: plan.roce.domains.clone(),
            domain_ways: Kept::new(MOST_BYTES),
            v1_hosts: plan.roce.v1_hosts.clone(),
            changes: RouteChanges::of(plan),
            active: plan.active_links.clone(),
            trees: Kept::new(MOST_BYTES),
        }
    }

    /// The ways from host to host and back, of which one may be what is asked for; empty if no links join them.
    pub(super) fn between(&mut self, from: NodeId, to: NodeId, question: Question) -> Ways {
        if let Some(ways) = self.through_domains((from, to), question) {
            return ways;
        }
        let is_plain = |host| !self.by_hand_to.contains(host);
        if !self.changes.are_any() && [from, to].iter().all(is_plain) {
            let forward = self.shortest(from, to, question);
            if !forward.is_empty() {
                return Ways { backward: forward.iter().map(Way::reversed).collect(), forward };
            }
        }
        let forward = self.one_way(from, to, question);
        Ways { forward, backward: self.one_way(to, from, question) }
    }

    /// The ways through bridges and routers; none where there are none, or no way there and back.
    fn through_domains(
        &mut self,
        (from, to): (NodeId, NodeId),
        question: Question,
    ) -> Option<Ways> {
        let domains = Arc::clone(self.domains.as_ref()?);
        let forward = self.one_way_through(&domains, (from, to), question)?;
        Some(Ways { forward, backward: self.one_way_through(&domains, (to, from), question)? })
    }

    fn one_way_through(
        &mut self,
        domains: &Domains,
        ends: (NodeId, NodeId),
        question: Question,
    ) -> Option<Vec<Way>> {
        // RoCE v1 knows no subnets; TCP of such hosts takes no shorter way.
        let is_ip = !self.v1_hosts.contains(&ends.0);
        let (first, last) = (self.ground.access(ends.0)?, self.ground.access(ends.1)?);
        let to_last = Neighbour { node: ends.1, link: last.link };
        let key = DomainEnds {
            switches: (first.node, last.node),
            links: (self.ground.step(ends.0, first), self.ground.step(last.node, to_last)),
            domains: (domains.of(ends.0)?, domains.of(ends.1)?),
            are_neighbours: domains.are_neighbours(ends.0, ends.1, is_ip),
        };
        if self.domain_ways.get(key).is_none() {
            // Both closures add to what is known.
            let known = RefCell::new(WaySets::default());
            let step = |&set: &SetNumber, node, far| {
                known.borrow_mut().then(set, self.ground.step(node, far))
            };
            let join = |a, b| known.borrow_mut().union(a, b);
            let adjacency = &self.ground.adjacency;
            let all = domains.fold_ways(adjacency, ends, is_ip, WaySets::HERE, step, join);
            let ways = all.map(|all| candidates(known.borrow().ways(all)));
            let bytes = size_of::<DomainEnds>() + bytes_of(ways.as_deref().unwrap_or_default());
            self.domain_ways.insert(key, ways, bytes);
        }
        let ways = self.domain_ways.get(key)?.as_ref()?;
        Some(ways.iter().filter_map(|candidate| candidate.of(question)).cloned().collect())
    }

    fn one_way(&mut self, from: NodeId, to: NodeId, question: Question) -> Vec<Way> {
        let (mut ways, mut are_all) = if self.by_hand_to.contains(&to) {
            self.by_routes(from, to, question)
        } else {
            (self.shortest(from, to, question), true)
        };
        if ways.is_empty() {
            // Nothing arrives by these routes. A time for what would is of use all the same.
            (ways, are_all) = (self.shortest(from, to, question), false);
        }
        // The bound is slower than no way, so that it is the slowest only if it is alone.
        let asks = question == Question::Quickest || ways.is_empty();
        if asks && (self.changes.are_any() || !are_all) {
            ways.extend(self.bound_on_all(from, to));
        }
        ways
    }

    /// The ways there and back where frames may take several paths between two times, if there are several switches
    /// on the way.
    pub(super) fn over_several(
        &mut self,
        (from, to): (NodeId, NodeId),
        between: (SimTime, SimTime),
    ) -> Option<Ways> {
        if !self.spreads && (self.domains.is_some() || !self.changes.are_within(between)) {
            return None;
        }
        let (ends, steps) = self.ends(from, to)?;
        let forward = vec![self.any_path.bound_on_several(&self.ground, ends, steps)?];
        let (ends, steps) = self.ends(to, from)?;
        let backward = vec![self.any_path.bound_on_several(&self.ground, ends, steps)?];
        Some(Ways { forward, backward })
    }

    /// What no path over the links of the topology is quicker than, if there is one over several switches.
    fn bound_on_all(&mut self, from: NodeId, to: NodeId) -> Option<Way> {
        let (ends, steps) = self.ends(from, to)?;
        self.any_path.bound(&self.ground, ends, steps)
    }

    /// The switches of two hosts, if these are two, and the links to the first and from the last.
    fn ends(&self, from: NodeId, to: NodeId) -> Option<((NodeId, NodeId), (Step, Step))> {
        let ground = &self.ground;
        let (first, last) = (ground.access(from)?, ground.access(to)?);
        if first.node == to || first.node == last.node {
            return None;
        }
        let up = ground.step(from, first);
        let down = ground.step(last.node, Neighbour { node: to, link: last.link });
        Some(((first.node, last.node), (up, down)))
    }

    fn shortest(&mut self, from: NodeId, to: NodeId, question: Question) -> Vec<Way> {
        let (Some(first), Some(last)) = (self.ground.access(from), self.ground.access(to)) else {
            return Vec::new();
        };
        let up = Way::default().then(self.ground.step(from, first));
        if first.node == to {
            return vec![up];
        }
        let down = self.ground.step(last.node, Neighbour { node: to, link: last.link });
        let root = self.ground.twin_of(first.node);
        self.plant(root);
        // Seen from a twin each of the two is where the other one is.
        let far = match last.node {
            node if node == first.node => root,
            node if node == root => first.node,
            node => node,
        };
        let place = self.ground.end_place(far);
        let tree = self.trees.get(root);
        let ways = tree.and_then(|tree| tree.get(place)).map_or(&[][..], Vec::as_slice);
        let ways = ways.iter().filter_map(|candidate| candidate.of(question));
        ways.map(|way| up.followed_by(way).then(down)).collect()
    }

    /// Over all ports that routes allow, and whether these are all ways.
    fn by_routes(&mut self, from: NodeId, to: NodeId, question: Question) -> (Vec<Way>, bool) {
        let Some(first) = self.ground.access(from) else { return (Vec::new(), false) };
        let up = Way::default().then(self.ground.step(from, first));
        if first.node == to {
            return (vec![up], true);
        }
        let key = (first.node, to);
        if self.static_ways.get(key).is_none() {
            let found = self.static_ways(first.node, to);
            let bytes = size_of::<StaticWays>() + bytes_of(&found.ways);
            self.static_ways.insert(key, found, bytes);
        }
        let Some(found) = self.static_ways.get(key) else { return (Vec::new(), false) };
        let ways = found.ways.iter().filter_map(|candidate| candidate.of(question));
        (ways.map(|way| up.followed_by(way)).collect(), !found.has_circles)
    }

    /// The sets of ways to all switches that frames can come by, in an order in which all ways to a
    /// switch are complete before it is looked at. Each switch is looked at once, circles or not.
    fn static_ways(&self, start: NodeId, to: NodeId) -> StaticWays {
        let (order, has_circles) = self.order_of_switches(start, to);
        let places: BTreeMap<NodeId, usize> =
            order.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let mut known = WaySets::default();
        let mut sets = vec![NO_WAY; order.len()];
        sets[0] = WaySets::HERE;
        let mut there = NO_WAY;
        for (place, &node) in order.iter().enumerate() {
            for port in self.static_ports(node, to) {
                let next = self.ground.adjacency.ports_of(node)[usize::from(port)];
                // One that is not behind this one closes a circle.
                let behind = places.get(&next.node).copied().filter(|&behind| behind > place);
                let longer = known.then(sets[place], self.ground.step(node, next));
                if next.node == to {
                    there = united(&mut known, there, longer);
                } else if let Some(behind) = behind {
                    sets[behind] = united(&mut known, sets[behind], longer);
                }
            }
        }
        StaticWays { ways: candidates(known.ways(there)), has_circles }
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
            let next = self.ground.adjacency.ports_of(node)[usize::from(port)].node;
            if self.ground.topology.is_host(next) {
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

    /// Sees to it that the ways from a switch are known.
    fn plant(&mut self, root: NodeId) {
        if self.trees.get(root).is_none() {
            let tree = self.grown(root);
            let bytes = tree.bytes(|ways| bytes_of(ways));
            self.trees.insert(root, tree, bytes);
        }
    }

    /// The ways from a switch. The sets that they are made of go with the work on it: those of one root are few
    /// where paths are alike, and of no use to another where they are not.
    fn grown(&self, root: NodeId) -> Tree {
        let mut known = WaySets::default();
        let sets = self.sets_from(root, &mut known);
        let set = |switch: usize| Some(sets[switch]).filter(|&set| set != NO_WAY);
        PerSwitch::new(&self.ground, set, |set| candidates(known.ways(set)))
    }

    /// Breadth first: the ways to a switch are complete before any that is farther is looked at. By place
    /// among the switches.
    fn sets_from(&self, root: NodeId, known: &mut WaySets) -> Vec<SetNumber> {
        let ground = &self.ground;
        let mut sets = vec![NO_WAY; ground.switches()];
        let mut distances = vec![u32::MAX; ground.switches()];
        let start = ground.place(root);
        (sets[start], distances[start]) = (WaySets::HERE, 0);
        let mut open = VecDeque::from([root]);
        let (mut left, mut farthest) = (ground.switches().saturating_sub(1), 0);
        while let Some(node) = open.pop_front() {
            let here = ground.place(node);
            if left == 0 && distances[here] == farthest {
                break; // All ways are found, long before all links have been looked at.
            }
            for &port in ground.adjacency.ports_of(node) {
                if !self.active[port.link as usize] || ground.topology.is_host(port.node) {
                    continue;
                }
                let there = ground.place(port.node);
                if distances[there] <= distances[here] {
                    continue;
                }
                let set = known.then(sets[here], ground.step(node, port));
                if distances[there] == u32::MAX {
                    distances[there] = distances[here] + 1;
                    open.push_back(port.node);
                    farthest = distances[there];
                    left -= 1;
                }
                sets[there] = united(known, sets[there], set);
            }
        }
        sets
    }
}

/// The ways of both sets, of which the first may be none.
fn united(known: &mut WaySets, a: SetNumber, b: SetNumber) -> SetNumber {
    if a == NO_WAY { b } else { known.union(a, b) }
}

/// Bytes that are held for a set of ways.
fn bytes_of(ways: &[Candidate]) -> usize {
    size_of::<Vec<Candidate>>() + ways.iter().map(Candidate::bytes).sum::<usize>()
}

/// When frames can begin to take other paths than before.
#[derive(Debug, Default)]
struct RouteChanges {
    /// At any time: frames are flooded where there is more than one path.
    always: bool,
    /// After a link has failed or is mended, in ascending order.
    at: Vec<SimTime>,
}

impl RouteChanges {
    fn of(plan: &Plan) -> Self {
        let is_change = |change: FailureChange| {
            matches!(
                change,
                FailureChange::LinkDown(_) | FailureChange::LinkUp(_) | FailureChange::Reroute
            )
        };
        let steps = plan.failures.steps.iter().filter(|step| is_change(step.change));
        let mut at: Vec<SimTime> = steps.map(|step| step.at).collect();
        at.extend(plan.link_failure().map(|(at, _)| at));
        at.sort_unstable();
        let always = !plan.all_switches_follow_routes() && !plan.failures.spanning_tree;
        Self { always, at }
    }

    /// Whether there are any in the run.
    fn are_any(&self) -> bool {
        self.always || !self.at.is_empty()
    }

    /// Whether there are any between two times, both included.
    fn are_within(&self, (start, end): (SimTime, SimTime)) -> bool {
        let first = self.at.partition_point(|&at| at < start);
        self.always || self.at.get(first).is_some_and(|&at| at <= end)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use rocelab_engine::RngStream;

    use super::*;
    use crate::{Planning, Scenario};

    /// Switches in a grid of four rows, each with a host, where no two links have the same delay.
    fn plan(columns: u64, more: &str) -> Plan {
        let hosts = columns * 4;
        let mut stream = RngStream::new(3, "grid");
        let (mut links, mut count) = (String::new(), 0);
        let mut link = |a: u64, b: u64| {
            let delay = 100 + stream.below(10_000);
            writeln!(links, "{a} {b} 100Gbps {delay}ns 0").unwrap();
            count += 1;
        };
        for switch in 0..hosts {
            link(switch, hosts + switch);
            if switch % 4 < 3 {
                link(hosts + switch, hosts + switch + 1);
            }
            if switch + 4 < hosts {
                link(hosts + switch, hosts + switch + 4);
            }
        }
        let switches: Vec<String> = (hosts..2 * hosts).map(|node| node.to_string()).collect();
        let file = format!("{} {hosts} {count}\n{}\n{links}", 2 * hosts, switches.join(" "));
        let name =
            std::env::temp_dir().join(format!("rocelab-grid-{}-{columns}.txt", std::process::id()));
        std::fs::write(&name, file).expect("a file can be written");
        let text = format!(
            "[topology.file]\npath = {:?}\nformat = \"edge-list\"\n{more}\n\
             [workload.incast]\nsenders = 3\nreceiver = \"host-9\"\nbytes = \"10KB\"\n",
            name.display().to_string()
        );
        let scenario = Scenario::parse(&text, Path::new("grid.toml"), &[]);
        scenario.and_then(|scenario| scenario.plan()).unwrap_or_else(|error| panic!("{error}"))
    }

    const QUESTIONS: [Question; 2] = [Question::Quickest, Question::Slowest];

    #[test]
    fn little_memory_gives_the_same_ways_and_keeps_the_last_root() {
        for more in ["", "[[failure]]\nkind = \"link-down\"\nport = \"host-0\"\nat = \"9us\"\n"] {
            let plan = plan(4, more);
            let mut ample = ShortestPaths::new(&plan);
            let mut scarce = ShortestPaths::new(&plan);
            (scarce.trees, scarce.static_ways) = (Kept::new(1), Kept::new(1));
            for (from, to) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
                for question in QUESTIONS {
                    let [wide, narrow] = [&mut ample, &mut scarce].map(|paths| {
                        let ways = paths.between(from, to, question);
                        [ways.forward, ways.backward]
                    });
                    assert_eq!(wide, narrow, "{from} {to}");
                    assert_eq!(scarce.trees.len(), 1);
                }
            }
            assert_eq!(ample.trees.len(), 16, "each root is grown once");
        }
    }

    #[test]
    fn the_slowest_way_takes_no_bound_on_all_paths() {
        let failure = "[[failure]]\nkind = \"link-down\"\nport = \"host-0\"\nat = \"9us\"\n";
        let plan = plan(3, failure);
        let mut paths = ShortestPaths::new(&plan);
        let shortest = paths.between(0, 11, Question::Slowest).forward.len();
        assert_eq!(paths.any_path.roots(), 0);
        assert_eq!(paths.between(0, 11, Question::Quickest).forward.len(), shortest + 1);
        assert_eq!(paths.any_path.roots(), 2, "there and back");
    }
}

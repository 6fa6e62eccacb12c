//! Cycles after each single failure of a link between switches, routes along shortest paths.
//!
//! A failure is not followed through for all destinations, because most of them cannot get worse:
//!
//! * A failed link that was on no shortest path to a destination changes nothing for it.
//! * A switch that has another shortest way only loses a choice, and nobody's distance changes: the
//!   dependencies are a subset of those before.
//! * Otherwise the distances of some switches grow: of the one that lost its only way, and of those
//!   all of whose ways lead there. No other switch forwards to these any more (it would not have a
//!   shortest path), so if none of them has a host, no frame is there, and the dependencies are a
//!   subset again.
//!
//! So only where one of these switches has hosts, the destination's routes are computed anew. In a
//! fat tree or a leaf-spine network with two spines or more that is never the case.

use std::cell::Cell;

use super::shortest_paths::{FAR, PathsTo, Working};
use super::{BufferDependencies, DependencyCycle};
use crate::topology::{NodeId, Topology};

/// The search for cycles after each single failure of a link between two switches.
#[derive(Clone, Debug)]
pub struct LinkFailures<'a> {
    topology: &'a Topology,
    active: &'a [bool],
    most_steps: u64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureFindings {
    /// Links between switches that can fail.
    pub links: usize,
    /// How many of them were examined: all, unless a cycle was found or the search had done as
    /// many steps as it may.
    pub examined: usize,
    /// How often a destination's routes had to be computed anew.
    pub recomputed: u64,
    /// The first link (by index into [`Topology::links`]) after whose failure there is a cycle,
    /// and that cycle.
    pub cycle: Option<(u32, DependencyCycle)>,
}

impl FailureFindings {
    /// Whether there is no cycle after any failure.
    pub fn none_has_a_cycle(&self) -> bool {
        self.cycle.is_none() && self.examined == self.links
    }
}

impl<'a> LinkFailures<'a> {
    /// In a network whose frames follow the shortest paths over the links that are `active`, by
    /// index into [`Topology::links`]; a link beyond the list is not.
    pub fn new(topology: &'a Topology, active: &'a [bool]) -> Self {
        /// Some ten seconds.
        const MOST_STEPS: u64 = 3_000_000_000;
        Self { topology, active, most_steps: MOST_STEPS }
    }

    /// With a bound on the work, in steps along links; the search ends early beyond it.
    #[must_use]
    pub fn with_most_steps(mut self, steps: u64) -> Self {
        self.most_steps = steps;
        self
    }

    /// Searches, given the dependencies `before` any failure, which have no cycle.
    pub fn search(&self, before: &BufferDependencies) -> FailureFindings {
        let whole = Working { ports: &before.ports, active: self.active, failed: None };
        let targets = Targets::new(self.topology, whole);
        let failing = self.failing();
        let mut findings = FailureFindings { links: failing.len(), ..FailureFindings::default() };
        let changes = targets.changes(self.topology, whole, &failing);
        let each = self.topology.links.len() as u64 + before.count();
        let mut steps = 0;
        for (place, &link) in failing.iter().enumerate() {
            let changed = changes.of(place);
            if !changed.is_empty() {
                steps += each * (changed.len() + targets.switches.len()) as u64;
                if steps > self.most_steps {
                    return findings;
                }
                findings.recomputed += changed.len() as u64;
                let working = Working { failed: Some(link), ..whole };
                if let Some(cycle) = targets.cycle_without(before, working, changed) {
                    findings.cycle = Some((link, cycle));
                }
            }
            findings.examined += 1;
            if findings.cycle.is_some() {
                break;
            }
        }
        findings
    }

    /// The links between switches.
    fn failing(&self) -> Vec<u32> {
        let is_switch = |node: NodeId| !self.topology.is_host(node);
        let links = (0..).zip(&self.topology.links).zip(self.active);
        links
            .filter(|((_, link), active)| **active && link.a != link.b)
            .filter(|((_, link), _)| is_switch(link.a) && is_switch(link.b))
            .map(|((number, _), _)| number)
            .collect()
    }
}

/// The switches with hosts.
struct Targets {
    /// Each with one of its hosts.
    switches: Vec<(NodeId, NodeId)>,
    /// By node.
    has_hosts: Vec<bool>,
    sources: Vec<NodeId>,
}

/// To which targets frames may go other ways, after each failure.
struct Changes {
    /// Places of failure and target, ascending.
    pairs: Vec<(u32, u32)>,
}

impl Changes {
    fn of(&self, failure: usize) -> &[(u32, u32)] {
        let start = self.pairs.partition_point(|&(place, _)| (place as usize) < failure);
        let end = self.pairs.partition_point(|&(place, _)| place as usize <= failure);
        &self.pairs[start..end]
    }
}

impl Targets {
    fn new(topology: &Topology, whole: Working<'_>) -> Self {
        let mut switches = Vec::new();
        let mut has_hosts = vec![false; topology.nodes.len()];
        for switch in topology.switches() {
            if let Some(host) = whole.first_host(switch) {
                has_hosts[switch as usize] = true;
                switches.push((switch, host));
            }
        }
        Self { switches, has_hosts, sources: topology.hosts().collect() }
    }

    fn changes(&self, topology: &Topology, whole: Working<'_>, failing: &[u32]) -> Changes {
        let mut pairs = Vec::new();
        let mut reach = Reach::new(whole, &self.has_hosts);
        for (number, &(target, _)) in (0..).zip(&self.switches) {
            reach.aim_at(target);
            let worse = |&(_, &link): &(u32, &u32)| {
                let ends = &topology.links[link as usize];
                reach.is_changed_by(ends.a, ends.b)
            };
            pairs.extend((0..).zip(failing).filter(worse).map(|(place, _)| (place, number)));
        }
        pairs.sort_unstable();
        Changes { pairs }
    }

    /// A cycle after the failure, which changes the routes to some targets for what may be worse.
    fn cycle_without(
        &self,
        before: &BufferDependencies,
        working: Working<'_>,
        changed: &[(u32, u32)],
    ) -> Option<DependencyCycle> {
        // What is left of the others is among the dependencies before: with all of these there are
        // too many, so no cycle here is none at all.
        let mut too_many = before.clone();
        self.add(&mut too_many, working, changed.iter().map(|&(_, target)| target as usize));
        too_many.find_cycle()?;
        let mut exact = before.clone();
        exact.rows.fill(0);
        self.add(&mut exact, working, 0..self.switches.len());
        exact.find_cycle()
    }

    fn add(
        &self,
        dependencies: &mut BufferDependencies,
        working: Working<'_>,
        targets: impl Iterator<Item = usize>,
    ) {
        let mut distances = Vec::new();
        for target in targets {
            let (switch, host) = self.switches[target];
            working.distances(switch, &mut distances);
            let paths = PathsTo { working, distances: &distances };
            dependencies.add_destination(&paths, host, self.sources.iter().copied());
        }
    }
}

/// What the failure of a link does to the ways to one target.
struct Reach<'a> {
    working: Working<'a>,
    has_hosts: &'a [bool],
    /// By node: links to the target.
    distances: Vec<u32>,
    /// By node: how many ports lead nearer.
    choices: Vec<u32>,
    /// By node: how many of these lead to switches whose distance grows.
    lost: Vec<Cell<u32>>,
}

impl<'a> Reach<'a> {
    fn new(working: Working<'a>, has_hosts: &'a [bool]) -> Self {
        let lost = vec![Cell::new(0); has_hosts.len()];
        Self { working, has_hosts, distances: Vec::new(), choices: Vec::new(), lost }
    }

    fn aim_at(&mut self, target: NodeId) {
        self.working.distances(target, &mut self.distances);
        self.choices.clear();
        for (node, &own) in (0..).zip(&self.distances) {
            let nearer = |&(_, far): &(u16, NodeId)| self.distances[far as usize] + 1 == own;
            let reaches = own != FAR && own != 0;
            let count =
                if reaches { self.working.switches_at(node).filter(nearer).count() } else { 0 };
            self.choices.push(u32::try_from(count).unwrap_or(u32::MAX));
        }
    }

    /// Whether frames may go other ways when a link between two switches fails.
    fn is_changed_by(&self, a: NodeId, b: NodeId) -> bool {
        let [at_a, at_b] = [a, b].map(|node| self.distances[node as usize]);
        if at_a == at_b {
            return false;
        }
        // The end that loses a way is the one that is farther.
        let loser = if at_a < at_b { b } else { a };
        self.choices[loser as usize] == 1 && self.strands_hosts(loser)
    }

    /// Whether there are hosts at a switch whose distance grows when `first` loses its only way.
    fn strands_hosts(&self, first: NodeId) -> bool {
        let mut touched = Vec::new();
        let mut grown = vec![first];
        let mut head = 0;
        let mut found = false;
        while let Some(&switch) = grown.get(head) {
            head += 1;
            if self.has_hosts[switch as usize] {
                found = true;
                break;
            }
            let behind = self.distances[switch as usize] + 1;
            for (_, far) in self.working.switches_at(switch) {
                if self.distances[far as usize] != behind {
                    continue;
                }
                let lost = &self.lost[far as usize];
                lost.set(lost.get() + 1);
                touched.push(far);
                if lost.get() == self.choices[far as usize] {
                    grown.push(far);
                }
            }
        }
        for node in touched {
            self.lost[node as usize].set(0);
        }
        found
    }
}

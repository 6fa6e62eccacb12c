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

use super::shortest_paths::{PathsTo, Working};
use super::sole_ways::SoleWays;
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
        let mut places = vec![0; topology.links.len()];
        for (place, &link) in (0..).zip(failing) {
            places[link as usize] = place;
        }
        let mut pairs = Vec::new();
        let mut ways = SoleWays::new(topology, whole, &self.has_hosts);
        // The last target of which nobody needs a link.
        let mut free: Option<NodeId> = None;
        for (number, &(target, _)) in (0..).zip(&self.switches) {
            if free.is_some_and(|free| ways.are_twins(free, target)) {
                continue;
            }
            let links = ways.to(target);
            free = links.is_empty().then_some(target);
            pairs.extend(links.into_iter().map(|link| (places[link as usize], number)));
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

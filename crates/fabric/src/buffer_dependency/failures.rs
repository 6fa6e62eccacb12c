//! Cycles after each single failure of a link between switches, with routes along shortest paths.
//!
//! A failure is not followed for all destinations, because for most of them no dependency can be
//! added:
//!
//! * A failed link that was on no shortest path to a destination changes nothing for it.
//! * A switch that has another shortest path only loses a choice, and no distance changes: the new
//!   dependencies are a subset of the old ones.
//! * Otherwise the distances of some switches grow: of the switch that lost its only path, and of
//!   those all of whose paths lead through it. No other switch forwards to these any more (that
//!   would not be a shortest path). So if none of them has a host, no frame is there, and the
//!   dependencies are a subset again.
//!
//! So the routes to a destination are computed anew only if one of these switches has hosts. In a
//! fat tree, or a leaf-spine network with two or more spines, that is never the case.

use super::required_links::RequiredLinks;
use super::shortest_paths::{PathsTo, Working};
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
    /// How many of them were examined: all, unless a cycle was found or the search reached its
    /// limit of steps.
    pub examined: usize,
    /// How often the routes to a destination were computed anew.
    pub recomputed: u64,
    /// The first link (by index into [`Topology::links`]) whose failure leads to a cycle, and that
    /// cycle.
    pub cycle: Option<(u32, DependencyCycle)>,
}

impl FailureFindings {
    /// Whether there is no cycle after any failure.
    pub fn none_has_a_cycle(&self) -> bool {
        self.cycle.is_none() && self.examined == self.links
    }
}

impl<'a> LinkFailures<'a> {
    /// A search in a network whose frames follow the shortest paths over the links that are
    /// `active`, by index into [`Topology::links`]; a link beyond the end of the list is not
    /// active.
    pub fn new(topology: &'a Topology, active: &'a [bool]) -> Self {
        /// About ten seconds.
        const MOST_STEPS: u64 = 3_000_000_000;
        Self { topology, active, most_steps: MOST_STEPS }
    }

    /// Limits the work, in steps along links. The search ends early at the limit.
    #[must_use]
    pub fn with_most_steps(mut self, steps: u64) -> Self {
        self.most_steps = steps;
        self
    }

    /// Searches. `before` are the dependencies without any failure; they have no cycle.
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

    /// The links between switches, which are the ones that fail.
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

/// The switches with hosts, which are the destinations.
struct Targets {
    /// Each switch with one of its hosts.
    switches: Vec<(NodeId, NodeId)>,
    /// Indexed by node.
    has_hosts: Vec<bool>,
    sources: Vec<NodeId>,
}

/// For each failure, the targets whose frames may then take new paths.
struct Changes {
    /// Indices of failure and target, ascending.
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
        let mut required = RequiredLinks::new(topology, whole, &self.has_hosts);
        // The last target for which no link is indispensable.
        let mut free: Option<NodeId> = None;
        for (number, &(target, _)) in (0..).zip(&self.switches) {
            if free.is_some_and(|free| required.are_twins(free, target)) {
                continue;
            }
            let links = required.to(target);
            free = links.is_empty().then_some(target);
            pairs.extend(links.into_iter().map(|link| (places[link as usize], number)));
        }
        pairs.sort_unstable();
        Changes { pairs }
    }

    /// A cycle after the failure, if there is one. `changed` are the targets with new paths.
    fn cycle_without(
        &self,
        before: &BufferDependencies,
        working: Working<'_>,
        changed: &[(u32, u32)],
    ) -> Option<DependencyCycle> {
        // The dependencies of all other targets are a subset of those before. Keeping all of the
        // old ones is an overestimate, so if it has no cycle, there is none.
        let mut superset = before.clone();
        self.add(&mut superset, working, changed.iter().map(|&(_, target)| target as usize));
        superset.find_cycle()?;
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

//! Whether pauses can wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::{
    BufferDependencies, DependencyCycle, LinkFailures, NodeId, RouteError, Routes,
};
use serde::Serialize;

use super::ProofStage;
use super::flooding::{WithFlooding, flooded_hosts, floods_for_the_silent};
use super::own_failures::{self, OwnFailures};
use crate::Plan;

/// Cyclic buffer dependency of all frames from any host to any other, of each lossless priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DependencyFinding {
    /// Directions of links between switches: the buffers that can wait for others.
    pub buffers: usize,
    /// How many pairs of these wait for one another.
    pub dependencies: u64,
    /// The egress queues of a cycle, each waiting for the next; none: there is no cycle.
    pub cycle: Option<String>,
    /// If there is a cycle: that of the scenario's own flows and their acknowledgements, of all
    /// priorities together.
    pub cycle_of_flows: Option<String>,
    /// Where switches flood for hosts that live and are silent for `mac_ageing`: the egress queues of a cycle
    /// that such frames close. Then it is not proved that there is none, and failures are not looked into.
    pub cycle_of_silent: Option<String>,
    /// What follows from the scenario's own failures that change routes; none where there are none, or if
    /// there is a cycle before.
    pub own_failures: Option<OwnFailures>,
    /// After the failure of each single link between switches; none if there is a cycle before.
    pub failures: Option<FailureProof>,
}

/// What was proved of failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureProof {
    /// Links between switches.
    pub links: usize,
    /// How many of their failures were examined.
    pub examined: usize,
    /// The first failure that leads to a cycle.
    pub first: Option<CycleAfterFailure>,
    /// Whether every failure ends in another spanning tree, which has no cycle.
    pub spanning_tree: bool,
}

/// A failure and what follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CycleAfterFailure {
    /// The link, by the names of its ends.
    pub link: String,
    /// The egress queues of a cycle.
    pub cycle: String,
}

impl DependencyFinding {
    /// How many cycles were found: one, or one after a failure.
    pub(super) fn faults(&self) -> usize {
        let after = self.failures.as_ref().is_some_and(|failures| failures.first.is_some());
        let own = self.own_failures.as_ref().is_some_and(|own| own.cycle.is_some());
        usize::from(self.cycle.is_some() || after || own)
    }

    /// How many things keep it from being proved that there is no cycle.
    pub(super) fn doubts(&self) -> usize {
        let own = self.own_failures.as_ref();
        let mixed = own.is_some_and(|own| own.cycle_of_mixed.is_some());
        usize::from(self.cycle_of_silent.is_some()) + usize::from(mixed)
    }
}

/// Searches the plan's routes.
///
/// # Errors
/// If the topology has no routes.
pub(super) fn find(
    plan: &Plan,
    tell: &mut dyn FnMut(ProofStage),
) -> Result<DependencyFinding, RouteError> {
    tell(ProofStage::Dependency);
    let topology = &plan.topology;
    let routes = plan.routes(&plan.active_links)?;
    let all = of_all_pairs(plan, &routes, &plan.active_links);
    let (buffers, dependencies) = (all.buffers(), all.count());
    let cycle = all.find_cycle().map(|cycle| cycle.describe(topology));
    let (mut cycle_of_flows, mut cycle_of_silent) = (None, None);
    let (mut own, mut failures) = (None, None);
    if cycle.is_some() {
        let cycle = of_flows(plan, &routes).find_cycle();
        cycle_of_flows = cycle.map(|cycle| cycle.describe(topology));
    } else {
        let silent = and_silent(plan, &routes, &plan.active_links, all);
        // Without flooding for them, they are those that have no cycle.
        let cycle = floods_for_the_silent(plan).then(|| silent.find_cycle()).flatten();
        cycle_of_silent = cycle.map(|cycle| cycle.describe(topology));
        if cycle_of_silent.is_none() {
            tell(ProofStage::Failures);
            own = own_failures::find(plan, &silent);
            failures = Some(after_failures(plan, &silent));
        }
    }
    Ok(DependencyFinding {
        buffers,
        dependencies,
        cycle,
        cycle_of_flows,
        cycle_of_silent,
        own_failures: own,
        failures,
    })
}

/// Those [of all pairs](of_all_pairs), and of what routers flood for any host because nothing was heard of it
/// for long, where they do.
pub(super) fn with_silent(plan: &Plan, routes: &Routes, active: &[bool]) -> BufferDependencies {
    and_silent(plan, routes, active, of_all_pairs(plan, routes, active))
}

/// As [`with_silent`], where those [of all pairs](of_all_pairs) are known. A host to which there are static routes
/// counts by itself here too: its frames come in by other ports.
fn and_silent(
    plan: &Plan,
    routes: &Routes,
    active: &[bool],
    mut dependencies: BufferDependencies,
) -> BufferDependencies {
    if floods_for_the_silent(plan) {
        let alone: BTreeSet<_> = routes.static_destinations().collect();
        let mut hosts: Vec<_> = one_host_of_each_switch(plan, routes, &alone).collect();
        hosts.extend(alone);
        dependencies.add_destinations(&plan.topology, routes, &hosts, Some(active));
    }
    dependencies
}

/// How much work it is to find those [of all pairs](of_all_pairs), in comparisons of two sets of destinations: each
/// switch compares what enters by a port with what leaves by another, for each group of destinations, and
/// each destination that counts by itself is followed along all links.
pub(super) fn steps_of_all_pairs(plan: &Plan) -> u64 {
    /// Routes and tables, for each link.
    const EACH_LINK: u64 = 32;
    let topology = &plan.topology;
    let adjacency = topology.adjacency();
    let (mut pairs_of_ports, mut destinations) = (0u64, 0);
    for switch in topology.switches() {
        let far = adjacency.ports_of(switch);
        let inner = far.iter().filter(|port| topology.is_switch(port.node)).count();
        pairs_of_ports += (inner * inner) as u64;
        destinations += usize::from(inner < far.len());
    }
    let links = topology.links.len() as u64;
    let by_hand: BTreeSet<_> = plan.static_routes.iter().map(|route| route.destination).collect();
    let mut alone = flooded_hosts(plan);
    alone.extend(&by_hand);
    let groups = destinations.div_ceil(BufferDependencies::GROUP) as u64;
    let (mut alone, mut groups) = (alone.len() as u64, groups);
    if floods_for_the_silent(plan) {
        // All of it again, with what is flooded.
        (alone, groups) = (alone + by_hand.len() as u64, groups * 2);
    }
    links * (EACH_LINK + alone) + groups * (links + pairs_of_ports)
}

/// Those of all frames from any host to any other. A host to which there are static routes counts by
/// itself, and so does one that frames are flooded for; of the others, one stands for all of its
/// switch.
fn of_all_pairs(plan: &Plan, routes: &Routes, active: &[bool]) -> BufferDependencies {
    let topology = &plan.topology;
    let mut alone = flooded_hosts(plan);
    alone.extend(routes.static_destinations());
    let mut dependencies = BufferDependencies::new(topology);
    let others: Vec<_> = one_host_of_each_switch(plan, routes, &alone).collect();
    dependencies.add_destinations(topology, routes, &others, None);
    if !alone.is_empty() {
        let routes = WithFlooding::new(plan, routes, active);
        for destination in alone {
            dependencies.add_destination(&routes, destination, topology.hosts());
        }
    }
    dependencies
}

/// A host of each switch that has any whose link is active, but for those that count `alone`.
fn one_host_of_each_switch<'a>(
    plan: &'a Plan,
    routes: &'a Routes,
    alone: &'a BTreeSet<NodeId>,
) -> impl Iterator<Item = NodeId> + 'a {
    let topology = &plan.topology;
    let adjacency = topology.adjacency();
    topology.switches().filter_map(move |switch| {
        let mut far = adjacency.ports_of(switch).iter().map(|port| port.node);
        far.find(|&node| {
            topology.is_host(node) && routes.is_attached(node) && !alone.contains(&node)
        })
    })
}

/// Those of the flows, their acknowledgements, and the connections of applications.
fn of_flows(plan: &Plan, routes: &Routes) -> BufferDependencies {
    let mut sources: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    let flows = plan.flows.iter().map(|flow| (flow.source, flow.destination));
    let connections = plan.connections.iter().map(|one| (one.ends[0].host, one.ends[1].host));
    for (a, b) in flows.chain(connections) {
        sources.entry(b).or_default().insert(a);
        sources.entry(a).or_default().insert(b);
    }
    let mut dependencies = BufferDependencies::new(&plan.topology);
    let routes = WithFlooding::new(plan, routes, &plan.active_links);
    for (destination, sources) in sources {
        dependencies.add_destination(&routes, destination, sources);
    }
    dependencies
}

fn after_failures(plan: &Plan, before: &BufferDependencies) -> FailureProof {
    let topology = &plan.topology;
    let is_by_hand = !plan.static_routes.is_empty();
    let spanning_tree = !is_by_hand && plan.active_links.iter().any(|active| !active);
    if spanning_tree {
        // Frames go simple ways along a tree, before and after: those never close a circle. Static
        // routes need not, and those whose links are up stay as they are beside another tree.
        let is_switch = |node: NodeId| !topology.is_host(node);
        let links = topology.links.iter().filter(|link| is_switch(link.a) && is_switch(link.b));
        let links = links.count();
        return FailureProof { links, examined: links, first: None, spanning_tree };
    }
    let floods = floods_for_the_silent(plan) || !flooded_hosts(plan).is_empty();
    let (links, examined, first) = if !is_by_hand && !floods {
        let found = LinkFailures::new(topology, &plan.active_links).search(before);
        (found.links, found.examined, found.cycle)
    } else {
        after_each_failure(plan)
    };
    let first = first.map(|(link, cycle)| {
        let name = |node: NodeId| &topology.nodes[node as usize].name;
        let ends = &topology.links[link as usize];
        CycleAfterFailure {
            link: format!("{} - {}", name(ends.a), name(ends.b)),
            cycle: cycle.describe(topology),
        }
    });
    FailureProof { links, examined, first, spanning_tree }
}

/// Links between switches, how many of their failures were examined, and the first that leads to a
/// cycle. With static routes or flooding, all dependencies are collected anew after each.
fn after_each_failure(plan: &Plan) -> (usize, usize, Option<(u32, DependencyCycle)>) {
    /// Some ten seconds, in steps along links.
    const MOST_STEPS: usize = 300_000_000;
    let topology = &plan.topology;
    let failing: Vec<u32> = (0..)
        .zip(&topology.links)
        .filter(|(_, link)| topology.is_switch(link.a) && topology.is_switch(link.b))
        .map(|(number, _)| number)
        .collect();
    let each = topology.links.len() * (topology.switches().count() + plan.static_routes.len());
    let affordable = failing.len().min(MOST_STEPS / each.max(1));
    for (place, &link) in failing[..affordable].iter().enumerate() {
        let active = active_without(plan, link);
        let Ok(routes) = plan.routes(&active) else { continue };
        if let Some(cycle) = with_silent(plan, &routes, &active).find_cycle() {
            return (failing.len(), place + 1, Some((link, cycle)));
        }
    }
    (failing.len(), affordable, None)
}

/// For each link whether frames cross it when one has failed, and all routes have been made anew.
fn active_without(plan: &Plan, failed: u32) -> Vec<bool> {
    let mut up = plan.topology.all_links_active();
    up[failed as usize] = false;
    own_failures::active_over(plan, up)
}

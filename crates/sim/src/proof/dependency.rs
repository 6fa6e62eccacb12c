//! Whether pauses can wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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

/// Why no dependencies were searched.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotSearched {
    /// The topology has no routes.
    Routes(RouteError),
    /// Bridges and routers are in one network, where ways depend on where frames come from.
    Domains,
    /// It would take too long.
    TooMuchWork {
        /// Hosts whose frames are followed by themselves.
        alone: usize,
        links: usize,
    },
}

impl fmt::Display for NotSearched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Routes(error) => error.fmt(f),
            Self::Domains => f.write_str(
                "not looked into with `[layer3]`, where the way of a frame depends on where it comes from",
            ),
            Self::TooMuchWork { alone, links } => {
                write!(f, "not proved, it would take too long: {links} links")?;
                match alone {
                    0 => Ok(()),
                    _ => write!(
                        f,
                        ", and {alone} hosts with static routes or flooding, each of which counts by itself"
                    ),
                }
            }
        }
    }
}

/// Work that may be done, in [steps](steps_of_all_pairs).
struct Budget {
    left: u64,
}

impl Budget {
    /// Some ten seconds, for all that is searched of a plan.
    const ALL: u64 = 2_000_000_000;
    /// Steps along links that take as long as two of these, see [`LinkFailures::with_most_steps`].
    const ALONG_LINKS_FOR_TWO: u64 = 3;

    /// Takes the work of a search, if it is affordable.
    fn take(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// How many searches of so much work are affordable, all that is left.
    fn affords(&self, each: u64) -> usize {
        usize::try_from(self.left / each.max(1)).unwrap_or(usize::MAX)
    }

    fn steps_along_links(&self) -> u64 {
        (self.left / 2).saturating_mul(Self::ALONG_LINKS_FOR_TWO)
    }
}

/// Searches the plan's routes.
///
/// # Errors
/// If the topology has no routes, or if it would take too long.
pub(super) fn find(
    plan: &Plan,
    tell: &mut dyn FnMut(ProofStage),
) -> Result<DependencyFinding, NotSearched> {
    find_within(plan, tell, Budget { left: Budget::ALL })
}

/// As [`find`], with a bound on the work.
fn find_within(
    plan: &Plan,
    tell: &mut dyn FnMut(ProofStage),
    mut budget: Budget,
) -> Result<DependencyFinding, NotSearched> {
    tell(ProofStage::Dependency);
    if plan.roce.domains.is_some() {
        return Err(NotSearched::Domains);
    }
    let topology = &plan.topology;
    if !budget.take(steps_of_all_pairs(plan)) {
        let (alone, links) = (hosts_alone(plan).len(), topology.links.len());
        return Err(NotSearched::TooMuchWork { alone, links });
    }
    let routes = plan.routes(&plan.active_links).map_err(NotSearched::Routes)?;
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
            own = own_failures::find(plan, &silent, budget.left);
            let examined = own.as_ref().map_or(0, |own| own.examined as u64);
            budget.left = budget.left.saturating_sub(examined * steps_of_all_pairs(plan));
            failures = Some(after_failures(plan, &silent, &budget));
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
    /// To follow frames along a link takes as long as so many comparisons.
    const EACH_FOLLOWED: u64 = 8;
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
    let groups = destinations.div_ceil(BufferDependencies::GROUP) as u64;
    let (mut alone, mut groups) = (hosts_alone(plan).len() as u64, groups);
    if floods_for_the_silent(plan) {
        // All of it again, with what is flooded.
        (alone, groups) = (alone + by_hand.len() as u64, groups * 2);
    }
    let compared = groups.saturating_mul(links + pairs_of_ports);
    links.saturating_mul(EACH_LINK + EACH_FOLLOWED * alone).saturating_add(compared)
}

/// The hosts that count by themselves: those with static routes, and those that frames are flooded for.
fn hosts_alone(plan: &Plan) -> BTreeSet<NodeId> {
    let mut alone = flooded_hosts(plan);
    alone.extend(plan.static_routes.iter().map(|route| route.destination));
    alone
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

/// Those of the flows, their acknowledgements, the connections of applications, and streams.
fn of_flows(plan: &Plan, routes: &Routes) -> BufferDependencies {
    let mut sources: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    let flows = plan.flows.iter().map(|flow| (flow.source, flow.destination));
    let connections =
        crate::plan::network_connections(plan).map(|(_, one)| (one.ends[0].host, one.ends[1].host));
    let streams = plan.streams.all.iter().map(|stream| (stream.source, stream.destination));
    for (a, b) in flows.chain(connections).chain(streams) {
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

fn after_failures(plan: &Plan, before: &BufferDependencies, budget: &Budget) -> FailureProof {
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
        let search = LinkFailures::new(topology, &plan.active_links);
        let found = search.with_most_steps(budget.steps_along_links()).search(before);
        (found.links, found.examined, found.cycle)
    } else {
        after_each_failure(plan, budget)
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
fn after_each_failure(
    plan: &Plan,
    budget: &Budget,
) -> (usize, usize, Option<(u32, DependencyCycle)>) {
    let topology = &plan.topology;
    let failing: Vec<u32> = (0..)
        .zip(&topology.links)
        .filter(|(_, link)| topology.is_switch(link.a) && topology.is_switch(link.b))
        .map(|(number, _)| number)
        .collect();
    let affordable = failing.len().min(budget.affords(steps_of_all_pairs(plan)));
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Planning, Scenario};

    /// Leaves and spines, where one leaf has a static route to a host of the other.
    fn plan() -> Plan {
        let text = "stop = \"1ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                    host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                    fabric_link = { rate = \"100Gbps\", cable = \"30m\" }\n[congestion_control.none]\n\
                    [[route]]\nswitch = \"leaf-0\"\ndestinations = [\"host-3\"]\nnext_hop = \"spine-1\"\n\
                    [workload.incast]\nsenders = 2\nreceiver = \"host-3\"\nbytes = \"10KB\"\n";
        let scenario = Scenario::parse(text, Path::new("routes.toml"), &[]);
        let plan = scenario.and_then(|scenario| scenario.plan());
        plan.unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn all_that_is_searched_shares_one_budget() {
        let plan = plan();
        let each = steps_of_all_pairs(&plan);
        let found = |left| find_within(&plan, &mut |_| (), Budget { left });
        let too_much = found(each - 1).expect_err("it is not affordable");
        assert_eq!(too_much, NotSearched::TooMuchWork { alone: 1, links: 8 });
        assert!(too_much.to_string().contains("not proved"), "{too_much}");
        for (searches, examined) in [(1, 0), (2, 1), (4, 3), (5, 4), (9, 4)] {
            let finding = found(each * searches).expect("the first search is affordable");
            let failures = finding.failures.expect("there is no cycle");
            assert_eq!((failures.links, failures.examined), (4, examined), "{searches}");
        }
    }
}

//! TCP that has nobody to talk to for the rest of a run that has no end of its own.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, Topology};
use rocelab_units::SimTime;

use crate::plan::{FailureChange, FailureStep, FlowPlan, Plan};
use crate::scenario::{FailureConfig, FailureKind, Fault, Scenario};

/// A failure without an end that a flow of TCP meets: at the dead host, or because links that stay down
/// leave no way between the flow's ends. TCP tries again until the end of the run, and there is none.
pub(super) fn endless_tcp(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    if plan.stop.is_some() || !plan.flows.iter().any(FlowPlan::is_tcp) {
        return None;
    }
    let fault = dead_host(scenario, plan).or_else(|| no_way_left(scenario, plan))?;
    Some(fault.help("give a `stop`, or `lasts`"))
}

fn dead_host(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.as_str();
    let talks = |host: &str| {
        let mut tcp = plan.flows.iter().filter(|flow| flow.is_tcp());
        tcp.any(|flow| name(flow.source) == host || name(flow.destination) == host)
    };
    let is_endless = |failure: &FailureConfig| {
        let dead = failure.kind == FailureKind::HostDown && failure.lasts.is_none();
        dead && failure.host.as_deref().is_some_and(|host| talks(host.trim()))
    };
    let index = scenario.failure.iter().position(is_endless)?;
    let message =
        "a flow of TCP begins or ends there, which never gives up: the run may last for ever";
    Some(Fault::at(format!("failure[{index}].host"), message))
}

fn no_way_left(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    let down = down_for_good(&plan.failures.steps);
    let mut times: Vec<SimTime> = down.values().copied().collect();
    times.sort_unstable();
    times.dedup();
    let cut_off_at = |at: SimTime| {
        let islands = islands(&plan.topology, |link| down.get(&link).is_none_or(|&from| from > at));
        let island = |node: NodeId| islands[node as usize];
        let mut tcp = plan.flows.iter().filter(|flow| flow.is_tcp());
        tcp.find(|flow| island(flow.source) != island(flow.destination))
    };
    // Links that are down for good only become more.
    let first = times.partition_point(|&at| cut_off_at(at).is_none());
    let at = *times.get(first)?;
    let flow = cut_off_at(at)?;
    let is_endless = |failure: &FailureConfig| {
        let cuts = matches!(failure.kind, FailureKind::LinkDown | FailureKind::SwitchReboot);
        cuts && failure.lasts.is_none()
    };
    let endless = || scenario.failure.iter().enumerate().filter(|(_, one)| is_endless(one));
    let (index, failure) =
        endless().find(|(_, failure)| failure.at == at).or_else(|| endless().next())?;
    let place = if failure.kind == FailureKind::LinkDown { "port" } else { "switch" };
    let name = |node: NodeId| &plan.topology.nodes[node as usize].name;
    let message = format!(
        "no way is left from {} to {} for a flow of TCP, which never gives up: the run may last for ever",
        name(flow.source),
        name(flow.destination)
    );
    Some(Fault::at(format!("failure[{index}].{place}"), message))
}

/// The links that are down when the last failure has come, and since when.
fn down_for_good(steps: &[FailureStep]) -> BTreeMap<u32, SimTime> {
    let mut held_down: BTreeMap<u32, (u32, SimTime)> = BTreeMap::new();
    for step in steps {
        match step.change {
            FailureChange::LinkDown(link) => {
                held_down.entry(link).or_insert((0, step.at)).0 += 1;
            }
            FailureChange::LinkUp(link) => {
                if let Some((times, _)) = held_down.get_mut(&link) {
                    *times = times.saturating_sub(1);
                    if *times == 0 {
                        held_down.remove(&link);
                    }
                }
            }
            _ => {}
        }
    }
    held_down.into_iter().map(|(link, (_, since))| (link, since)).collect()
}

/// A number for each node: equal where there is a way over links that are up.
fn islands(topology: &Topology, is_up: impl Fn(u32) -> bool) -> Vec<NodeId> {
    const UNSEEN: NodeId = NodeId::MAX;
    let adjacency = topology.adjacency();
    let mut islands = vec![UNSEEN; topology.nodes.len()];
    let mut reached = Vec::new();
    for start in (0..).take(topology.nodes.len()) {
        if islands[start as usize] != UNSEEN {
            continue;
        }
        islands[start as usize] = start;
        reached.push(start);
        while let Some(node) = reached.pop() {
            for neighbour in adjacency.ports_of(node).iter().filter(|port| is_up(port.link)) {
                let island = &mut islands[neighbour.node as usize];
                if *island == UNSEEN {
                    *island = start;
                    reached.push(neighbour.node);
                }
            }
        }
    }
    islands
}

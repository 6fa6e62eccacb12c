//! Cycles that follow from the scenario's own failures.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::BufferDependencies;
use rocelab_fabric::topology::spanning_tree_over;
use rocelab_units::SimTime;
use serde::Serialize;

use super::dependency::{steps_of_all_pairs, with_silent};
use crate::{FailureChange, Plan};

/// What follows from the scenario's own failures, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnFailures {
    /// How many other sets of links carry frames at some time than at the beginning.
    pub changes: usize,
    /// How many of these were examined: as many of the first as are not too costly.
    pub examined: usize,
    /// When the first begins that was not examined, if all before it have no cycle (ps).
    pub not_examined_from_ps: Option<u64>,
    /// The egress queues of a cycle that frames of the same routes close.
    pub cycle: Option<String>,
    /// If there is none: a cycle of frames that still wait by earlier routes, and of those that follow later
    /// ones. Then it is not proved that there is none.
    pub cycle_of_mixed: Option<String>,
}

/// Looks at the routes whenever they are made anew; none if they never are. A frame waits where the routes of its
/// arrival sent it, so that those of before count too. `before` has no cycle.
pub(super) fn find(plan: &Plan, before: &BufferDependencies) -> Option<OwnFailures> {
    /// Some two seconds.
    const MOST_STEPS: u64 = 100_000_000;
    find_within(plan, before, MOST_STEPS)
}

/// As [`find`], with a bound on the work, in [steps](super::dependency::steps_of_all_pairs).
fn find_within(plan: &Plan, before: &BufferDependencies, most_steps: u64) -> Option<OwnFailures> {
    let changes = link_states(plan);
    if changes.is_empty() {
        return None;
    }
    let affordable = most_steps / steps_of_all_pairs(plan).max(1);
    let affordable = changes.len().min(usize::try_from(affordable).unwrap_or(usize::MAX));
    let mut own = OwnFailures {
        changes: changes.len(),
        examined: 0,
        not_examined_from_ps: changes.get(affordable).map(|state| state.since.ps()),
        cycle: None,
        cycle_of_mixed: None,
    };
    let mut mixed = before.clone();
    for state in &changes[..affordable] {
        own.examined += 1;
        let active = &state.active(plan);
        // Routes that would be none of all are left as they were.
        let Ok(routes) = plan.routes(active) else { continue };
        let after = with_silent(plan, &routes, active);
        own.cycle = after.find_cycle().map(|cycle| cycle.describe(&plan.topology));
        if own.cycle.is_some() {
            own.not_examined_from_ps = None;
            return Some(own);
        }
        mixed.merge(&after);
    }
    // Those of before alone have no cycle.
    if own.examined > 0 {
        own.cycle_of_mixed = mixed.find_cycle().map(|cycle| cycle.describe(&plan.topology));
    }
    Some(own)
}

/// Which links carry frames from some time on.
struct LinkState {
    since: SimTime,
    /// Those of which that is not as at the beginning; few, where all links are many.
    changed: Vec<u32>,
}

impl LinkState {
    /// For each link whether it carries frames.
    fn active(&self, plan: &Plan) -> Vec<bool> {
        let mut active = plan.active_links.clone();
        for &link in &self.changed {
            active[link as usize] ^= true;
        }
        active
    }
}

/// For each time that routes are made anew, which links carry frames; each state once, and not that of the
/// beginning.
fn link_states(plan: &Plan) -> Vec<LinkState> {
    let mut down: BTreeMap<u32, u32> = BTreeMap::new();
    let mut states = Vec::new();
    let mut known_down: BTreeSet<Vec<u32>> = BTreeSet::new();
    let mut known = BTreeSet::from([Vec::new()]);
    for step in &plan.failures.steps {
        match step.change {
            FailureChange::LinkDown(link) => *down.entry(link).or_default() += 1,
            FailureChange::LinkUp(link) => {
                let failures = down.remove(&link).unwrap_or(0);
                if failures > 1 {
                    down.insert(link, failures - 1);
                }
            }
            FailureChange::Reroute => {
                let now_down: Vec<u32> = down.keys().copied().collect();
                if !known_down.insert(now_down.clone()) {
                    continue;
                }
                let changed = changed_without(plan, now_down);
                if known.insert(changed.clone()) {
                    states.push(LinkState { since: step.at, changed });
                }
            }
            _ => {}
        }
    }
    states
}

/// The links that carry frames at the beginning and not while these are down, or the other way round.
fn changed_without(plan: &Plan, down: Vec<u32>) -> Vec<u32> {
    if !plan.failures.spanning_tree {
        return down.into_iter().filter(|&link| plan.active_links[link as usize]).collect();
    }
    let mut up = plan.topology.all_links_active();
    for link in down {
        up[link as usize] = false;
    }
    let active = active_over(plan, up);
    let both = (0..).zip(active.iter().zip(&plan.active_links));
    both.filter(|(_, (now, first))| now != first).map(|(link, _)| link).collect()
}

/// For each link whether frames cross it where these links are up, and all routes have been made anew.
pub(super) fn active_over(plan: &Plan, mut up: Vec<bool>) -> Vec<bool> {
    if plan.failures.spanning_tree {
        return spanning_tree_over(&plan.topology, &up);
    }
    for (up, &active) in up.iter_mut().zip(&plan.active_links) {
        *up &= active;
    }
    up
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;
    use crate::proof::Proof;

    /// A fat tree in which the links of some hosts fail, 10 us after one another; one of them twice.
    fn plan(k: u32, hosts: u32) -> Plan {
        let failures: String = (0..hosts)
            .chain([0])
            .map(|host| {
                format!(
                    "[[failure]]\nkind = \"link-down\"\nport = \"host-{host}\"\nat = \"{}us\"\n",
                    10 + host * 10
                )
            })
            .collect();
        let text = format!(
            "stop = \"1ms\"\n[topology.fat-tree]\nk = {k}\n\
             host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
             [congestion_control.none]\n{failures}\
             [workload.incast]\nsenders = 3\nreceiver = \"host-9\"\nbytes = \"10KB\"\n"
        );
        let scenario = Scenario::parse(&text, Path::new("failures.toml"), &[]);
        scenario.and_then(|scenario| scenario.plan()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn changes_that_cost_too_much_are_left_out_and_that_is_said() {
        let plan = plan(4, 5);
        let mut proof = Proof::of(&plan);
        let routes = plan.routes(&plan.active_links).expect("it is connected");
        let before = with_silent(&plan, &routes, &plan.active_links);
        let each = steps_of_all_pairs(&plan);
        for (steps, examined, from_us) in
            [(each * 5, 5, None), (each * 3 + 1, 3, Some(40)), (each - 1, 0, Some(10))]
        {
            let own = find_within(&plan, &before, steps).expect("routes change");
            assert_eq!((own.changes, own.examined), (5, examined));
            assert_eq!(own.not_examined_from_ps, from_us.map(|us: u64| us * 1_000_000));
            assert!(own.cycle.is_none() && own.cycle_of_mixed.is_none());
            let finding = proof.buffer_dependency.as_mut().expect("it was looked into");
            finding.own_failures = Some(own);
            let text = proof.to_string();
            assert_eq!(text.contains("ok    own failures"), from_us.is_none(), "{text}");
            let left_out = format!("not proved for {} of 5 changes of routes", 5 - examined);
            assert_eq!(text.contains(&left_out), from_us.is_some(), "{text}");
        }
    }

    #[test]
    fn the_work_grows_with_groups_of_destinations_and_not_with_links_alone() {
        let small = plan(8, 1);
        let large = plan(32, 1);
        let links = (large.topology.links.len() / small.topology.links.len()) as u64;
        // 64 times the links; four times the ports of a switch.
        assert_eq!(links, 64);
        let (small, large) = (steps_of_all_pairs(&small), steps_of_all_pairs(&large));
        assert!(large > links * small, "{large} {small}");
    }
}

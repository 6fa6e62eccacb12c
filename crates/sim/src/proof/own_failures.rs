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
    /// How many other sets of links carry frames at some time than at the beginning. Where not all are examined,
    /// one of the others counts each time that it comes.
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
/// arrival sent it, so that those of before count too. `before` has no cycle. Takes at most `steps_left`, in
/// [steps](super::dependency::steps_of_all_pairs).
pub(super) fn find(
    plan: &Plan,
    before: &BufferDependencies,
    steps_left: u64,
) -> Option<OwnFailures> {
    /// Some two seconds.
    const MOST_STEPS: u64 = 100_000_000;
    find_within(plan, before, steps_left.min(MOST_STEPS))
}

/// As [`find`], with a bound on the work, in [steps](super::dependency::steps_of_all_pairs).
fn find_within(plan: &Plan, before: &BufferDependencies, most_steps: u64) -> Option<OwnFailures> {
    let affordable = most_steps / steps_of_all_pairs(plan).max(1);
    let affordable = usize::try_from(affordable).unwrap_or(usize::MAX);
    let LinkStates { states, left_out, left_out_from } =
        LinkStates::of(plan, affordable, most_steps);
    if states.is_empty() && left_out == 0 {
        return None;
    }
    let mut own = OwnFailures {
        changes: states.len() + left_out,
        examined: 0,
        not_examined_from_ps: left_out_from.map(SimTime::ps),
        cycle: None,
        cycle_of_mixed: None,
    };
    let mut mixed = before.clone();
    for state in &states {
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

/// Which links carry frames when routes are made anew: each state once, and not that of the beginning.
#[derive(Default)]
struct LinkStates {
    /// As many of the first as are looked into.
    states: Vec<LinkState>,
    /// How often the links that are down were others after that, and when that was first.
    left_out: usize,
    left_out_from: Option<SimTime>,
}

impl LinkStates {
    /// At most so many, with a bound on the work to tell them apart.
    fn of(plan: &Plan, most: usize, most_steps: u64) -> Self {
        let mut found = Self::default();
        let mut down = DownLinks::default();
        let mut known = KnownStates::new(most_steps);
        for step in &plan.failures.steps {
            match step.change {
                FailureChange::LinkDown(link) => down.add(link),
                FailureChange::LinkUp(link) => down.remove(link),
                FailureChange::Reroute if std::mem::take(&mut down.are_others) => {
                    found.note(step.at, &mut known, &down, (plan, most));
                }
                _ => {}
            }
        }
        found
    }

    fn note(
        &mut self,
        at: SimTime,
        known: &mut KnownStates,
        down: &DownLinks,
        (plan, most): (&Plan, usize),
    ) {
        if self.left_out == 0 {
            match known.judge(plan, down) {
                Judgement::Known => return,
                Judgement::New(changed) if self.states.len() < most => {
                    self.states.push(LinkState { changed });
                    return;
                }
                Judgement::New(_) | Judgement::TooMuchWork => {}
            }
        }
        self.left_out += 1;
        self.left_out_from.get_or_insert(at);
    }
}

/// The links that are down, with how many failures hold each.
#[derive(Default)]
struct DownLinks {
    failures: BTreeMap<u32, u32>,
    /// Whether others are down than when routes were last made anew; or were in between.
    are_others: bool,
}

impl DownLinks {
    fn add(&mut self, link: u32) {
        let failures = self.failures.entry(link).or_default();
        *failures += 1;
        self.are_others |= *failures == 1;
    }

    fn remove(&mut self, link: u32) {
        let failures = self.failures.remove(&link).unwrap_or(0);
        match failures {
            0 => {}
            1 => self.are_others = true,
            _ => {
                self.failures.insert(link, failures - 1);
            }
        }
    }
}

/// The states that have been seen, as long as that takes no more than a bound of work; and so of memory.
struct KnownStates {
    steps_left: u64,
    /// By the links that are down, and by those that carry frames.
    down: BTreeSet<Vec<u32>>,
    changed: BTreeSet<Vec<u32>>,
}

/// What is known of a state.
enum Judgement {
    Known,
    /// It is new, and these links carry frames there and not at the beginning, or the other way round.
    New(Vec<u32>),
    TooMuchWork,
}

impl KnownStates {
    fn new(most_steps: u64) -> Self {
        let changed = BTreeSet::from([Vec::new()]);
        Self { steps_left: most_steps, down: BTreeSet::new(), changed }
    }

    fn judge(&mut self, plan: &Plan, down: &DownLinks) -> Judgement {
        /// To keep each link that is down, and to make a tree over each link.
        const EACH_DOWN: u64 = 16;
        const EACH_OF_TREE: u64 = 16;
        let tree = if plan.failures.spanning_tree { plan.topology.links.len() as u64 } else { 0 };
        if !self.affords(EACH_DOWN * down.failures.len() as u64) {
            return Judgement::TooMuchWork;
        }
        let now_down: Vec<u32> = down.failures.keys().copied().collect();
        if self.down.contains(&now_down) {
            return Judgement::Known;
        }
        if !self.affords(EACH_OF_TREE * tree) {
            return Judgement::TooMuchWork;
        }
        self.down.insert(now_down.clone());
        let changed = changed_without(plan, now_down);
        if self.changed.insert(changed.clone()) {
            Judgement::New(changed)
        } else {
            Judgement::Known
        }
    }

    fn affords(&mut self, steps: u64) -> bool {
        let left = self.steps_left.checked_sub(steps);
        self.steps_left = left.unwrap_or(0);
        left.is_some()
    }
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
    use crate::proof::Proof;
    use crate::{Planning, Scenario};

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
    fn states_are_told_apart_and_kept_as_long_as_that_is_affordable() {
        let plan = plan(4, 5);
        let states = |most, steps| {
            let found = LinkStates::of(&plan, most, steps);
            (found.states.len(), found.left_out, found.left_out_from.map(SimTime::ps))
        };
        assert_eq!(states(9, u64::MAX), (5, 0, None));
        // One link that is down, then two, then three: each takes 16 steps.
        assert_eq!(states(9, 16 * (1 + 2 + 3)), (3, 2, Some(40_000_000)));
        assert_eq!(states(9, 15), (0, 5, Some(10_000_000)));
        assert_eq!(states(2, u64::MAX), (2, 3, Some(30_000_000)));
        let tree = |version: &str| {
            let text = format!(
                "stop = \"1ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                 host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
                 fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[roce]\nversion = {version}\n\
                 [congestion_control.none]\n\
                 [[failure]]\nkind = \"link-down\"\nport = \"spine-0:0\"\nat = \"10us\"\n\
                 [workload.incast]\nsenders = 2\nreceiver = \"host-3\"\nbytes = \"10KB\"\n"
            );
            let scenario = Scenario::parse(&text, Path::new("tree.toml"), &[]);
            let plan = scenario.and_then(|scenario| scenario.plan());
            let plan = plan.unwrap_or_else(|error| panic!("{error}"));
            LinkStates::of(&plan, 9, 16).states.len()
        };
        assert_eq!(tree("2"), 1);
        assert_eq!(tree("1"), 0, "a tree over eight links takes more");
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

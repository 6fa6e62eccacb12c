//! All pauses of a run at a glance: where they began, which were long, and who suffered from what
//! they had no part in.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_fabric::FlowControl;
use rocelab_results::{DeadlockRecord, PauseCause};
use serde::Serialize;

use super::error::ExplainError;
use super::probes::Probes;
use super::replay::replay;
use super::selection::Selection;
use super::victim::Victim;
use crate::network::StuckQueue;
use crate::output::deadlock_records;
use crate::pause_tree::{PauseTree, Root};
use crate::simulation::Simulation;
use crate::{Observer, Plan};

/// Pauses, roots and victims that are listed, at the most.
const LISTED: usize = 100;

/// The pauses of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Survey {
    /// The digest of the run, as in `summary.json`.
    pub digest: String,
    /// When the run ended (ps).
    pub end_ps: u64,
    /// Times that a lane waited for credits; left out on Ethernet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_waits: Option<u64>,
    /// All pauses.
    pub pauses: usize,
    /// Their lengths, added up (ps).
    pub paused_ps: u64,
    /// Frames dropped, by reason, as in `summary.json`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub drops: BTreeMap<&'static str, u64>,
    /// Queues that watchdogs took for ones in a storm, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storms: Vec<StormedQueue>,
    /// Deadlocks, as in `summary.json`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<DeadlockRecord>,
    /// Places where pauses began.
    pub all_roots: usize,
    /// Those who waited for pauses whose root cause they have no part in.
    pub all_victims: usize,
    /// Where pauses began: at most 100, those first whose pauses took the most time.
    pub roots: Vec<RootCause>,
    /// The longest pauses: at most 100.
    pub longest: Vec<LongPause>,
    /// Who waited for pauses whose root cause they have no part in: at most 100, those first that
    /// waited longest.
    pub victims: Vec<Victim>,
}

/// An egress queue that a watchdog let go, once or more often, because a pause of it lasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StormedQueue {
    /// Name of the switch.
    pub switch: String,
    /// Its port, from 0.
    pub port: u16,
    /// The priority whose pause lasted, 0 to 7.
    pub priority: u8,
    /// How often.
    pub times: u64,
    /// When first (ps).
    pub first_ps: u64,
}

/// Where pauses began, and all that followed from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootCause {
    /// The congested egress port, as `switch:port`, or the host that asked for pauses; `deadlock N` of
    /// those in [a deadlock](Survey::deadlocks), by its place there, which began nowhere.
    pub place: String,
    /// The priority that asked, 0 to 7.
    pub priority: u8,
    /// Pauses that this place led to, each of one priority: PAUSE pauses eight at once.
    pub pauses: usize,
    /// Their lengths, added up (ps).
    pub paused_ps: u64,
    /// Pauses of it one after the other in the longest chain.
    pub deepest: usize,
}

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongPause {
    /// Its place in `pauses.json`.
    pub pause: usize,
    /// Name of the node that was paused.
    pub node: String,
    /// Its port, from 0.
    pub port: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// When it began (ps).
    pub start_ps: u64,
    /// How long it lasted, or did until the run ended (ps).
    pub ps: u64,
    /// What the node that asked for it waited for, as in `pauses.json`.
    pub waits_for: String,
    /// What the first pause of its chain waited for, as in [`RootCause::place`].
    pub root: String,
}

/// Runs `plan` again and looks at its pauses. The observer is called every now and then and may break
/// the run off.
///
/// # Errors
/// If the plan is not of the native profile.
pub fn survey(plan: Arc<Plan>, observe: &mut Observer<'_>) -> Result<Survey, ExplainError> {
    Selection::Everything.check(&plan)?;
    let mut probes = Probes::for_survey(&plan);
    let simulation = replay(&plan, &mut probes, observe)?;
    Ok(told(&plan, probes, &simulation))
}

/// What was seen of a run that is over.
fn told(plan: &Plan, probes: Probes<'_>, simulation: &Simulation) -> Survey {
    let end_ps = simulation.now().ps();
    let (pauses, mut victims) = probes.surveyed(simulation.network(), simulation.now());
    victims
        .sort_by_key(|victim| (std::cmp::Reverse(victim.hol_ps), victim.flow, victim.connection));
    let all_victims = victims.len();
    victims.truncate(LISTED);
    let digest = format!("{:016x}", simulation.network().digest());
    let deadlocks = simulation.network().deadlocks();
    let deadlocks = deadlock_records(plan, deadlocks, pauses.tree());
    let drops = simulation.network().totals(simulation.now()).drops;
    let storms = storms(plan, pauses.tree());
    let of_pauses = of_pauses(pauses.tree(), end_ps);
    let counts = simulation.network().ports().map(|one| one.port.flow_control().credit_counts());
    let credit_waits = plan.infiniband.as_ref().map(|_| counts.map(|one| one.waits).sum());
    Survey { digest, credit_waits, drops, storms, deadlocks, all_victims, victims, ..of_pauses }
}

/// The queues that watchdogs let go.
fn storms(plan: &Plan, pauses: &PauseTree<'_>) -> Vec<StormedQueue> {
    let mut storms: BTreeMap<StuckQueue, (u64, u64)> = BTreeMap::new();
    for (time, queue) in pauses.let_go() {
        storms.entry(queue).or_insert((0, time)).0 += 1;
    }
    let storm = |(queue, (times, first_ps)): (StuckQueue, (u64, u64))| StormedQueue {
        switch: plan.topology.nodes[queue.node as usize].name.clone(),
        port: queue.port,
        priority: queue.priority,
        times,
        first_ps,
    };
    storms.into_iter().map(storm).collect()
}

/// What pauses say by themselves.
fn of_pauses(pauses: &PauseTree<'_>, end_ps: u64) -> Survey {
    let all = pauses.pauses();
    let length = |pause: &PauseCause| pause.end_ps.unwrap_or(end_ps).saturating_sub(pause.start_ps);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(length(&all[index])), index));
    let longest = order.into_iter().take(LISTED).map(|index| {
        let pause = &all[index];
        LongPause {
            pause: index,
            node: pause.node.clone(),
            port: pause.port,
            priority: pause.priority,
            start_ps: pause.start_ps,
            ps: length(pause),
            waits_for: pause.waits_for.clone(),
            root: pauses.root(index).to_string(),
        }
    });
    let mut roots = roots(pauses, length);
    let all_roots = roots.len();
    roots.truncate(LISTED);
    Survey {
        digest: String::new(),
        drops: BTreeMap::new(),
        storms: Vec::new(),
        end_ps,
        credit_waits: None,
        pauses: all.len(),
        paused_ps: all.iter().map(length).sum(),
        deadlocks: Vec::new(),
        all_roots,
        all_victims: 0,
        roots,
        longest: longest.collect(),
        victims: Vec::new(),
    }
}

/// Where pauses of some length each began, those first whose pauses took the most time.
fn roots(pauses: &PauseTree<'_>, length: impl Fn(&PauseCause) -> u64) -> Vec<RootCause> {
    let mut roots: BTreeMap<(Root<'_>, u8), (usize, u64, usize)> = BTreeMap::new();
    // By pause: those of its chain that have the same root, one after the other up to it.
    let mut depths: Vec<usize> = Vec::with_capacity(pauses.pauses().len());
    for (index, pause) in pauses.pauses().iter().enumerate() {
        let root = pauses.root(index);
        let above = pause.parent.filter(|&parent| pauses.root(parent) == root);
        depths.push(1 + above.map_or(0, |parent| depths[parent]));
        let priority = pause.because_of.unwrap_or(pause.priority);
        let (count, ps, deepest) = roots.entry((root, priority)).or_default();
        *count += 1;
        *ps += length(pause);
        *deepest = (*deepest).max(depths[index]);
    }
    let root = |((root, priority), (pauses, paused_ps, deepest)): ((Root<'_>, u8), _)| RootCause {
        place: root.to_string(),
        priority,
        pauses,
        paused_ps,
        deepest,
    };
    let mut roots: Vec<RootCause> = roots.into_iter().map(root).collect();
    roots.sort_by_key(|root| std::cmp::Reverse(root.paused_ps));
    roots
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::*;
    use crate::{Planning, Scenario};

    fn plan(file: &str, overrides: &[(&str, &str)]) -> Arc<Plan> {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let overrides = overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
        let scenario = Scenario::load(&scenarios.join(file), &overrides.collect::<Vec<_>>());
        Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap())
    }

    /// A survey, and the waits that were known at its end.
    fn surveyed(plan: &Arc<Plan>, mut probes: Probes<'_>) -> (Survey, usize) {
        let simulation = replay(plan, &mut probes, &mut |_| ControlFlow::Continue(())).unwrap();
        let waits = probes.known_waits();
        (told(plan, probes, &simulation), waits)
    }

    /// What is forgotten on the way is not missed at the end, and is most of what there was.
    #[test]
    fn how_long_logs_are_kept_changes_nothing() {
        let plan = plan("dcqcn-victim-flow.toml", &[("stop", "3ms")]);
        let (kept, all) = surveyed(&plan, Probes::for_survey(&plan));
        let (forgot, few) = surveyed(&plan, Probes::for_survey(&plan).forgetful());
        assert!(!kept.victims.is_empty(), "{kept}");
        assert_eq!(kept.victims, forgot.victims);
        assert_eq!(kept.roots, forgot.roots);
        // All but the victim wait for pauses that they have a part in.
        assert!(few > 0 && few * 10 < all, "{few} of {all}");
    }

    /// Nor where pauses turn out to be of a deadlock.
    #[test]
    fn how_long_logs_are_kept_changes_nothing_around_a_deadlock() {
        let overrides = [
            ("roce.service", "rc"),
            ("watchdog.switch.detect", "300us"),
            ("watchdog.switch.restore", "300us"),
            ("watchdog.switch.poll", "100us"),
            ("watchdog.switch.action", "forward"),
            ("stop", "3ms"),
        ];
        for overrides in [&overrides[..], &[("on_deadlock", "continue"), ("stop", "3ms")]] {
            let plan = plan("hotnets16-ring.toml", overrides);
            let (kept, all) = surveyed(&plan, Probes::for_survey(&plan));
            let (forgot, few) = surveyed(&plan, Probes::for_survey(&plan).forgetful());
            assert!(!kept.deadlocks.is_empty() && few < all, "{few} of {all}: {kept}");
            assert_eq!(kept.victims, forgot.victims, "{few} of {all}");
        }
    }

    /// Frames that a failing link loses are followed no longer; what is paused behind it stays.
    #[test]
    fn a_packet_that_was_dropped_is_gone() {
        let text = "stop = \"1ms\"\n[roce]\nack_timeout = 0\n[topology.leaf-spine]\nleaves = 2\n\
                    spines = 1\nhosts_per_leaf = 2\n\
                    host_link = { rate = \"40Gbps\", cable = \"3m\" }\n\
                    fabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n[switch]\n\
                    buffer = \"2MB\"\n[congestion_control.none]\n[[failure]]\n\
                    kind = \"pause-storm\"\nhost = \"host-2\"\nat = \"100us\"\n[[failure]]\n\
                    kind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"300us\"\n\
                    [workload.flows]\nlist = [\n\
                    { from = \"host-0\", to = \"host-2\", bytes = \"2MB\" },\n\
                    { from = \"host-1\", to = \"host-3\", bytes = \"2MB\" },\n]\n";
        let scenario = Scenario::parse(text, Path::new("flushed.toml"), &[]);
        let plan = Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap());
        let mut probes = Probes::for_survey(&plan);
        let simulation = replay(&plan, &mut probes, &mut |_| ControlFlow::Continue(())).unwrap();
        let totals = simulation.network().totals(simulation.now());
        let flushed = totals.drops["link_down"];
        assert!(flushed > 100, "{totals:?}");
        let gone = totals.frames_delivered + totals.frames_dropped;
        let there = totals.frames_created - gone;
        assert!(there > 100, "{totals:?}");
        assert_eq!(probes.followed() as u64, there, "{totals:?}");
    }
}

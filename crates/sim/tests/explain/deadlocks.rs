//! Pauses that lead to each other in a circle have no root: the deadlock is named.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_sim::explain::{Cause, Explained, Selection, Survey, explain, survey};
use rocelab_sim::{Execution, Plan, Planning, Scenario, Simulation};

use crate::causes::recorded;

/// A ring of four switches that locks up.
fn ring() -> Arc<Plan> {
    ring_with(&[])
}

fn ring_with(overrides: &[(&str, &str)]) -> Arc<Plan> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/hotnets16-ring.toml");
    let overrides = overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
    let scenario = Scenario::load(&file, &overrides.collect::<Vec<_>>());
    Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap())
}

/// The ring with watchdogs, which end its deadlock 300 us and more after it closed; then all flows
/// complete.
fn watched_ring() -> Arc<Plan> {
    ring_with(&[
        ("roce.service", "rc"),
        ("roce.ack_timeout", "8"),
        ("watchdog.switch.detect", "300us"),
        ("watchdog.switch.restore", "300us"),
        ("watchdog.switch.poll", "100us"),
        ("watchdog.switch.action", "forward"),
        ("workload.flows[0].list[0].bytes", "5MB"),
        ("workload.flows[0].list[1].bytes", "5MB"),
        ("workload.flows[1].list[0].bytes", "2MB"),
        ("stop", "20ms"),
    ])
}

fn explained(plan: &Arc<Plan>) -> Explained {
    explain(Arc::clone(plan), &Selection::Everything, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// The pauses that flows waited for, by their places in `pauses.json`, and roots.
fn waits(explained: &Explained) -> Vec<(usize, &str)> {
    let parts = explained.flows.iter().flat_map(|flow| &flow.parts);
    let waits = parts.filter_map(|part| match &part.cause {
        Some(Cause::PausedBy { pause, root, .. }) => Some((*pause, root.as_str())),
        _ => None,
    });
    waits.collect()
}

fn surveyed(plan: &Arc<Plan>) -> Survey {
    survey(Arc::clone(plan), &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn a_survey_names_the_deadlock_and_its_cycle() {
    let found = surveyed(&ring());
    let [deadlock] = found.deadlocks.as_slice() else { panic!("{found}") };
    let ports: Vec<String> =
        deadlock.cycle.iter().map(|queue| format!("{}:{}", queue.switch, queue.port)).collect();
    assert_eq!(ports.len(), 4, "{found}");
    let text = found.to_string();
    let around = deadlock.cycle.iter().chain(&deadlock.cycle[..1]);
    let around = around.map(|at| format!("{}:{} (priority {})", at.switch, at.port, at.priority));
    let around = around.collect::<Vec<_>>().join(" -> ");
    let (us, ps) = (deadlock.began_ps / 1_000_000, deadlock.began_ps % 1_000_000);
    assert!(text.contains(&format!("deadlock 0, at {us}.{ps:06} us, of ")), "{text}");
    assert!(text.contains(&around), "{text}");
    assert!(!text.contains("freed") && deadlock.to_string().contains("can never move"), "{text}");

    // Whatever lasts at the end lasts because of it.
    let lasting = found.longest.iter().filter(|pause| pause.start_ps + pause.ps == found.end_ps);
    let lasting: Vec<_> = lasting.collect();
    assert!(lasting.len() > ports.len(), "those of the cycle, and of hosts: {found}");
    assert!(lasting.iter().all(|pause| pause.root == "deadlock 0"), "{found}");
    let root = found.roots.iter().find(|root| root.place == "deadlock 0").expect("it is a root");
    assert_eq!(root.pauses, lasting.len(), "{found}");
    assert_eq!(root.paused_ps, lasting.iter().map(|pause| pause.ps).sum::<u64>(), "{found}");
    // Who sends around the cycle has a part in it.
    assert!(found.victims.iter().all(|victim| victim.root != "deadlock 0"), "{found}");
}

#[test]
fn a_flow_that_is_stuck_in_it_is_told_so() {
    let explained = explained(&ring());
    for flow in explained.flows.iter().filter(|flow| flow.status == "unfinished") {
        let mut paused = flow.parts.iter().filter_map(|part| match &part.cause {
            Some(Cause::PausedBy { root, .. }) => Some(root.as_str()),
            _ => None,
        });
        assert_eq!(paused.next_back(), Some("deadlock 0"), "{flow}");
    }
}

/// When it ended, the deadlock was over, and no flow had looked back at it. The other two lost packets
/// of that time, so that theirs went to retransmission.
#[test]
fn a_flow_that_completed_after_a_deadlock_is_told_so() {
    let plan = watched_ring();
    let survey = surveyed(&plan);
    let [deadlock] = survey.deadlocks.as_slice() else { panic!("{survey}") };
    let freed = deadlock.freed_ps.expect("a watchdog acts");
    assert!((300_000_000..500_000_000).contains(&(freed - deadlock.began_ps)), "{survey}");
    let mut cycle = deadlock.cycle.iter().map(|queue| format!("{}:{}", queue.switch, queue.port));
    let watchdog = deadlock.watchdog.as_ref().expect("a queue");
    assert!(cycle.any(|queue| queue == *watchdog), "{survey}");
    let totals = {
        let mut simulation: Simulation = Simulation::new(Arc::clone(&plan)).unwrap();
        simulation.run_to_end();
        simulation.network().totals(simulation.now())
    };
    assert_eq!(survey.storms.iter().map(|queue| queue.times).sum::<u64>(), totals.storms);
    assert!(totals.storms > 0 && survey.storms.iter().all(|queue| queue.first_ps <= freed));
    assert_eq!(survey.drops, totals.drops, "{survey}");
    let (us, ps) = (freed / 1_000_000, freed % 1_000_000);
    let words = format!("; freed at {us}.{ps:06} us by the watchdog of {watchdog}\n");
    assert!(survey.to_string().contains(&words), "{survey}");
    let words =
        format!("could not move until {us}.{ps:06} us, when the watchdog of {watchdog} acted");
    assert!(deadlock.to_string().contains(&words), "{deadlock}");
    let explained = explained(&plan);
    let flow = explained.flows.iter().find(|flow| flow.retransmitted_packets == Some(0));
    let flow = flow.expect("flow 2 loses nothing");
    assert_eq!((flow.source.as_str(), flow.status), ("host-4", "completed"), "{flow}");
    let in_deadlock = flow.parts.iter().filter_map(|part| match &part.cause {
        Some(Cause::PausedBy { root, .. }) if root == "deadlock 0" => Some(part.ps),
        _ => None,
    });
    assert!(in_deadlock.sum::<u64>() > 300_000_000, "{flow}");
    // All flows cross ports of its cycle, and none is a victim of it.
    let blocked: Vec<_> = survey.victims.iter().map(|victim| victim.hol_ps).collect();
    assert!(blocked.iter().all(|&ps| ps < 300_000_000), "{survey}");
}

#[test]
fn pauses_json_has_the_roots_that_explanations_have() {
    let plan = watched_ring();
    let pauses = recorded(&plan, Execution::SEQUENTIAL);
    let root = |number: usize| {
        let first = |&at: &usize| pauses[at].parent;
        let first = std::iter::successors(Some(number), first).last().expect("itself");
        let deadlock = pauses[number].deadlock.map(|number| format!("deadlock {number}"));
        deadlock.unwrap_or_else(|| pauses[first].waits_for.clone())
    };
    let survey = surveyed(&plan);
    assert_eq!(survey.pauses, pauses.len());
    for pause in &survey.longest {
        assert_eq!(pause.root, root(pause.pause), "{pause:?}");
    }
    let explained = explained(&plan);
    let waits = waits(&explained);
    assert!(waits.len() > 10, "{waits:?}");
    for (pause, found) in waits {
        assert_eq!(found, root(pause), "{:?}", pauses[pause]);
    }
    let in_deadlock = pauses.iter().filter(|pause| pause.deadlock == Some(0)).count();
    assert!((4..pauses.len()).contains(&in_deadlock), "{in_deadlock} of {}", pauses.len());
}

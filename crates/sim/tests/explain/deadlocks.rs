//! Pauses that lead to each other in a circle have no root: the deadlock is named.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_sim::explain::{Cause, Selection, Survey, explain, survey};
use rocelab_sim::{Plan, Scenario};

/// A ring of four switches that locks up.
fn ring() -> Arc<Plan> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/hotnets16-ring.toml");
    Arc::new(Scenario::load(&file, &[]).and_then(|scenario| scenario.plan()).unwrap())
}

fn surveyed(plan: &Arc<Plan>) -> Survey {
    survey(Arc::clone(plan), |_| ControlFlow::Continue(())).unwrap()
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
    let plan = ring();
    let explained =
        explain(Arc::clone(&plan), &Selection::Everything, |_| ControlFlow::Continue(())).unwrap();
    for flow in explained.flows.iter().filter(|flow| flow.status == "unfinished") {
        let mut paused = flow.parts.iter().filter_map(|part| match &part.cause {
            Some(Cause::PausedBy { root, .. }) => Some(root.as_str()),
            _ => None,
        });
        assert_eq!(paused.next_back(), Some("deadlock 0"), "{flow}");
    }
}

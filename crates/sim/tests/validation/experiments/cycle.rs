//! The cycle that a run ended in, beside those that were printed before it.

use rocelab_sim::Plan;
use rocelab_sim::proof::Proof;

use crate::support::Run;

/// The egress queues of the only deadlock of a run, by name and port, from the lowest switch on; none
/// if there was no deadlock.
pub(super) fn of_run(run: &Run) -> Option<Vec<String>> {
    let [deadlock] = run.simulation.network().deadlocks() else { return None };
    let name = |node: u32| &run.plan.topology.nodes[node as usize].name;
    Some(
        deadlock.cycle.iter().map(|queue| format!("{}:{}", name(queue.node), queue.port)).collect(),
    )
}

/// What `check` prints: the cycle of all pairs of hosts, and that of the flows, each from its first
/// queue by name on.
pub(super) fn of_check(plan: &Plan) -> [Option<Vec<String>>; 2] {
    let finding = Proof::of(plan).buffer_dependency.expect("it was looked into");
    [finding.cycle, finding.cycle_of_flows].map(|cycle| cycle.map(|cycle| in_order(&cycle)))
}

fn in_order(cycle: &str) -> Vec<String> {
    let mut queues: Vec<_> = cycle.split(" -> ").map(str::to_owned).collect();
    assert_eq!(queues.first(), queues.last());
    queues.pop();
    let lowest = (0..queues.len()).min_by_key(|&place| &queues[place]).expect("a queue");
    queues.rotate_left(lowest);
    queues
}

//! Deadlocks, in the words of the results.

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_results::{DeadlockRecord, DeadlockedQueue};
use rocelab_units::SimTime;

use crate::network::{Deadlock, StuckQueue};
use crate::pause_tree::{Freed, PauseTree};
use crate::{FailureChange, Plan};

/// Deadlocks in the words of the results; the tree has all pauses and storms of the run.
pub(crate) fn deadlock_records(
    plan: &Plan,
    found: &[Deadlock],
    pauses: &PauseTree<'_>,
) -> Vec<DeadlockRecord> {
    let freed = pauses.freed(found);
    let record = |(found, freed)| deadlock_record(plan, pauses.adjacency(), found, freed);
    found.iter().zip(freed).map(record).collect()
}

/// When routes were made anew last up to a time.
fn rerouted(plan: &Plan, until: SimTime) -> Option<SimTime> {
    let before = plan.failures.steps.iter().take_while(|step| step.at <= until);
    before.filter(|step| step.change == FailureChange::Reroute).map(|step| step.at).last()
}

fn deadlock_record(
    plan: &Plan,
    adjacency: &Adjacency,
    found: &Deadlock,
    freed: Option<Freed>,
) -> DeadlockRecord {
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.clone();
    let queue = |stuck: &StuckQueue| {
        let behind = adjacency.ports_of(stuck.node).get(usize::from(stuck.port));
        DeadlockedQueue {
            switch: name(stuck.node),
            port: stuck.port,
            paused_by: behind.map_or_else(String::new, |behind| name(behind.node)),
            priority: stuck.priority,
            is_lane: plan.infiniband.is_some(),
        }
    };
    DeadlockRecord {
        began_ps: found.began.ps(),
        found_ps: found.found.ps(),
        cycle: found.cycle.iter().map(queue).collect(),
        queues: found.queues.len() as u64,
        bytes: found.bytes,
        rerouted_ps: rerouted(plan, found.began).map(SimTime::ps),
        freed_ps: freed.map(|freed| freed.time),
        watchdog: freed
            .and_then(|freed| freed.watchdog)
            .map(|queue| format!("{}:{}", name(queue.node), queue.port)),
    }
}

//! Deadlocks, in the words of the results.

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_results::{DeadlockRecord, DeadlockedQueue};

use crate::Plan;
use crate::network::{Deadlock, StuckQueue};

/// Deadlocks in the words of the results.
pub(crate) fn deadlock_records(plan: &Plan, found: &[Deadlock]) -> Vec<DeadlockRecord> {
    if found.is_empty() {
        return Vec::new();
    }
    let adjacency = plan.topology.adjacency();
    found.iter().map(|found| deadlock_record(plan, &adjacency, found)).collect()
}

fn deadlock_record(plan: &Plan, adjacency: &Adjacency, found: &Deadlock) -> DeadlockRecord {
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.clone();
    let queue = |stuck: &StuckQueue| {
        let behind = adjacency.ports_of(stuck.node).get(usize::from(stuck.port));
        DeadlockedQueue {
            switch: name(stuck.node),
            port: stuck.port,
            paused_by: behind.map_or_else(String::new, |behind| name(behind.node)),
            priority: stuck.priority,
        }
    };
    DeadlockRecord {
        began_ps: found.began.ps(),
        found_ps: found.found.ps(),
        cycle: found.cycle.iter().map(queue).collect(),
        queues: found.queues.len() as u64,
        bytes: found.bytes,
    }
}

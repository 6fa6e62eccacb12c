//! Whose fault a pause is.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_results::PauseCauses;

use super::category::Cause;
use crate::Plan;

/// The pauses of a run, by the port that they hold.
pub(super) struct PauseNames<'a> {
    plan: &'a Plan,
    pub(super) adjacency: Adjacency,
    pub(super) causes: PauseCauses,
    /// By node, port and priority, in order of their starts.
    by_place: BTreeMap<(String, u16, u8), Vec<usize>>,
}

impl<'a> PauseNames<'a> {
    pub(super) fn new(plan: &'a Plan, causes: PauseCauses) -> Self {
        let mut by_place: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, pause) in causes.pauses.iter().enumerate() {
            let place = (pause.node.clone(), pause.port, pause.priority);
            by_place.entry(place).or_default().push(index);
        }
        Self { plan, adjacency: plan.topology.adjacency(), causes, by_place }
    }

    /// The pause that holds one of the priorities (bit p) of a port at a time, with its cause.
    pub(super) fn cause(
        &self,
        node: NodeId,
        port: u16,
        priorities: u8,
        time: u64,
    ) -> Option<Cause> {
        let name = &self.plan.topology.nodes[node as usize].name;
        let pause = (0..8)
            .filter(|priority| priorities & 1 << priority != 0)
            .find_map(|priority| self.pause_at(name, port, priority, time))?;
        let neighbour = self.adjacency.ports_of(node).get(usize::from(port))?;
        let mut root = pause;
        while let Some(parent) = self.causes.pauses[root].parent {
            root = parent;
        }
        Some(Cause::PausedBy {
            pause,
            by: self.plan.topology.nodes[neighbour.node as usize].name.clone(),
            waits_for: self.causes.pauses[pause].waits_for.clone(),
            root: self.causes.pauses[root].waits_for.clone(),
        })
    }

    fn pause_at(&self, node: &str, port: u16, priority: u8, time: u64) -> Option<usize> {
        let pauses = self.by_place.get(&(node.to_owned(), port, priority))?;
        let next = pauses.partition_point(|&pause| self.causes.pauses[pause].start_ps <= time);
        let pause = pauses[next.checked_sub(1)?];
        let ended = self.causes.pauses[pause].end_ps.is_some_and(|end| end <= time);
        (!ended).then_some(pause)
    }
}

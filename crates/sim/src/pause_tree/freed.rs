//! How deadlocks ended.

use std::collections::BTreeMap;

use super::PauseTree;
use super::root::Place;
use crate::network::{Deadlock, StuckQueue};

/// When a queue of a deadlock's cycle could move again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    /// Picoseconds.
    pub(crate) time: u64,
    pub(crate) queue: StuckQueue,
    /// Whether its watchdog let it go; else its pause ended, by a failure for instance.
    pub(crate) by_watchdog: bool,
}

impl PauseTree<'_> {
    /// How each deadlock ended, if it did: with the first of its cycle's queues that a watchdog let go
    /// after it was found, or whose pause ended.
    pub(crate) fn freed(&self, deadlocks: &[Deadlock]) -> Vec<Option<Freed>> {
        let mut freed: Vec<Option<Freed>> = vec![None; deadlocks.len()];
        if deadlocks.is_empty() {
            return freed;
        }
        let mut in_cycle: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for (number, deadlock) in deadlocks.iter().enumerate() {
            for at in &deadlock.cycle {
                in_cycle.entry((at.node, at.port, at.priority)).or_default().push(number);
            }
        }
        let mut end = |place: Place, since: u64, time: u64, by_watchdog: bool| {
            let (node, port, priority) = place;
            let queue = StuckQueue { node, port, priority };
            for &number in in_cycle.get(&place).into_iter().flatten() {
                let found = deadlocks[number].found.ps();
                let is_first = freed[number].is_none_or(|first| time < first.time);
                if since <= found && found <= time && is_first {
                    freed[number] = Some(Freed { time, queue, by_watchdog });
                }
            }
        };
        for &(time, at) in &self.let_go {
            end((at.node, at.port, at.priority), 0, time, true);
        }
        for (pause, descent) in self.pauses.iter().zip(&self.descents) {
            if let Some(time) = pause.end_ps {
                end(descent.holds, pause.start_ps, time, false);
            }
        }
        freed
    }
}

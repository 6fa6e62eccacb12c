//! How deadlocks ended.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;

use super::PauseTree;
use crate::network::{Deadlock, StuckQueue};

/// When a queue of a deadlock's cycle could move again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    /// Picoseconds.
    pub(crate) time: u64,
    /// That queue, if a watchdog let it go; none where its pauses ended, by a failure for instance.
    pub(crate) watchdog: Option<StuckQueue>,
}

/// Node, port, and number of a queue, which priorities may share.
type QueuePlace = (NodeId, u16, u8);

impl PauseTree<'_> {
    /// How each deadlock ended, if it did: with the first of its cycle's queues that a watchdog let go
    /// after it was found, or whose pauses ended.
    pub(crate) fn freed(&self, deadlocks: &[Deadlock]) -> Vec<Option<Freed>> {
        let cycles = self.by_queue(deadlocks);
        let let_go = self.cycles_let_go(deadlocks, &cycles);
        let resumed = self.cycles_resumed(deadlocks, &cycles);
        let first = |(let_go, resumed): (Option<Freed>, Option<u64>)| match (let_go, resumed) {
            (Some(freed), resumed) if resumed.is_none_or(|time| freed.time <= time) => Some(freed),
            (_, resumed) => resumed.map(|time| Freed { time, watchdog: None }),
        };
        let_go.into_iter().zip(resumed).map(first).collect()
    }

    /// By deadlock: the first watchdog that let a queue of its cycle go after it was found.
    fn cycles_let_go(&self, deadlocks: &[Deadlock], cycles: &Cycles) -> Vec<Option<Freed>> {
        let mut first: Vec<Option<Freed>> = vec![None; deadlocks.len()];
        for &(time, queue) in &self.let_go {
            for &number in cycles.get(&self.place_of(&queue)).into_iter().flatten() {
                if deadlocks[number].found.ps() <= time && first[number].is_none() {
                    first[number] = Some(Freed { time, watchdog: Some(queue) });
                }
            }
        }
        first
    }

    /// By deadlock: when the first queue of its cycle had none of the pauses left that held it when it was
    /// found (picoseconds).
    fn cycles_resumed(&self, deadlocks: &[Deadlock], cycles: &Cycles) -> Vec<Option<u64>> {
        // Of each queue the end of the pause that lasted longest; none if that has no end.
        let mut ends: BTreeMap<(usize, QueuePlace), Option<u64>> = BTreeMap::new();
        for (pause, descent) in self.pauses.iter().zip(&self.descents) {
            let (node, port, priority) = descent.holds;
            let queue = self.place_of(&StuckQueue { node, port, priority });
            for &number in cycles.get(&queue).into_iter().flatten() {
                let found = deadlocks[number].found.ps();
                if pause.start_ps <= found && pause.end_ps.is_none_or(|end| found <= end) {
                    let last = ends.entry((number, queue)).or_insert(Some(0));
                    *last = last.zip(pause.end_ps).map(|(known, end)| known.max(end));
                }
            }
        }
        let mut first: Vec<Option<u64>> = vec![None; deadlocks.len()];
        for ((number, _), end) in ends {
            first[number] = first[number].into_iter().chain(end).min();
        }
        first
    }

    /// The deadlocks, by their places in the list, whose cycles have each queue.
    fn by_queue(&self, deadlocks: &[Deadlock]) -> Cycles {
        let mut cycles = Cycles::new();
        for (number, deadlock) in deadlocks.iter().enumerate() {
            for queue in &deadlock.cycle {
                cycles.entry(self.place_of(queue)).or_default().push(number);
            }
        }
        cycles
    }

    fn place_of(&self, queue: &StuckQueue) -> QueuePlace {
        let StuckQueue { node, port, priority } = *queue;
        (node, port, self.plan.queue_of(node, port, priority))
    }
}

/// Deadlocks by the queues of their cycles.
type Cycles = BTreeMap<QueuePlace, Vec<usize>>;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rocelab_units::{Duration, SimTime};

    use super::*;
    use crate::network::{PauseChange, PauseEvent, QueueStorm};
    use crate::{Plan, Planning, Scenario};

    /// Two switches; at all ports priorities 3 and 4 share queue 3.
    fn plan() -> Plan {
        let text = "[topology.dumbbell]\nleft = 2\nright = 2\n\
            host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
            bottleneck = { rate = \"100Gbps\", cable = \"3m\" }\n\
            [switch]\nlossless = [3, 4]\nqueue_of = { 4 = 3 }\n[workload.flows]\n\
            list = [{ from = \"host-0\", to = \"host-2\", bytes = \"1MB\" }]\n";
        Scenario::parse(text, Path::new("t.toml"), &[]).unwrap().plan().unwrap()
    }

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    /// A queue of one of the switches.
    fn queue(plan: &Plan, switch: usize, port: u16, priority: u8) -> StuckQueue {
        StuckQueue { node: plan.topology.switches().nth(switch).unwrap(), port, priority }
    }

    /// Found at 100 ps: of two queues in a cycle, and a third that waits for it.
    fn deadlock(plan: &Plan) -> Deadlock {
        let cycle = vec![queue(plan, 0, 2, 3), queue(plan, 1, 2, 3)];
        let mut queues = cycle.clone();
        queues.push(queue(plan, 0, 0, 3));
        Deadlock { began: at(50), found: at(100), cycle, queues, bytes: 1 }
    }

    fn paused(tree: &mut PauseTree<'_>, queue: StuckQueue, (start, end): (u64, Option<u64>)) {
        let StuckQueue { node, port, priority } = queue;
        let mut change = |time: u64, event: PauseEvent| {
            tree.change(at(time), &PauseChange { node, port, priority, quanta: 1, event });
        };
        change(start, PauseEvent::Pause);
        if let Some(end) = end {
            change(end, PauseEvent::Expire(Duration::from_ps(end - start)));
        }
    }

    fn let_go(tree: &mut PauseTree<'_>, time: u64, place: StuckQueue) {
        tree.storm(at(time), &QueueStorm { place, lasted: None });
    }

    /// Pauses hold the two queues of the cycle from 40 ps on, to these ends.
    fn tree(plan: &Plan, ends: [Option<u64>; 2]) -> PauseTree<'_> {
        let mut tree = PauseTree::new(plan);
        for (switch, end) in ends.into_iter().enumerate() {
            paused(&mut tree, queue(plan, switch, 2, 3), (40, end));
        }
        tree
    }

    fn freed(tree: &PauseTree<'_>) -> Option<(u64, Option<StuckQueue>)> {
        let freed = tree.freed(&[deadlock(tree.plan)]);
        freed[0].map(|freed| (freed.time, freed.watchdog))
    }

    #[test]
    fn without_an_end_of_a_pause_a_deadlock_lasts() {
        let plan = plan();
        let mut tree = tree(&plan, [None, None]);
        assert_eq!(freed(&tree), None);
        // Pauses that ended before it was found, or hold other queues, and watchdogs elsewhere.
        paused(&mut tree, queue(&plan, 0, 2, 3), (10, Some(99)));
        paused(&mut tree, queue(&plan, 0, 2, 2), (40, Some(120)));
        let_go(&mut tree, 99, queue(&plan, 0, 2, 3));
        let_go(&mut tree, 130, queue(&plan, 1, 0, 3));
        assert_eq!(freed(&tree), None);
    }

    #[test]
    fn the_first_pause_of_the_cycle_that_ends_frees_it() {
        let plan = plan();
        assert_eq!(freed(&tree(&plan, [Some(300), Some(200)])), Some((200, None)));
        assert_eq!(freed(&tree(&plan, [None, Some(100)])), Some((100, None)), "when it is found");
    }

    #[test]
    fn a_watchdog_frees_it_by_acting_on_the_cycle() {
        let plan = plan();
        let mut tree = tree(&plan, [Some(200), None]);
        let second = queue(&plan, 1, 2, 3);
        let_go(&mut tree, 200, second);
        let_go(&mut tree, 201, queue(&plan, 0, 2, 3));
        assert_eq!(freed(&tree), Some((200, Some(second))), "at the same time, but the cause");
    }

    /// The other priority's pause lasted, too, and the watchdog goes by that.
    #[test]
    fn a_watchdog_acts_on_a_queue_whichever_priority_it_names() {
        let plan = plan();
        let mut tree = tree(&plan, [None, None]);
        let by_other = queue(&plan, 0, 2, 4);
        let_go(&mut tree, 150, by_other);
        assert_eq!(freed(&tree), Some((150, Some(by_other))));
    }

    /// The end of its pause is not put down to a watchdog that let another queue go.
    #[test]
    fn a_watchdog_that_acts_beside_the_cycle_is_not_named() {
        let plan = plan();
        let mut tree = tree(&plan, [Some(200), None]);
        let_go(&mut tree, 150, queue(&plan, 0, 0, 3));
        assert_eq!(freed(&tree), Some((200, None)));
    }

    #[test]
    fn all_pauses_of_a_queue_must_end() {
        let plan = plan();
        let mut tree = tree(&plan, [Some(200), None]);
        paused(&mut tree, queue(&plan, 0, 2, 4), (60, Some(300)));
        assert_eq!(freed(&tree), Some((300, None)));
        paused(&mut tree, queue(&plan, 0, 2, 4), (310, None));
        assert_eq!(freed(&tree), Some((300, None)), "one that began later does not count");
    }
}

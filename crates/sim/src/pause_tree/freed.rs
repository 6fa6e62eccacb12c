//! How deadlocks ended.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;

use super::PauseTree;
use super::root::Place;
use crate::network::{Deadlock, StuckQueue};

/// When a queue of a deadlock's cycle could move again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    /// Picoseconds.
    pub(crate) time: u64,
    /// The queue of the deadlock that a watchdog let go; none where no watchdog acted, but a pause
    /// ended, by a failure for instance.
    pub(crate) watchdog: Option<StuckQueue>,
}

/// Node, port, and number of a queue, which priorities may share.
type QueuePlace = (NodeId, u16, u8);

impl PauseTree<'_> {
    /// How each deadlock ended, if it did: with the first of its cycle's queues that a watchdog let go
    /// after it was found, or whose pause ended. That may be because a watchdog acted on another queue of
    /// the deadlock.
    pub(crate) fn freed(&self, deadlocks: &[Deadlock]) -> Vec<Option<Freed>> {
        let let_go = self.cycles_let_go(deadlocks);
        let resumed = self.cycles_resumed(deadlocks);
        let ends = deadlocks.iter().zip(let_go).zip(resumed);
        ends.map(|((deadlock, let_go), resumed)| match (let_go, resumed) {
            (Some(freed), resumed) if resumed.is_none_or(|time| freed.time <= time) => Some(freed),
            (_, Some(time)) => Some(Freed { time, watchdog: self.acted_on(deadlock, time) }),
            (_, None) => None,
        })
        .collect()
    }

    /// By deadlock: the first watchdog that let a queue of its cycle go after it was found.
    fn cycles_let_go(&self, deadlocks: &[Deadlock]) -> Vec<Option<Freed>> {
        let cycles = numbers_by(deadlocks, |queue| self.place_of(queue));
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

    /// By deadlock: when the first pause ended of those that held a queue of its cycle when it was found
    /// (picoseconds).
    fn cycles_resumed(&self, deadlocks: &[Deadlock]) -> Vec<Option<u64>> {
        let cycles = numbers_by(deadlocks, |queue| (queue.node, queue.port, queue.priority));
        let mut first: Vec<Option<u64>> = vec![None; deadlocks.len()];
        for (pause, descent) in self.pauses.iter().zip(&self.descents) {
            let (Some(end), holds): (_, Place) = (pause.end_ps, descent.holds) else { continue };
            for &number in cycles.get(&holds).into_iter().flatten() {
                if (pause.start_ps..=end).contains(&deadlocks[number].found.ps()) {
                    first[number] = Some(first[number].map_or(end, |known| known.min(end)));
                }
            }
        }
        first
    }

    /// The first queue of a deadlock that a watchdog let go after it was found, and not after `until`
    /// (picoseconds).
    fn acted_on(&self, deadlock: &Deadlock, until: u64) -> Option<StuckQueue> {
        let queues: BTreeSet<QueuePlace> =
            deadlock.queues.iter().map(|queue| self.place_of(queue)).collect();
        let span = deadlock.found.ps()..=until;
        let mut acts = self.let_go.iter().filter(|(time, _)| span.contains(time));
        let act = acts.find(|(_, queue)| queues.contains(&self.place_of(queue)));
        act.map(|&(_, queue)| queue)
    }

    fn place_of(&self, queue: &StuckQueue) -> QueuePlace {
        let StuckQueue { node, port, priority } = *queue;
        (node, port, self.plan.queue_of(node, port, priority))
    }
}

/// The deadlocks, by their places in the list, whose cycles have a queue at each place.
fn numbers_by<K: Ord>(
    deadlocks: &[Deadlock],
    place: impl Fn(&StuckQueue) -> K,
) -> BTreeMap<K, Vec<usize>> {
    let mut numbers: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (number, deadlock) in deadlocks.iter().enumerate() {
        for queue in &deadlock.cycle {
            numbers.entry(place(queue)).or_default().push(number);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rocelab_units::{Duration, SimTime};

    use super::*;
    use crate::network::{PauseChange, PauseEvent, QueueStorm};
    use crate::{Plan, Scenario};

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

    #[test]
    fn a_watchdog_that_acts_beside_the_cycle_is_named_when_a_pause_ends() {
        let plan = plan();
        let mut tree = tree(&plan, [Some(200), None]);
        let beside = queue(&plan, 0, 0, 3);
        let_go(&mut tree, 90, beside);
        assert_eq!(freed(&tree), Some((200, None)), "that was before");
        let_go(&mut tree, 201, beside);
        assert_eq!(freed(&tree), Some((200, None)), "that was after");
        let_go(&mut tree, 150, beside);
        assert_eq!(freed(&tree), Some((200, Some(beside))));
    }
}

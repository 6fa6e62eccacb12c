//! Deadlocks in the picture of the network.

use rocelab_results::{DeadlockRecord, DeadlockedQueue};
use serde::Serialize;

use super::ports::Ports;
use crate::numbers::{counted, time};

/// A deadlock: queues that wait for each other.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cycle {
    /// Its time and its queues, in words.
    pub(crate) text: String,
    /// The lines over which the queues should send, in the order in which each waits for the next.
    pub(crate) lines: Vec<usize>,
}

/// A deadlock in a sentence.
pub(crate) fn sentence(deadlock: &DeadlockRecord) -> String {
    let queue = |one: &DeadlockedQueue| {
        let class = if one.is_lane { "VL " } else { "p" };
        format!("{}:{} {class}{}", one.switch, one.port, one.priority)
    };
    let cycle: Vec<_> = deadlock.cycle.iter().map(queue).collect();
    let (began, found) = (time(deadlock.began_ps), time(deadlock.found_ps));
    let (queues, cycle) = (counted(deadlock.queues, "queue"), cycle.join(", "));
    let Some(freed) = deadlock.freed_ps.map(time) else {
        return format!(
            "Deadlock since {began}, found at {found}: {queues} can never move. Of these, each \
             waits for the next and the last for the first: {cycle}."
        );
    };
    let by = deadlock.watchdog.as_ref();
    let by = by.map_or_else(String::new, |place| format!(", when the watchdog of {place} acted"));
    format!(
        "Deadlock from {began} to {freed}, found at {found}: {queues} could not move{by}. Of these, \
         each waited for the next and the last for the first: {cycle}."
    )
}

/// The cycles of all deadlocks; `line_of` gives the line of each direction.
pub(crate) fn cycles(found: &[DeadlockRecord], ports: &Ports, line_of: &[usize]) -> Vec<Cycle> {
    let direction = |queue: &DeadlockedQueue| ports.direction(&queue.switch, queue.port);
    let cycle = |deadlock: &DeadlockRecord| {
        let directions = deadlock.cycle.iter().filter_map(direction);
        let lines = directions.map(|direction| line_of[direction]).collect();
        Cycle { text: sentence(deadlock), lines }
    };
    found.iter().map(cycle).collect()
}

#[cfg(test)]
mod tests {
    use super::super::ports::tests::network;
    use super::*;

    #[test]
    fn who_freed_a_deadlock_is_said() {
        let queue = DeadlockedQueue { switch: "a".to_owned(), ..DeadlockedQueue::default() };
        let freed_ps = Some(9_000_000);
        let freed = DeadlockRecord { cycle: vec![queue], freed_ps, ..DeadlockRecord::default() };
        let text = sentence(&freed);
        assert!(text.contains(" to 9.00 us") && text.contains("could not move."), "{text}");
        let freed = DeadlockRecord { watchdog: Some("a:0".to_owned()), ..freed };
        let text = sentence(&freed);
        assert!(text.contains("move, when the watchdog of a:0 acted."), "{text}");
    }

    #[test]
    fn queues_are_found_on_their_lines() {
        let ports = network(&[("a", 0, "b", 0), ("b", 1, "c", 0), ("c", 1, "a", 1)]);
        let queue = |switch: &str, port| DeadlockedQueue {
            switch: switch.to_owned(),
            port,
            ..DeadlockedQueue::default()
        };
        // The last queue's link is not in the results.
        let cycle = vec![queue("a", 0), queue("b", 1), queue("c", 1), queue("d", 7)];
        let found = DeadlockRecord { cycle, ..DeadlockRecord::default() };
        let line_of: Vec<usize> = (0..6).map(|direction| 10 + direction).collect();
        assert_eq!(cycles(&[found], &ports, &line_of)[0].lines, [10, 12, 14]);
    }
}

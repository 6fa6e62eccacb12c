//! Queues in deadlocks, and storms of pauses that watchdogs ended.

use rocelab_results::{
    DeadlockRecord, DeadlockedQueue, Results, ResultsError, StormEvent, StormRecord,
};
use serde_json::json;

use super::Table;
use crate::html::samples::Quantity;

/// A queue of a deadlock's cycle.
struct Stuck<'a> {
    /// The deadlock's index in `summary.json`, from 0, as in the names of roots.
    deadlock: usize,
    found: &'a DeadlockRecord,
    queue: &'a DeadlockedQueue,
    /// The next queue of the cycle.
    next: &'a DeadlockedQueue,
}

/// The queues of the cycles of all deadlocks, in the order in which each waits for the next; `None`
/// if there was no deadlock.
pub(crate) fn deadlocks(found: &[DeadlockRecord]) -> Option<Table> {
    let mut stuck = Vec::new();
    for (deadlock, found) in (0..).zip(found) {
        let next = found.cycle.iter().cycle().skip(1);
        for (queue, next) in found.cycle.iter().zip(next) {
            stuck.push(Stuck { deadlock, found, queue, next });
        }
    }
    let name = |queue: &DeadlockedQueue| format!("{}:{}", queue.switch, queue.port);
    let table = Table::of(
        ("deadlocks", "Queues that wait for each other", "summary.json"),
        (0, false),
        &stuck,
        &[
            ("Deadlock", Quantity::Count, &|stuck: &Stuck<'_>| json!(stuck.deadlock)),
            ("Queue", Quantity::Text, &|stuck| json!(name(stuck.queue))),
            ("Priority", Quantity::Count, &|stuck| json!(stuck.queue.priority)),
            ("Paused by", Quantity::Text, &|stuck| json!(stuck.queue.paused_by)),
            ("Waits for", Quantity::Text, &|stuck| json!(name(stuck.next))),
            ("Began", Quantity::Moment, &|stuck| json!(stuck.found.began_ps)),
            ("Found", Quantity::Moment, &|stuck| json!(stuck.found.found_ps)),
        ],
    );
    (!stuck.is_empty()).then_some(table)
}

/// The events of switches' watchdogs in order of time; `None` if there are no watchdogs.
pub(crate) fn storms(results: &Results) -> Result<Option<Table>, ResultsError> {
    let Some(records) = results.storms()? else { return Ok(None) };
    let storms: Vec<StormRecord<'static>> = records.collect::<Result<_, _>>()?;
    let event = |storm: &StormRecord<'_>| match storm.event {
        StormEvent::Detected => "storm detected",
        StormEvent::Restored => "queue restored",
    };
    Ok(Some(Table::of(
        ("storms", "What watchdogs did", "storms.csv"),
        (0, false),
        &storms,
        &[
            ("Time", Quantity::Moment, &|storm: &StormRecord<'_>| json!(storm.time_ps)),
            ("Queue", Quantity::Text, &|storm| json!(format!("{}:{}", storm.node, storm.port))),
            ("Priority", Quantity::Count, &|storm| json!(storm.priority)),
            ("What", Quantity::Text, &|storm| json!(event(storm))),
            ("Lasted", Quantity::Time, &|storm| json!(storm.duration_ps)),
        ],
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_queue_of_a_cycle_waits_for_the_first() {
        let queue = |switch: &str, paused_by: &str| DeadlockedQueue {
            switch: switch.to_owned(),
            port: 1,
            paused_by: paused_by.to_owned(),
            priority: 3,
            is_lane: false,
        };
        let cycle = vec![queue("a", "b"), queue("b", "c"), queue("c", "a")];
        let found = DeadlockRecord { cycle, ..DeadlockRecord::default() };
        let table = deadlocks(&[found]).unwrap();
        let waits: Vec<_> = table.rows.iter().map(|row| (&row[1], &row[4])).collect();
        let [a, b, c] = ["a:1", "b:1", "c:1"].map(|name| json!(name));
        assert_eq!(waits, [(&a, &b), (&b, &c), (&c, &a)]);
        assert!(deadlocks(&[]).is_none());
    }
}

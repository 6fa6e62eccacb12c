//! What was stuck when a run ended because nothing could move.

use rocelab_results::{StallRecord, StuckQueuePairRecord, StuckQueueRecord};
use serde_json::json;

use super::Table;
use crate::html::samples::Quantity;

/// The tables of stuck queue pairs and of stuck queues, each only if there are any.
pub(crate) fn stalled(found: Option<&StallRecord>) -> Vec<Table> {
    let Some(found) = found else { return Vec::new() };
    [queue_pairs(found), queues(found)].into_iter().filter(|table| table.total > 0).collect()
}

fn queue_pairs(found: &StallRecord) -> Table {
    let table = Table::of(
        ("stuck-queue-pairs", "Queue pairs that were stuck", "summary.json"),
        (0, false),
        &found.stuck_queue_pairs,
        &[
            ("Host", Quantity::Text, &|one: &StuckQueuePairRecord| json!(one.host)),
            ("Queue pair", Quantity::Text, &|one| json!(format!("{:#x}", one.qpn))),
            ("Peer", Quantity::Text, &|one| json!(one.peer)),
            ("Flow", Quantity::Count, &|one| json!(one.flow)),
            ("Connection", Quantity::Count, &|one| json!(one.connection)),
            ("Because", Quantity::Text, &|one| json!(one.because())),
            ("Packets in queues", Quantity::Count, &|one| json!(one.packets_in_queues)),
            ("First at", Quantity::Text, &|one| json!(one.at)),
            ("In the end for", Quantity::Text, &|one| json!(one.root)),
        ],
    );
    Table { total: total(found.queue_pairs), ..table }
}

fn queues(found: &StallRecord) -> Table {
    let link = |one: &StuckQueueRecord| if one.link_down { "down" } else { "up" };
    let mut fullest_first: Vec<&StuckQueueRecord> = found.stuck_queues.iter().collect();
    fullest_first.sort_by_key(|one| std::cmp::Reverse(one.bytes));
    let table = Table::of(
        ("stuck-queues", "Queues that were stuck", "summary.json"),
        (2, true),
        &fullest_first,
        &[
            ("Queue", Quantity::Text, &|one: &&StuckQueueRecord| {
                json!(format!("{}:{}", one.switch, one.port))
            }),
            ("Priority", Quantity::Count, &|one| json!(one.priority)),
            ("Waiting", Quantity::Bytes, &|one| json!(one.bytes)),
            ("Paused by", Quantity::Text, &|one| json!(one.paused_by)),
            ("Link", Quantity::Text, &|one| json!(link(one))),
            ("In the end for", Quantity::Text, &|one| json!(one.root)),
        ],
    );
    Table { total: total(found.queues), ..table }
}

/// `summary.json` lists the first ones, and has the number of all.
fn total(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use rocelab_results::WaitsFor;

    use super::*;

    #[test]
    fn what_is_stuck_is_named_and_the_rest_counted() {
        let queue_pair = StuckQueuePairRecord {
            host: "host-3".to_owned(),
            qpn: 0x11,
            flow: Some(7),
            waits_for: WaitsFor::Pause,
            at: "leaf-0".to_owned(),
            root: "leaf-1:2".to_owned(),
            ..StuckQueuePairRecord::default()
        };
        let found = StallRecord {
            queue_pairs: 90,
            stuck_queue_pairs: vec![queue_pair],
            ..StallRecord::default()
        };
        let [table] = &stalled(Some(&found))[..] else { panic!("one table") };
        assert_eq!((table.rows.len(), table.total), (1, 90));
        let row = &table.rows[0];
        let expected = ["host-3", "0x11", "its port is paused", "leaf-0", "leaf-1:2"];
        assert_eq!([0, 1, 5, 7, 8].map(|column| row[column].as_str().unwrap()), expected);
        assert!(stalled(None).is_empty());
    }
}

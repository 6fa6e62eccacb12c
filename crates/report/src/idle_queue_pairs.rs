//! Queue pairs that could send but did not, in words.

use rocelab_results::{IdleQueuePairRecord, Summary};

use crate::numbers::{counted, time};

/// Number of queue pairs that are named; of the others, the number is given.
const NAMED: usize = 3;

/// A line for each of the first ones, and one with the number of the others. Tables, pages and
/// `run` use the same text.
pub fn idle_queue_pair_texts(summary: &Summary) -> Vec<String> {
    let all = &summary.idle_queue_pairs;
    let more = match all.len().saturating_sub(NAMED) {
        0 => None,
        more => Some(format!(
            "{} more that could send and did not: see `idle_queue_pairs` in summary.json",
            counted(more as u64, "queue pair")
        )),
    };
    all.iter().take(NAMED).map(idle_queue_pair_text).chain(more).collect()
}

fn idle_queue_pair_text(idle: &IdleQueuePairRecord) -> String {
    let flow = idle.flow.map_or(String::new(), |flow| format!(" (flow {flow})"));
    let (lasted, since) = (time(idle.until_ps.saturating_sub(idle.since_ps)), time(idle.since_ps));
    let (qpn, host) = (idle.qpn, &idle.host);
    format!(
        "queue pair {qpn:#x} of {host}{flow} could send and did not for {lasted} from {since} on"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_named_and_the_others_counted() {
        let idle = |qpn| IdleQueuePairRecord {
            host: "host-1".into(),
            qpn,
            flow: Some(3),
            since_ps: 310_000_000,
            until_ps: 600_500_000,
            rate_bps: 200_000_000_000,
        };
        let texts = |pairs: u32| {
            let idle_queue_pairs = (17..17 + pairs).map(idle).collect();
            idle_queue_pair_texts(&Summary { idle_queue_pairs, ..Summary::default() })
        };
        let first = "queue pair 0x11 of host-1 (flow 3) could send and did not for 290.50 us from \
                     310.00 us on";
        assert_eq!(texts(1), [first]);
        let more = "1 queue pair more that could send and did not: see `idle_queue_pairs` in \
                    summary.json";
        assert_eq!((texts(3).len(), texts(4).len(), texts(4)[3].as_str()), (3, 4, more));
        assert!(texts(0).is_empty());
    }
}

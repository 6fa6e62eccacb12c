//! Completion times and slowdowns, by size and as distributions.

use std::collections::BTreeMap;

use rocelab_results::{Distribution, FlowRecord, Statistic};
use serde::Serialize;

/// Points of a distribution that are drawn.
const CDF_POINTS: usize = 400;

/// What became of the completed flows.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Completion {
    /// By payload, smallest first.
    pub(crate) buckets: Vec<Bucket>,
    /// Flows that completed.
    pub(crate) flows: u64,
    /// Flows that did not.
    pub(crate) missing: u64,
    /// Of completion times (ps).
    pub(crate) fct: Cdf,
    /// Of slowdowns (millionths).
    pub(crate) slowdown: Cdf,
}

/// Flows of about the same size.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Bucket {
    /// Payload of this and more (bytes).
    pub(crate) from: u64,
    /// Payload below this (bytes).
    pub(crate) below: u64,
    /// Those that completed.
    pub(crate) flows: u64,
    /// Those that did not.
    pub(crate) missing: u64,
    /// Median, 95th, 99th percentile and greatest completion time (ps); those that did not complete rank
    /// last. Without those that are not known: of so few, or because of those.
    pub(crate) fct: [Option<u64>; 4],
    /// The same of the slowdowns (millionths).
    pub(crate) slowdown: [Option<u64>; 4],
}

/// A cumulative distribution: values in ascending order, and the share of all values that are not
/// greater, in millionths.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Cdf {
    pub(crate) values: Vec<u64>,
    pub(crate) shares: Vec<u64>,
}

/// What became of some flows.
#[derive(Default)]
struct Group {
    /// Completion times (ps) and slowdowns (millionths) of those that completed.
    values: [Vec<u64>; 2],
    /// Those that did not.
    missing: u64,
}

/// What became of `flows`.
pub(crate) fn completion(flows: &[FlowRecord<'_>]) -> Completion {
    let mut groups: BTreeMap<(u64, u64), Group> = BTreeMap::new();
    let mut all = Group::default();
    for flow in flows {
        for group in [groups.entry(size_class(flow.bytes)).or_default(), &mut all] {
            match (flow.fct_ps, flow.slowdown()) {
                (Some(fct), Some(slowdown)) => {
                    group.values[0].push(fct);
                    group.values[1].push(slowdown.0);
                }
                (fct, _) => group.missing += u64::from(fct.is_none()),
            }
        }
    }
    let bucket = |((from, below), group): ((u64, u64), Group)| {
        let (flows, missing) = (group.values[0].len() as u64, group.missing);
        let [fct, slowdown] = group.values.map(|mut values| percentiles(&mut values, missing));
        Bucket { from, below, flows, missing, fct, slowdown }
    };
    let Group { values, missing } = all;
    let flows = values[0].len() as u64;
    let [fct, slowdown] = values.map(|values| cdf(values, missing));
    Completion { buckets: groups.into_iter().map(bucket).collect(), flows, missing, fct, slowdown }
}

/// Median, 95th and 99th percentile where they are known, and the greatest of those that are.
fn percentiles(values: &mut [u64], missing: u64) -> [Option<u64>; 4] {
    let Some(of) = Distribution::with_missing(values, missing) else { return [None; 4] };
    let known = |statistic| of.supported(statistic).filter(|_| !of.is_lower_bound(statistic));
    let [p50, p95, p99] = [Statistic::P50, Statistic::P95, Statistic::P99].map(known);
    [p50, p95, p99, Some(of.max)]
}

/// The class of sizes that `bytes` is in: 1, 2 or 5 times a power of ten, up to the next of these.
fn size_class(bytes: u64) -> (u64, u64) {
    let mut decade = 1_u64;
    while bytes / decade >= 10 {
        decade *= 10;
    }
    let times = |factor: u64| decade.saturating_mul(factor);
    match bytes / decade {
        0 => (0, 1),
        1 => (times(1), times(2)),
        2..5 => (times(2), times(5)),
        _ => (times(5), times(10)),
    }
}

/// The distribution of `values` and of so many that are missing, as greater than all of these: by nearest
/// rank, with more points where it is rare.
pub(crate) fn cdf(mut values: Vec<u64>, missing: u64) -> Cdf {
    values.sort_unstable();
    let count = values.len();
    let all = (count as u128 + u128::from(missing)).max(1);
    let mut ranks: Vec<usize> =
        (1..=CDF_POINTS).map(|k| (k * count).div_ceil(CDF_POINTS)).collect();
    // The tail: the 50 greatest values each, then ever rarer ones.
    ranks.extend((0..50).filter_map(|from_top| count.checked_sub(from_top)));
    ranks.push(1);
    ranks.retain(|rank| *rank >= 1 && *rank <= count);
    ranks.sort_unstable();
    ranks.dedup();
    let share = |rank: usize| u64::try_from(rank as u128 * 1_000_000 / all).unwrap_or(1_000_000);
    Cdf {
        values: ranks.iter().map(|rank| values[rank - 1]).collect(),
        shares: ranks.iter().map(|rank| share(*rank)).collect(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use rocelab_results::FlowStatus;

    use super::*;

    pub(crate) fn flow(flow: u64, bytes: u64, fct_ps: Option<u64>) -> FlowRecord<'static> {
        FlowRecord {
            flow,
            source: "host-0".into(),
            destination: "host-1".into(),
            source_qpn: 0x11,
            destination_qpn: 0x11,
            transport: "rdma".into(),
            verb: "write".into(),
            priority: 3,
            congestion_control: "dcqcn".into(),
            bytes,
            packets: bytes.div_ceil(1024),
            messages: 1,
            start_ps: 0,
            fct_ps,
            ideal_fct_ps: 1_000,
            retransmitted_packets: 0,
            messages_delivered: fct_ps.map(|_| 1),
            status: if fct_ps.is_some() { FlowStatus::Completed } else { FlowStatus::Unfinished },
        }
    }

    #[test]
    fn sizes_fall_into_classes_of_one_two_five() {
        for (bytes, class) in [
            (0, (0, 1)),
            (1, (1, 2)),
            (4, (2, 5)),
            (5, (5, 10)),
            (9, (5, 10)),
            (1_000, (1_000, 2_000)),
            (4_999_999, (2_000_000, 5_000_000)),
        ] {
            assert_eq!(size_class(bytes), class, "{bytes}");
        }
        assert_eq!(size_class(u64::MAX), (10_000_000_000_000_000_000, u64::MAX));
    }

    #[test]
    fn flows_that_did_not_complete_are_counted_and_rank_last() {
        let flows = [
            flow(0, 100, Some(2_000)),
            flow(1, 150, None),
            flow(2, 3_000, Some(5_000)),
            flow(3, 70_000, None),
        ];
        let completion = completion(&flows);
        let (fct, slowdown) = (
            [Some(2_000), None, None, Some(2_000)],
            [Some(2_000_000), None, None, Some(2_000_000)],
        );
        let expected = Bucket { from: 100, below: 200, flows: 1, missing: 1, fct, slowdown };
        assert_eq!((completion.flows, completion.missing), (2, 2));
        assert_eq!(completion.buckets.len(), 3);
        assert_eq!(completion.buckets[0], expected);
        // A size of which none completed is the one to look at.
        let last = Bucket {
            from: 50_000,
            below: 100_000,
            flows: 0,
            missing: 1,
            fct: [None; 4],
            slowdown: [None; 4],
        };
        assert_eq!(completion.buckets[2], last);
        let cdf = Cdf { values: vec![2_000, 5_000], shares: vec![250_000, 500_000] };
        assert_eq!(completion.fct, cdf);
    }

    #[test]
    fn a_distribution_of_many_is_drawn_with_few_points_and_its_tail() {
        let drawn = cdf((1..=1_000_000).collect(), 0);
        assert!(drawn.values.len() <= CDF_POINTS + 51, "{}", drawn.values.len());
        assert_eq!((drawn.values[0], drawn.shares[0]), (1, 1));
        assert_eq!(drawn.values.last(), Some(&1_000_000));
        assert_eq!(cdf(Vec::new(), 0), Cdf::default());
    }
}

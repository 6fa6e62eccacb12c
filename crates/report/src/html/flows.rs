//! Completion times and slowdowns, by size of flow and as distributions.

use std::collections::BTreeMap;

use rocelab_results::{Distribution, FlowRecord, FlowStatus, Millionths, Missing, Statistic};
use serde::Serialize;

/// Number of points of a distribution that are drawn.
const CDF_POINTS: usize = 400;

/// Completion times and slowdowns of all flows.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Completion {
    /// By payload, smallest first.
    pub(crate) buckets: Vec<Bucket>,
    /// Number of flows that completed.
    pub(crate) flows: u64,
    /// Number of flows that did not complete.
    pub(crate) missing: u64,
    /// Number of flows that are left out, because they started outside the measuring window.
    pub(crate) unmeasured: u64,
    /// Number of flows with a slowdown: they completed and have an ideal time.
    pub(crate) slowdowns: u64,
    /// The distribution of completion times (ps).
    pub(crate) fct: Cdf,
    /// The distribution of slowdowns (millionths).
    pub(crate) slowdown: Cdf,
}

/// Flows of about the same size.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Bucket {
    /// Least payload (bytes).
    pub(crate) from: u64,
    /// All payloads are below this (bytes).
    pub(crate) below: u64,
    /// Number of flows that completed.
    pub(crate) flows: u64,
    /// Number of flows that did not complete.
    pub(crate) missing: u64,
    /// Median, 95th and 99th percentile, and maximum of completion times (ps); flows that did not
    /// complete rank last. `None` if a percentile is not supported or not known.
    pub(crate) fct: [Option<u64>; 4],
    /// The same for slowdowns (millionths). Flows without an ideal time rank last too.
    pub(crate) slowdown: [Option<u64>; 4],
}

/// A cumulative distribution: values in ascending order, and for each the share of all values that
/// are not greater, in millionths.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Cdf {
    pub(crate) values: Vec<u64>,
    pub(crate) shares: Vec<u64>,
}

/// The values of some flows.
#[derive(Default)]
pub(super) struct Values {
    known: Vec<u64>,
    missing: Missing,
}

impl Values {
    /// Adds a value; for an open flow, its lower bound; or neither.
    fn add(&mut self, value: Option<u64>, at_least: Option<u64>) {
        match (value, at_least) {
            (Some(value), _) => self.known.push(value),
            (None, Some(bound)) => self.missing.at_least.push(bound),
            (None, None) => self.missing.never += 1,
        }
    }

    /// Number of values that are known.
    pub(super) fn count(&self) -> u64 {
        self.known.len() as u64
    }

    /// Number of values that are not known.
    pub(super) fn missing(&self) -> u64 {
        self.missing.count()
    }

    /// Median, 95th and 99th percentile, and maximum, as in [`Bucket::fct`].
    pub(super) fn percentiles(&mut self) -> [Option<u64>; 4] {
        percentiles(&mut self.known, &self.missing)
    }

    /// Their distribution.
    pub(super) fn cdf(self) -> Cdf {
        let missing = self.missing.count();
        cdf(self.known, missing)
    }
}

/// Flows that are looked at together.
#[derive(Default)]
pub(super) struct Group {
    /// Completion times (ps).
    pub(super) fct: Values,
    /// Slowdowns (millionths). A completed flow without an ideal time has none.
    pub(super) slowdown: Values,
}

impl Group {
    /// Adds a flow that started by the end of the run (ps).
    pub(super) fn add(&mut self, flow: &FlowRecord<'_>, end_ps: u64) {
        let is_open = flow.status == FlowStatus::Unfinished;
        let since_start = is_open.then(|| end_ps - flow.start_ps);
        let at_least = since_start.and_then(|time| Millionths::ratio(time, flow.ideal_fct_ps));
        let at_least = at_least.map(|ratio| ratio.0.max(Millionths::ONE.0));
        self.fct.add(flow.fct_ps, since_start);
        self.slowdown.add(flow.slowdown().map(|slowdown| slowdown.0), at_least);
    }
}

/// Completion times and slowdowns of `flows` that started by the end of the run (ps).
pub(crate) fn completion(flows: &[FlowRecord<'_>], end_ps: u64) -> Completion {
    let mut groups: BTreeMap<(u64, u64), Group> = BTreeMap::new();
    let mut all = Group::default();
    for flow in looked_at(flows, end_ps) {
        groups.entry(size_class(flow.bytes)).or_default().add(flow, end_ps);
        all.add(flow, end_ps);
    }
    let unmeasured = flows.iter().filter(|flow| flow.measured == 0).count() as u64;
    Completion {
        unmeasured,
        buckets: groups.into_iter().map(|(size, group)| bucket(size, group)).collect(),
        flows: all.fct.count(),
        missing: all.fct.missing(),
        slowdowns: all.slowdown.count(),
        fct: all.fct.cdf(),
        slowdown: all.slowdown.cdf(),
    }
}

/// The flows that started by the end of the run (ps), in the measuring window if there is one.
pub(super) fn looked_at<'a, 'b>(
    flows: &'a [FlowRecord<'b>],
    end_ps: u64,
) -> impl Iterator<Item = &'a FlowRecord<'b>> {
    flows.iter().filter(move |flow| flow.start_ps <= end_ps && flow.measured != 0)
}

/// The bucket of a group of flows.
fn bucket((from, below): (u64, u64), mut group: Group) -> Bucket {
    Bucket {
        from,
        below,
        flows: group.fct.count(),
        missing: group.fct.missing(),
        fct: group.fct.percentiles(),
        slowdown: group.slowdown.percentiles(),
    }
}

/// Median, 95th and 99th percentile if they are known, and the maximum of the known values.
fn percentiles(values: &mut [u64], missing: &Missing) -> [Option<u64>; 4] {
    let Some(of) = Distribution::with_missing(values, missing) else { return [None; 4] };
    let known = |statistic| of.supported(statistic).filter(|_| !of.is_lower_bound(statistic));
    let [p50, p95, p99] = [Statistic::P50, Statistic::P95, Statistic::P99].map(known);
    [p50, p95, p99, values.last().copied()]
}

/// The size class of `bytes`: from 1, 2 or 5 times a power of ten to the next such number.
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

/// The distribution of `values` and of `missing` further values, which are greater than all of
/// these: by nearest rank, with more points in the tail.
pub(crate) fn cdf(mut values: Vec<u64>, missing: u64) -> Cdf {
    values.sort_unstable();
    let count = values.len();
    let all = (count as u128 + u128::from(missing)).max(1);
    let mut ranks: Vec<usize> =
        (1..=CDF_POINTS).map(|k| (k * count).div_ceil(CDF_POINTS)).collect();
    // The tail: the 50 greatest values, then points farther and farther apart.
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
            workload: "incast[0]".into(),
            name: "incast[0]".into(),
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
            measured: 1,
            path: None,
            collisions: None,
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
        let completion = completion(&flows, 10_000_000);
        let (fct, slowdown) = (
            [Some(2_000), None, None, Some(2_000)],
            [Some(2_000_000), None, None, Some(2_000_000)],
        );
        let expected = Bucket { from: 100, below: 200, flows: 1, missing: 1, fct, slowdown };
        assert_eq!((completion.flows, completion.missing), (2, 2));
        assert_eq!(completion.buckets.len(), 3);
        assert_eq!(completion.buckets[0], expected);
        // A size class without any completed flow must be shown, because it is the most
        // interesting.
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
    fn flows_outside_the_measuring_window_are_left_out_and_counted() {
        let outside = FlowRecord { measured: 0, ..flow(0, 100, Some(2_000)) };
        let completion = completion(&[outside, flow(1, 100, Some(5_000))], 10_000);
        assert_eq!((completion.flows, completion.unmeasured), (1, 1));
        assert_eq!(completion.fct.values, [5_000]);
    }

    #[test]
    fn flows_without_an_ideal_time_have_a_completion_time_and_no_slowdown() {
        let without = FlowRecord { ideal_fct_ps: 0, ..flow(0, 100, Some(2_000)) };
        let completion =
            completion(&[without, flow(1, 150, Some(5_000)), flow(2, 160, None)], 10_000_000);
        assert_eq!((completion.flows, completion.missing, completion.slowdowns), (2, 1, 1));
        let fct = Cdf { values: vec![2_000, 5_000], shares: vec![333_333, 666_666] };
        assert_eq!(completion.fct, fct);
        let slowdown = Cdf { values: vec![5_000_000], shares: vec![333_333] };
        assert_eq!(completion.slowdown, slowdown);
        // The median of three is at rank 2.
        let bucket = &completion.buckets[0];
        assert_eq!((bucket.flows, bucket.missing), (2, 1));
        assert_eq!(bucket.fct, [Some(5_000), None, None, Some(5_000)]);
        assert_eq!(bucket.slowdown, [None, None, None, Some(5_000_000)]);
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

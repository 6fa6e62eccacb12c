//! Statistics of flows.

use crate::{Distribution, FlowCounts, FlowRecord, FlowStatus, MessageCounts, Millionths, Missing};

/// Collects what a summary says about all flows. Percentiles are exact, so it stores two numbers
/// for each flow.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct FlowStatistics {
    counts: FlowCounts,
    messages: MessageCounts,
    fct_ps: Vec<u64>,
    slowdown: Vec<u64>,
    /// Flows that are open, or have not started: start and ideal completion time (ps).
    open: Vec<(u64, u64)>,
    /// The latest completion so far.
    last_end_ps: Option<u64>,
}

impl FlowStatistics {
    /// Adds a flow.
    pub fn add(&mut self, flow: &FlowRecord<'_>) {
        self.counts.add(flow.status);
        if flow.status == FlowStatus::Unfinished {
            self.open.push((flow.start_ps, flow.ideal_fct_ps));
        }
        let delivered = flow.messages_delivered.unwrap_or(0);
        self.messages.total += flow.messages;
        self.messages.delivered += delivered;
        if flow.status == FlowStatus::MessagesLost {
            self.messages.lost += flow.messages.saturating_sub(delivered);
        }
        let Some(fct_ps) = flow.fct_ps else { return };
        self.fct_ps.push(fct_ps);
        self.slowdown.extend(flow.slowdown().map(|slowdown| slowdown.0));
        self.last_end_ps = self.last_end_ps.max(Some(flow.start_ps.saturating_add(fct_ps)));
    }

    /// The number of flows, by how they ended.
    pub fn counts(&self) -> FlowCounts {
        self.counts
    }

    /// Messages of all flows, and the number that arrived, of those flows that know it.
    pub fn messages(&self) -> MessageCounts {
        self.messages
    }

    /// When the last flow completed, in picoseconds; `None` unless all flows completed that had
    /// started by the end of the run.
    pub fn end_ps(&self, run_end_ps: u64) -> Option<u64> {
        let all_completed = self.counts.failed == 0 && self.started_by(run_end_ps).next().is_none();
        self.last_end_ps.filter(|_| all_completed)
    }

    /// Completion times at the end of a run, in picoseconds. The time of an open flow is at least
    /// the time since its start; failed flows never complete. Flows that have not started are left
    /// out.
    pub fn fct_ps(&self, end_ps: u64) -> Option<Distribution<u64>> {
        let open = self.started_by(end_ps).map(|(start, _)| end_ps - start);
        let missing = Missing { at_least: open.collect(), never: self.counts.failed };
        Distribution::with_missing(&mut self.fct_ps.clone(), &missing)
    }

    /// Slowdowns, with the same rules. Nothing is known about completed flows without an ideal
    /// time.
    pub fn slowdown(&self, end_ps: u64) -> Option<Distribution<Millionths>> {
        let open = self.started_by(end_ps);
        let (with, without): (Vec<_>, Vec<_>) = open.partition(|&(_, ideal)| ideal > 0);
        let least = |(start, ideal)| Millionths::ratio(end_ps - start, ideal).map(|of| of.0);
        let unknown = (self.fct_ps.len() - self.slowdown.len() + without.len()) as u64;
        let missing = Missing {
            // No flow is faster than in an idle network.
            at_least: with
                .into_iter()
                .filter_map(least)
                .map(|of| of.max(Millionths::ONE.0))
                .collect(),
            never: self.counts.failed + unknown,
        };
        Some(Distribution::with_missing(&mut self.slowdown.clone(), &missing)?.into_millionths())
    }

    /// Flows that are open at `end_ps`, with their start and ideal completion time.
    fn started_by(&self, end_ps: u64) -> impl Iterator<Item = (u64, u64)> {
        self.open.iter().copied().filter(move |(start, _)| *start <= end_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(start_ps: u64, fct_ps: Option<u64>, status: FlowStatus) -> FlowRecord<'static> {
        FlowRecord {
            flow: 0,
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
            bytes: 1_000,
            packets: 1,
            messages: 3,
            start_ps,
            fct_ps,
            ideal_fct_ps: 80_000,
            retransmitted_packets: 0,
            messages_delivered: fct_ps.map(|_| 3),
            status,
            measured: 1,
            path: None,
            collisions: None,
        }
    }

    #[test]
    fn flows_are_counted_by_how_they_ended() {
        let mut statistics = FlowStatistics::default();
        statistics.add(&flow(100_000, Some(80_000), FlowStatus::Completed));
        statistics.add(&flow(50_000, Some(100_000), FlowStatus::Completed));
        assert_eq!(statistics.end_ps(200_000), Some(180_000));
        statistics.add(&flow(0, None, FlowStatus::Unfinished));
        statistics.add(&flow(0, None, FlowStatus::RetryExceeded));
        assert_eq!(statistics.end_ps(200_000), None);
        let counts = FlowCounts { total: 4, completed: 2, failed: 1, unfinished: 1 };
        assert_eq!(statistics.counts(), counts);
        let fct = statistics.fct_ps(90_000).unwrap();
        assert_eq!((fct.values, fct.missing, fct.max), (2, 2, 100_000));
        // The open flow has taken 90 or 240 ns.
        let slowdown = statistics.slowdown(90_000).unwrap();
        assert_eq!((slowdown.min, slowdown.max), (Millionths::ONE, Millionths(1_250_000)));
        let (fct, slowdown) =
            (statistics.fct_ps(240_000).unwrap(), statistics.slowdown(240_000).unwrap());
        assert_eq!((fct.max, slowdown.max), (240_000, Millionths(3_000_000)));
        assert!(fct.is_lower_bound(crate::Statistic::Max));
    }

    /// Most of a run's flows have not started when it is stopped.
    #[test]
    fn flows_that_have_not_started_are_left_out() {
        let mut statistics = FlowStatistics::default();
        statistics.add(&flow(0, Some(80_000), FlowStatus::Completed));
        for start in [100_001, 200_000] {
            statistics.add(&flow(start, None, FlowStatus::Unfinished));
        }
        assert_eq!(statistics.end_ps(100_000), Some(80_000), "those do not count");
        statistics.add(&flow(50_000, None, FlowStatus::Unfinished));
        assert_eq!(statistics.end_ps(100_000), None);
        let fct = statistics.fct_ps(100_000).unwrap();
        assert_eq!((fct.values, fct.missing, fct.p50, fct.max), (1, 1, 50_000, 80_000));
        assert_eq!((fct.min, fct.is_lower_bound(crate::Statistic::Min)), (50_000, true));
        assert_eq!(statistics.counts().unfinished, 3);
    }

    #[test]
    fn flows_without_an_ideal_time_have_no_slowdown() {
        let mut statistics = FlowStatistics::default();
        statistics.add(&flow(0, Some(80_000), FlowStatus::Completed));
        let without =
            FlowRecord { ideal_fct_ps: 0, ..flow(0, Some(80_000), FlowStatus::Completed) };
        assert_eq!(without.slowdown(), None);
        statistics.add(&without);
        let (fct, slowdown) = (statistics.fct_ps(0).unwrap(), statistics.slowdown(0).unwrap());
        assert_eq!((fct.values, fct.missing), (2, 0));
        assert_eq!((slowdown.values, slowdown.missing), (1, 1));
    }

    #[test]
    fn messages_of_failed_flows_are_lost_and_those_of_unfinished_ones_are_not() {
        let mut statistics = FlowStatistics::default();
        statistics.add(&flow(0, Some(1), FlowStatus::Completed));
        for status in [FlowStatus::MessagesLost, FlowStatus::Unfinished] {
            statistics.add(&FlowRecord { messages_delivered: Some(1), ..flow(0, None, status) });
        }
        statistics.add(&flow(0, None, FlowStatus::RetryExceeded));
        let expected = MessageCounts { total: 12, delivered: 5, lost: 2 };
        assert_eq!(statistics.messages(), expected);
    }

    #[test]
    fn no_flows_have_no_distribution() {
        let statistics = FlowStatistics::default();
        assert_eq!(statistics.end_ps(0), None);
        assert_eq!(statistics.fct_ps(0), None);
        assert_eq!(statistics.slowdown(0), None);
    }
}

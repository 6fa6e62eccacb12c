//! Flows, counted and ranked.

use crate::{Distribution, FlowCounts, FlowRecord, FlowStatus, MessageCounts, Millionths};

/// Gathers what a summary says of all flows: exactly, so it keeps two numbers of each completed
/// one.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct FlowStatistics {
    counts: FlowCounts,
    messages: MessageCounts,
    fct_ps: Vec<u64>,
    slowdown: Vec<u64>,
    /// When the last of the completed ones completed.
    last_end_ps: Option<u64>,
}

impl FlowStatistics {
    /// Counts `flow` in.
    pub fn add(&mut self, flow: &FlowRecord<'_>) {
        self.counts.total += 1;
        match flow.status {
            FlowStatus::Completed => self.counts.completed += 1,
            FlowStatus::Unfinished => self.counts.unfinished += 1,
            _ => self.counts.failed += 1,
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

    /// How many flows, and how they ended.
    pub fn counts(&self) -> FlowCounts {
        self.counts
    }

    /// Messages of all flows, and of those flows that know it, how many arrived.
    pub fn messages(&self) -> MessageCounts {
        self.messages
    }

    /// When the last flow completed, in picoseconds, if all did.
    pub fn end_ps(&self) -> Option<u64> {
        self.last_end_ps.filter(|_| self.counts.completed == self.counts.total)
    }

    /// Completion times of the completed flows, in picoseconds; the others are missing.
    pub fn fct_ps(&self) -> Option<Distribution<u64>> {
        Distribution::with_missing(&mut self.fct_ps.clone(), self.without(&self.fct_ps))
    }

    /// Slowdowns of the completed flows; those of the others, and of flows without an ideal time, are
    /// missing.
    pub fn slowdown(&self) -> Option<Distribution<Millionths>> {
        let missing = self.without(&self.slowdown);
        Some(Distribution::with_missing(&mut self.slowdown.clone(), missing)?.into_millionths())
    }

    /// Flows that have no such value.
    fn without(&self, values: &[u64]) -> u64 {
        self.counts.total - values.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(start_ps: u64, fct_ps: Option<u64>, status: FlowStatus) -> FlowRecord<'static> {
        FlowRecord {
            flow: 0,
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
        }
    }

    #[test]
    fn flows_are_counted_by_how_they_ended() {
        let mut statistics = FlowStatistics::default();
        statistics.add(&flow(100_000, Some(80_000), FlowStatus::Completed));
        statistics.add(&flow(50_000, Some(100_000), FlowStatus::Completed));
        assert_eq!(statistics.end_ps(), Some(180_000));
        statistics.add(&flow(0, None, FlowStatus::Unfinished));
        statistics.add(&flow(0, None, FlowStatus::RetryExceeded));
        assert_eq!(statistics.end_ps(), None);
        let counts = FlowCounts { total: 4, completed: 2, failed: 1, unfinished: 1 };
        assert_eq!(statistics.counts(), counts);
        let fct = statistics.fct_ps().unwrap();
        assert_eq!((fct.values, fct.missing, fct.max), (2, 2, 100_000));
        assert_eq!(statistics.slowdown().unwrap().min, Millionths::ONE);
        assert_eq!(statistics.slowdown().unwrap().max, Millionths(1_250_000));
    }

    #[test]
    fn flows_without_an_ideal_time_have_no_slowdown() {
        let mut statistics = FlowStatistics::default();
        statistics.add(&flow(0, Some(80_000), FlowStatus::Completed));
        let without =
            FlowRecord { ideal_fct_ps: 0, ..flow(0, Some(80_000), FlowStatus::Completed) };
        assert_eq!(without.slowdown(), None);
        statistics.add(&without);
        let (fct, slowdown) = (statistics.fct_ps().unwrap(), statistics.slowdown().unwrap());
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
        assert_eq!(statistics.end_ps(), None);
        assert_eq!(statistics.fct_ps(), None);
        assert_eq!(statistics.slowdown(), None);
    }
}

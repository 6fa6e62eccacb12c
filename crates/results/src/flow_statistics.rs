//! Flows, counted and ranked.

use crate::flow::bits_per_second;
use crate::{Distribution, FlowCounts, FlowRecord, FlowStatus, MessageCounts, Millionths};

/// Gathers what a summary says of all flows: exactly, so it keeps two numbers of each completed
/// one.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct FlowStatistics {
    counts: FlowCounts,
    messages: MessageCounts,
    fct_ps: Vec<u64>,
    slowdown: Vec<u64>,
    completed_bytes: u64,
    /// First start and last completion of the completed flows.
    span_ps: Option<(u64, u64)>,
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
        self.completed_bytes += flow.bytes;
        let end = flow.start_ps.saturating_add(fct_ps);
        self.span_ps = Some(match self.span_ps {
            Some((first, last)) => (first.min(flow.start_ps), last.max(end)),
            None => (flow.start_ps, end),
        });
    }

    /// How many flows, and how they ended.
    pub fn counts(&self) -> FlowCounts {
        self.counts
    }

    /// Messages of all flows, and of those flows that know it, how many arrived.
    pub fn messages(&self) -> MessageCounts {
        self.messages
    }

    /// Payload bits of all completed flows over the time from the first start to the last
    /// completion among them, in bit/s rounded down; 0 if none completed.
    pub fn goodput_bps(&self) -> u64 {
        self.span_ps
            .and_then(|(first, last)| bits_per_second(self.completed_bytes, last - first))
            .unwrap_or(0)
    }

    /// Completion times of the completed flows, in picoseconds.
    pub fn fct_ps(&self) -> Option<Distribution<u64>> {
        Distribution::of(&mut self.fct_ps.clone())
    }

    /// Slowdowns of the completed flows.
    pub fn slowdown(&self) -> Option<Distribution<Millionths>> {
        Distribution::of(&mut self.slowdown.clone()).map(Distribution::into_millionths)
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
    fn goodput_spans_first_start_to_last_completion() {
        let mut statistics = FlowStatistics::default();
        statistics.add(&flow(100_000, Some(80_000), FlowStatus::Completed));
        statistics.add(&flow(50_000, Some(100_000), FlowStatus::Completed));
        statistics.add(&flow(0, None, FlowStatus::Unfinished));
        statistics.add(&flow(0, None, FlowStatus::RetryExceeded));
        // 2,000 bytes from 50 ns to 180 ns.
        assert_eq!(statistics.goodput_bps(), 16_000 * 1_000_000_000_000 / 130_000);
        let counts = FlowCounts { total: 4, completed: 2, failed: 1, unfinished: 1 };
        assert_eq!(statistics.counts(), counts);
        assert_eq!(statistics.fct_ps().unwrap().max, 100_000);
        assert_eq!(statistics.slowdown().unwrap().min, Millionths::ONE);
        assert_eq!(statistics.slowdown().unwrap().max, Millionths(1_250_000));
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
        assert_eq!(statistics.goodput_bps(), 0);
        assert_eq!(statistics.fct_ps(), None);
        assert_eq!(statistics.slowdown(), None);
    }
}

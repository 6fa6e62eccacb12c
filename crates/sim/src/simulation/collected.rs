//! What was recorded and has not been handed over.

use std::collections::BTreeMap;

use rocelab_engine::EventKey;

use crate::Plan;
use crate::network::{FlowEnd, Record, RecordKind};

/// Records of all parts in the order of events. The end of a flow of TCP is among them when its source
/// knows of it.
#[derive(Debug, Default)]
pub(super) struct Collected {
    records: Vec<Record>,
    /// Flows of TCP that have ended, and whose sources do not know it yet.
    pub(super) unacknowledged: BTreeMap<u32, (EventKey, FlowEnd)>,
}

impl Collected {
    /// Whether all has been handed over.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds what was recorded in parts, one after the other, since the last time.
    pub(super) fn add(&mut self, plan: &Plan, mut records: Vec<Record>) {
        records.sort_by_key(|record| (record.key, record.kind.place()));
        if plan.tcp.is_none() {
            self.records.extend(records);
            return;
        }
        for record in records {
            self.join(plan, record);
        }
    }

    /// Completes the ends of flows of TCP by what their sources know.
    fn join(&mut self, plan: &Plan, Record { key, kind }: Record) {
        match kind {
            // One that has failed never began: nobody acknowledges anything.
            RecordKind::FlowEnd(end)
                if plan.flows[end.flow as usize].is_tcp() && end.failure.is_none() =>
            {
                self.unacknowledged.insert(end.flow, (key, end));
            }
            RecordKind::FlowAcknowledged(known) => {
                if let Some((_, end)) = self.unacknowledged.remove(&known.flow) {
                    self.end(key, end, known.retransmitted_packets);
                }
            }
            kind => self.records.push(Record { key, kind }),
        }
    }

    /// The end of a flow of TCP, whose source has sent so many packets again.
    pub(super) fn end(&mut self, key: EventKey, end: FlowEnd, retransmitted_packets: u64) {
        let end = FlowEnd { retransmitted_packets, ..end };
        self.records.push(Record { key, kind: RecordKind::FlowEnd(end) });
    }

    /// Hands over what is complete.
    pub(super) fn take(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }
}

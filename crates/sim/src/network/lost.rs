//! Flows of unreliable services whose messages were lost: nobody waits for them for ever.

use rocelab_engine::{EventKey, Tie};
use rocelab_transport::CompletionStatus;
use rocelab_units::SimTime;

use super::{FlowEnd, FlowFailure, Network, Record, RecordKind, Role};
use crate::profile::{EndHost, Profile};

impl<P: Profile> Network<P> {
    /// Ends every flow of an unreliable service that has sent all, if nothing is under way any
    /// more: what has not arrived by now is lost.
    pub(crate) fn end_lost_flows(&mut self, now: SimTime) {
        if self.plan.service().is_reliable() || !self.is_drained() {
            return;
        }
        for number in (0u32..).take(self.plan.flows.len()) {
            if self.flow_ends.as_ref().is_some_and(|ends| ends.has_ended(number))
                || !self.has_sent_all(number)
            {
                continue;
            }
            let end = FlowEnd {
                flow: number,
                status: CompletionStatus::Flushed,
                finished: now,
                retransmitted_packets: 0,
                failure: Some(FlowFailure::MessagesLost),
            };
            if let Some(ends) = &mut self.flow_ends {
                ends.note(number, end.status);
            }
            if self.sampling.has_flows() {
                self.sampling.note_end(&self.plan, &end);
            }
            self.flows.failed += 1;
            self.flows.last_end = now;
            let key = EventKey { time: now, tie: Tie::default() };
            self.records.push(Record { key, kind: RecordKind::FlowEnd(end) });
        }
    }

    fn has_sent_all(&self, number: u32) -> bool {
        let flow = &self.plan.flows[number as usize];
        if flow.is_tcp() {
            return false; // It sends again what was lost.
        }
        let Role::Host(host) = self.nodes[flow.source as usize].role else { return false };
        self.hosts[host as usize].end_host.has_sent_all(flow)
    }
}

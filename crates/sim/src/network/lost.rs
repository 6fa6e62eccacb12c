//! Flows of unreliable services whose messages were lost: nobody waits for them for ever.

use rocelab_engine::{EventKey, Tie};

use super::{FlowEnd, Network, Record, RecordKind, Role};
use crate::profile::{EndHost, Profile};

impl<P: Profile> Network<P> {
    /// A flow of an unreliable service, whose source is here, is over: what has not arrived by now is
    /// lost.
    pub(crate) fn end_lost_flow(&mut self, end: &FlowEnd) {
        if let Some(ends) = &mut self.flow_ends {
            ends.note(end.flow, end.status);
        }
        self.flows.failed += 1;
        self.flows.last_end = self.flows.last_end.max(end.finished);
        let key = EventKey { time: end.finished, tie: Tie::default() };
        let source = self.plan.flows[end.flow as usize].source;
        self.records.keep(source, Record { key, kind: RecordKind::FlowEnd(*end) });
    }

    /// The source of a flow knows that it has ended, well or badly.
    pub(crate) fn note_sampled_end(&mut self, flow: u32) {
        if self.sampling.has_flows() {
            self.sampling.note_end(flow);
        }
    }

    /// Whether the source of a flow, which is here, has nothing of it left to send.
    pub(crate) fn has_sent_all(&self, number: u32) -> bool {
        let flow = &self.plan.flows[number as usize];
        if flow.is_tcp() {
            return false; // It sends again what was lost.
        }
        let Role::Host(host) = self.nodes[flow.source as usize].role else { return false };
        self.hosts[host as usize].end_host.has_sent_all(flow)
    }
}

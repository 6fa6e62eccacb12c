//! How flows and operations of a host end: by completions of its NIC.

use rocelab_transport::{Completion, CompletionStatus, QueuePair};
use rocelab_units::SimTime;

use super::super::connecting::Connecting;
use super::super::monitor::Monitor;
use super::{Context, VerbsHost};
use crate::Plan;
use crate::record::{FlowEnd, HostEnd};

impl VerbsHost {
    /// The end of the flow, if this completion is that; its connection is taken down.
    pub(in crate::profile::roce) fn end_of(
        &mut self,
        plan: &Plan,
        now: SimTime,
        completion: &Completion,
    ) -> Option<FlowEnd> {
        let end = self.complete(now, completion)?;
        Connecting(self).disconnect(plan, now, end.flow);
        Some(end)
    }

    /// The end of the flow, if this completion is that.
    pub(in crate::profile::roce) fn complete(
        &mut self,
        now: SimTime,
        completion: &Completion,
    ) -> Option<FlowEnd> {
        if let Some(integrity) = &mut self.integrity {
            integrity.note_sent(completion);
        }
        let failed = completion.status != CompletionStatus::Success;
        let state = self.state(completion.qpn);
        if state.messages_left == 0 {
            debug_assert!(failed, "a message completes exactly once");
            return None;
        }
        state.messages_left -= 1;
        if state.messages_left > 0 && !failed {
            return None;
        }
        state.messages_left = 0;
        let flow = state.flow;
        let queue_pair = self.nic.queue_pair(completion.qpn);
        Some(FlowEnd {
            flow,
            status: completion.status,
            finished: now,
            retransmitted_packets: queue_pair.map_or(0, QueuePair::retransmissions),
            failure: None,
        })
    }

    /// The next flow that has ended, on a host of which only reliable flows can.
    #[inline]
    pub(super) fn poll_plain(&mut self, now: SimTime) -> Option<FlowEnd> {
        loop {
            let completion = self.nic.poll_completion()?;
            if let Some(end) = self.complete(now, &completion) {
                return Some(end);
            }
        }
    }
}

/// The next flow or operation that has ended, on a host with programs: they see what has
/// arrived for them, and go on.
#[cold]
pub(super) fn poll_any(host: &mut VerbsHost, context: &mut Context<'_>) -> Option<HostEnd> {
    let (plan, now) = (context.plan, context.now.time);
    loop {
        let apps = host.apps.as_deref_mut()?;
        let messages = &mut context.shared.messages;
        if let Some(completion) = host.nic.in_host().poll_completion(now) {
            if is_of(host.monitor.as_deref(), completion.qpn) {
                continue; // It says that a ping was sent, and no more.
            }
            if completion.qpn >= apps.first_qpn() {
                apps.on_completion(plan, messages, now, &mut host.nic, &completion);
            } else if host.is_unreliable {
                continue; // It says that the last packet was sent, and no more.
            } else if let Some(end) = host.end_of(plan, now, &completion) {
                return Some(HostEnd::Flow(end));
            }
        } else if let Some(completion) = host.nic.in_host().poll_receive_completion(now) {
            if let Some(monitor) = &mut host.monitor
                && monitor.has(completion.qpn)
            {
                monitor.on_receive(plan, now, &mut host.nic, &completion);
                continue;
            }
            if completion.qpn >= apps.first_qpn() {
                apps.on_receive(plan, messages, now, &mut host.nic, &completion);
            } else if let Some(integrity) = &mut host.integrity {
                integrity.note_received(&completion);
            }
        } else if let Some(end) = apps.poll_end() {
            return Some(end);
        } else {
            return host.ends.pop_due(now).map(HostEnd::Flow);
        }
    }
}

/// Whether a queue pair is one for pings.
pub(in crate::profile::roce) fn is_of(monitor: Option<&Monitor>, qpn: u32) -> bool {
    monitor.is_some_and(|monitor| monitor.has(qpn))
}

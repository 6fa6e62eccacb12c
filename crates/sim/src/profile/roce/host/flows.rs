//! How flows and operations of a host start, when the next hop is known, by a connection or at once; and how they end, by
//! completions of its NIC.

use rocelab_transport::{
    AddressHandle, Completion, CompletionStatus, Operation, QueuePair, WorkRequest,
};
use rocelab_units::SimTime;
use rocelab_wire::MULTICAST_QPN;

use super::super::connecting::Connecting;
use super::super::integrity::base_address;
use super::super::monitor::Monitor;
use super::{ConnectionEnds, Context, VerbsHost};
use crate::record::{FlowEnd, HostEnd};
use crate::{FlowPlan, Plan, Verb};

impl VerbsHost {
    /// Posts all messages of a flow whose queue pair is there.
    pub(in crate::profile::roce) fn post_messages(&mut self, plan: &Plan, now: SimTime, flow: u32) {
        let FlowPlan { source_qpn, verb, .. } = plan.flows[flow as usize];
        let mut address = if self.integrity.is_some() { base_address(flow) } else { 0 };
        let mut count = 0;
        for length in plan.flows[flow as usize].messages() {
            let operation = match verb {
                Verb::Send => Operation::Send,
                Verb::Write => Operation::Write,
                Verb::WriteWithImmediate => Operation::WriteWithImmediate(flow),
                Verb::Read => Operation::Read,
            };
            let length_in_32_bits = u32::try_from(length).unwrap_or(u32::MAX);
            let work = WorkRequest::new(count.into(), operation, length_in_32_bits)
                .to(address, flow)
                .local(address);
            address += length;
            count += 1;
            let posted = match address_handle(plan, flow) {
                None => self.nic.post_send(now, source_qpn, work),
                Some(to) => self.nic.post_datagram(now, source_qpn, work, to),
            };
            debug_assert!(posted.is_ok(), "a plan's flow can be posted: {posted:?}");
        }
        self.state(source_qpn).messages_left = count;
    }
}

/// Sets up the source's queue pair and posts all messages of a flow.
pub(super) fn start_flow(host: &mut VerbsHost, plan: &Plan, now: SimTime, flow: u32) {
    let multicast = plan.roce.multicast.as_deref();
    if let Some((_, sending)) = multicast.and_then(|multicast| multicast.sending_of(flow)) {
        if sending.flows.start == flow {
            open_flow(host, plan, now, flow); // The MAC address of a group follows from its IP address.
        }
        return;
    }
    if let Some(stacks) = &mut host.stacks
        && let Some(neighbours) = &mut stacks.neighbours
        && !neighbours.resolve(plan, now, flow)
    {
        return; // It starts when the next hop's address is known.
    }
    open_flow(host, plan, now, flow);
}

/// Starts the flows whose next hop has answered.
#[cold]
pub(super) fn start_resolved(host: &mut VerbsHost, plan: &Plan, now: SimTime) {
    while let Some(stacks) = &mut host.stacks
        && let Some(neighbours) = &mut stacks.neighbours
        && let Some(flow) = neighbours.poll_ready()
    {
        open_flow(host, plan, now, flow);
    }
}

/// Where the datagrams of a flow go, if it is of datagrams.
fn address_handle(plan: &Plan, flow: u32) -> Option<AddressHandle> {
    let described = &plan.flows[flow as usize];
    let to_member = || AddressHandle {
        destination: described.destination,
        entropy: plan.flow_hash(described.source, described.destination, described.entropy),
        dest_qp: described.destination_qpn,
        q_key: plan.keys(described.queue_pairs).sent_q_key,
    };
    let multicast = plan.roce.multicast.as_deref();
    let sending = || multicast?.sending_of(flow);
    plan.service().is_datagram().then(|| match sending() {
        // No switch chooses a path by a hash: the number of the sending takes its place.
        Some((number, _)) => {
            AddressHandle { dest_qp: MULTICAST_QPN, entropy: number, ..to_member() }
        }
        None => to_member(),
    })
}

impl VerbsHost {
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
            } else if let Some(end) = end_of(host, plan, now, &completion) {
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

/// Starts a flow whose next hop is known.
fn open_flow(host: &mut VerbsHost, plan: &Plan, now: SimTime, flow: u32) {
    if let Some(stacks) = &mut host.stacks
        && let Some(stack) = stacks.carrying_mut(&plan.flows[flow as usize])
    {
        return stack.start(plan, now, flow);
    }
    if let Some(connections) = &mut host.connections {
        connections.connect(plan, now, flow);
        return Connecting(host).follow_connections(plan, now);
    }
    let ends = ConnectionEnds::planned(&plan.flows[flow as usize], true);
    host.create_queue_pair(plan, flow, ends);
    host.post_messages(plan, now, flow);
}

/// The end of the flow, if this completion is that; its connection is taken down.
fn end_of(
    host: &mut VerbsHost,
    plan: &Plan,
    now: SimTime,
    completion: &Completion,
) -> Option<FlowEnd> {
    let end = host.complete(now, completion)?;
    Connecting(host).disconnect(plan, now, end.flow);
    Some(end)
}

/// The next flow that has ended, on a host of which only reliable flows can.
#[inline]
pub(super) fn poll_plain(host: &mut VerbsHost, now: SimTime) -> Option<FlowEnd> {
    loop {
        let completion = host.nic.poll_completion()?;
        if let Some(end) = host.complete(now, &completion) {
            return Some(end);
        }
    }
}

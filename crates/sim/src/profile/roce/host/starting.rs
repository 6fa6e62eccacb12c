//! How flows of a host start: when the next hop is known, by a connection or at once.

use rocelab_transport::{AddressHandle, Operation, WorkRequest};
use rocelab_units::SimTime;
use rocelab_wire::MULTICAST_QPN;

use super::super::connecting::Connecting;
use super::super::integrity::base_address;
use super::{ConnectionEnds, VerbsHost};
use crate::{FlowPlan, Plan, Verb};

impl VerbsHost {
    /// Starts a flow whose next hop is known.
    fn open_flow(&mut self, plan: &Plan, now: SimTime, flow: u32) {
        if let Some(stacks) = &mut self.stacks
            && let Some(stack) = stacks.carrying_mut(&plan.flows[flow as usize])
        {
            return stack.start(plan, now, flow);
        }
        if let Some(connections) = &mut self.connections {
            connections.connect(plan, now, flow);
            return Connecting(self).follow_connections(plan, now);
        }
        let ends = ConnectionEnds::planned(&plan.flows[flow as usize], true);
        self.create_queue_pair(plan, flow, ends);
        self.post_messages(plan, now, flow);
    }

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
            host.open_flow(plan, now, flow); // The MAC address of a group follows from its IP address.
        }
        return;
    }
    if let Some(stacks) = &mut host.stacks
        && let Some(neighbours) = &mut stacks.neighbours
        && !neighbours.resolve(plan, now, flow)
    {
        return; // It starts when the next hop's address is known.
    }
    host.open_flow(plan, now, flow);
}

/// Starts the flows whose next hop has answered.
#[cold]
pub(super) fn start_resolved(host: &mut VerbsHost, plan: &Plan, now: SimTime) {
    while let Some(stacks) = &mut host.stacks
        && let Some(neighbours) = &mut stacks.neighbours
        && let Some(flow) = neighbours.poll_ready()
    {
        host.open_flow(plan, now, flow);
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

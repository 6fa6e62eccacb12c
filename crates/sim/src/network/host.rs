//! A packet out of a NIC and into one; flows from their start to their end.

use rocelab_engine::{EventKey, EventQueue};
use rocelab_fabric::PacketId;
use rocelab_transport::{
    Completion, CompletionStatus, FIRST_QPN, Operation, QueuePairConfig, WorkRequest,
};
use rocelab_units::SimTime;

use super::packet::{Body, Packet};
use super::{DropCause, Event, FlowEnd, Network, Record, RecordKind, mix};
use crate::Verb;

impl Network {
    /// Delivers a packet to a host's NIC and acts on what follows.
    #[inline]
    pub(super) fn host_receive(
        &mut self,
        key: EventKey,
        host: u32,
        id: PacketId,
        queue: &mut EventQueue<Event>,
    ) {
        let now = key.time;
        let packet = *self.pool.get(id);
        let state = &mut self.hosts[host as usize];
        let Body::Rdma(rdma) = packet.body else { return };
        if packet.destination != state.node {
            let port = state.port;
            return self.drop_frame(key, port, None, id, DropCause::ForeignDestination);
        }
        self.pool.remove(id);
        self.totals.frames_delivered += 1;
        self.totals.packets_delivered += 1;
        let what = u64::from(rdma.dest_qp()) << 40
            ^ u64::from(rdma.psn()) << 16
            ^ u64::from(rdma.opcode() as u8) << 8
            ^ u64::from(rdma.is_ce());
        state.digest = mix(state.digest ^ now.ps() ^ what.rotate_left(17));
        if !state.nic.has_queue_pair(rdma.dest_qp()) {
            self.create_responder(host, rdma.dest_qp());
        }
        self.hosts[host as usize].nic.receive(now, &rdma);
        self.after_nic(key, host, queue);
    }

    /// Sends what a host's NIC has next; its port is free.
    #[inline]
    pub(super) fn pump_host(&mut self, now: SimTime, host: u32, queue: &mut EventQueue<Event>) {
        let state = &mut self.hosts[host as usize];
        let port = state.port;
        let paused = self.ports[port as usize].port.paused();
        if let Some(transmit) = state.nic.poll_transmit(now, paused) {
            let more = state.nic.is_ready(paused);
            let body = Body::Rdma(transmit.packet);
            let mut packet =
                Packet::new(state.node, transmit.destination, transmit.frame_len, body);
            packet.flow_hash = transmit.entropy;
            self.opcodes[usize::from(transmit.packet.opcode() as u8)] += 1;
            self.totals.frames_created += 1;
            let id = self.pool.insert(packet);
            self.transmit(now, port, id, queue);
            if more {
                self.arm_free(port, queue);
            }
        }
        self.arm_nic_timeout(host, queue);
    }

    /// A timer or pacing gap of a NIC is over.
    pub(super) fn nic_timeout(&mut self, key: EventKey, host: u32, queue: &mut EventQueue<Event>) {
        let state = &mut self.hosts[host as usize];
        if state.timeout_armed != key.time {
            return; // An earlier one was armed since; it has served this one's purpose.
        }
        state.timeout_armed = SimTime::NEVER;
        state.nic.handle_timeout(key.time);
        self.after_nic(key, host, queue);
    }

    /// Posts the flows of a host that start now.
    pub(super) fn flow_start(&mut self, key: EventKey, host: u32, queue: &mut EventQueue<Event>) {
        let state = &self.hosts[host as usize];
        let (first, end) = (state.next_flow as usize, state.flows_end as usize);
        let mut next = first;
        while next < end {
            let flow = self.flows.by_source[next];
            let start = self.plan.flows[flow as usize].start;
            if start > key.time {
                let tie = self.reserve(self.hosts[host as usize].node);
                queue.push(EventKey { time: start, tie }, Event::FlowStart { host });
                break;
            }
            self.post_flow(key.time, host, flow);
            next += 1;
        }
        self.hosts[host as usize].next_flow = u32::try_from(next).unwrap_or(u32::MAX);
        self.after_nic(key, host, queue);
    }

    /// What follows every call of a NIC: completions, the next packet, the next wake-up.
    #[inline]
    fn after_nic(&mut self, key: EventKey, host: u32, queue: &mut EventQueue<Event>) {
        while let Some(completion) = self.hosts[host as usize].nic.poll_completion() {
            self.complete(key, &completion);
        }
        let state = &self.hosts[host as usize];
        let port = &self.ports[state.port as usize].port;
        if port.free_at() <= key.time {
            self.pump(key.time, state.port, queue);
        } else if state.nic.is_ready(port.paused()) {
            self.arm_free(state.port, queue);
        }
        self.arm_nic_timeout(host, queue);
    }

    /// Arms one wake-up for the least of the NIC's timers and pacing gaps; a gap that ends while
    /// the port is busy is of no use before the port is free.
    #[inline]
    fn arm_nic_timeout(&mut self, host: u32, queue: &mut EventQueue<Event>) {
        let state = &mut self.hosts[host as usize];
        let free_at = self.ports[state.port as usize].port.free_at();
        let release = state.nic.next_release();
        let due = state.nic.poll_timeout().min(release.max(free_at));
        if due < state.timeout_armed {
            state.timeout_armed = due;
            let tie = self.nodes[state.node as usize].ties.reserve();
            queue.push(EventKey { time: due, tie }, Event::NicTimeout { host });
        }
    }

    /// Sets up the source's queue pair and posts all messages of a flow.
    fn post_flow(&mut self, now: SimTime, host: u32, flow: u32) {
        let plan = &self.plan.flows[flow as usize];
        let (qpn, messages, verb) = (plan.source_qpn, plan.messages(), plan.verb);
        self.flows.started += 1;
        self.create_queue_pair(host, flow, true);
        let mut remote_address = 0;
        for length in messages {
            let work = WorkRequest {
                id: u64::from(flow),
                operation: match verb {
                    Verb::Send => Operation::Send,
                    Verb::Write => Operation::Write,
                    Verb::WriteWithImmediate => Operation::WriteWithImmediate(flow),
                    Verb::Read => Operation::Read,
                },
                length: u32::try_from(length).unwrap_or(u32::MAX),
                remote_address,
                r_key: flow,
            };
            remote_address += length;
            let posted = self.hosts[host as usize].nic.post_send(now, qpn, work);
            debug_assert!(posted.is_ok(), "a plan's flow can be posted: {posted:?}");
        }
    }

    /// The destination's queue pair, at the first packet for it. Both ends of the connection are
    /// known from the plan, as after an exchange out of band.
    #[cold]
    fn create_responder(&mut self, host: u32, qpn: u32) {
        let index = qpn.wrapping_sub(FIRST_QPN) as usize;
        let flow = self.hosts[host as usize].queue_pairs.get(index).copied();
        if let Some(flow) = flow {
            let is_source = self.plan.flows[flow as usize].source == self.hosts[host as usize].node;
            self.create_queue_pair(host, flow, is_source);
        }
    }

    fn create_queue_pair(&mut self, host: u32, flow: u32, is_source: bool) {
        let plan = &self.plan.flows[flow as usize];
        let (near, far) = if is_source {
            ((plan.source_qpn, plan.source_psn), (plan.destination_qpn, plan.destination_psn))
        } else {
            ((plan.destination_qpn, plan.destination_psn), (plan.source_qpn, plan.source_psn))
        };
        let (source, destination) = if is_source {
            (plan.source, plan.destination)
        } else {
            (plan.destination, plan.source)
        };
        let config = QueuePairConfig {
            qpn: near.0,
            dest_qp: far.0,
            destination,
            entropy: self.plan.flow_hash(source, destination, plan.entropy),
            initial_psn: near.1,
            remote_initial_psn: far.1,
            priority: plan.priority,
            profile: self.plan.queue_pairs.clone(),
        };
        self.hosts[host as usize].nic.create_queue_pair(config);
    }

    fn complete(&mut self, key: EventKey, completion: &Completion) {
        let Ok(flow) = u32::try_from(completion.id) else { return };
        let left = &mut self.flows.messages_left[flow as usize];
        if *left == 0 {
            debug_assert!(
                completion.status != CompletionStatus::Success,
                "a message completes exactly once"
            );
            return;
        }
        *left -= 1;
        let failed = completion.status != CompletionStatus::Success;
        if *left > 0 && !failed {
            return;
        }
        *left = 0;
        self.flows.last_end = key.time;
        if failed {
            self.flows.failed += 1;
        } else {
            self.flows.completed += 1;
        }
        let end = FlowEnd {
            flow,
            status: completion.status,
            finished: key.time,
            retransmitted_packets: self.retransmitted_packets(flow),
        };
        self.records.push(Record { key, kind: RecordKind::FlowEnd(end) });
    }
}

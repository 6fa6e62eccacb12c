//! A host with verbs: its NIC, and the flows that its queue pairs belong to.

use rocelab_engine::EventKey;
use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{
    Completion, CompletionStatus, Counters, FIRST_QPN, Nic, NicConfig, Operation,
    Packet as RdmaPacket, QueuePair, QueuePairConfig, ReceiveQueueConfig, WorkRequest,
};
use rocelab_units::SimTime;
use rocelab_wire::{TelemetryHeader, TelemetryKind, encapsulation_len};

use super::Roce;
use crate::network::{FlowEnd, TrafficKind};
use crate::profile::{Carries, Delivery, Departing, EndHost, HostPacket};
use crate::{FlowPlan, Plan, Verb};

type Context<'a> = crate::profile::Context<'a, Roce>;

/// A host whose flows are messages over reliable connections.
#[derive(Debug)]
pub struct VerbsHost {
    node: NodeId,
    nic: Nic,
    /// Queue pair k belongs to flow `queue_pairs[k].flow`.
    queue_pairs: Vec<FlowState>,
    /// The earliest wake-up that has been asked for.
    armed: SimTime,
}

/// A queue pair's flow.
#[derive(Clone, Copy, Debug)]
struct FlowState {
    flow: u32,
    /// Messages that are not completed; counted at the source only.
    messages_left: u32,
}

impl FlowState {
    const NONE: Self = Self { flow: u32::MAX, messages_left: 0 };
}

impl VerbsHost {
    pub(super) fn new(plan: &Plan, node: NodeId, adjacency: &Adjacency) -> Self {
        let link = adjacency.ports_of(node).first();
        let line_rate = link.map(|port| plan.topology.links[port.link as usize].rate);
        let len = encapsulation_len(plan.roce.encapsulation, plan.roce.tagged);
        let nic = Nic::new(NicConfig {
            line_rate: line_rate.unwrap_or_default(),
            encapsulation_len: u16::try_from(len).unwrap_or(u16::MAX),
        });
        Self { node, nic, queue_pairs: Vec::new(), armed: SimTime::NEVER }
    }

    /// Sets up the source's queue pair and posts all messages of a flow.
    fn post_flow(&mut self, plan: &Plan, now: SimTime, flow: u32) {
        let FlowPlan { source_qpn, verb, .. } = plan.flows[flow as usize];
        self.create_queue_pair(plan, flow, true);
        let mut remote_address = 0;
        let mut count = 0;
        for length in plan.flows[flow as usize].messages() {
            let operation = match verb {
                Verb::Send => Operation::Send,
                Verb::Write => Operation::Write,
                Verb::WriteWithImmediate => Operation::WriteWithImmediate(flow),
                Verb::Read => Operation::Read,
            };
            let length_in_32_bits = u32::try_from(length).unwrap_or(u32::MAX);
            let work = WorkRequest::new(u64::from(flow), operation, length_in_32_bits)
                .to(remote_address, flow);
            remote_address += length;
            count += 1;
            let posted = self.nic.post_send(now, source_qpn, work);
            debug_assert!(posted.is_ok(), "a plan's flow can be posted: {posted:?}");
        }
        self.state(source_qpn).messages_left = count;
    }

    /// The destination's queue pair, at the first packet for it. Both ends of the connection are
    /// known from the plan, as after an exchange out of band.
    #[cold]
    fn create_responder(&mut self, plan: &Plan, qpn: u32) {
        let index = qpn.wrapping_sub(FIRST_QPN) as usize;
        let known = self.queue_pairs.get(index).map(|state| state.flow);
        if let Some(flow) = known.filter(|&flow| flow != u32::MAX) {
            let is_source = plan.flows[flow as usize].source == self.node;
            self.create_queue_pair(plan, flow, is_source);
        }
    }

    fn create_queue_pair(&mut self, plan: &Plan, flow: u32, is_source: bool) {
        let described = &plan.flows[flow as usize];
        let source = (described.source, described.source_qpn, described.source_psn);
        let destination =
            (described.destination, described.destination_qpn, described.destination_psn);
        let (near, far) = if is_source { (source, destination) } else { (destination, source) };
        self.nic.create_queue_pair(QueuePairConfig {
            qpn: near.1,
            dest_qp: far.1,
            destination: far.0,
            entropy: plan.flow_hash(near.0, far.0, described.entropy),
            initial_psn: near.2,
            remote_initial_psn: far.2,
            priority: described.priority,
            receive_queue: ReceiveQueueConfig::Endless,
            q_key: 0,
            profile: plan.queue_pairs_of(described).clone(),
        });
    }

    fn state(&mut self, qpn: u32) -> &mut FlowState {
        let index = qpn.wrapping_sub(FIRST_QPN) as usize;
        if self.queue_pairs.len() <= index {
            self.queue_pairs.resize(index + 1, FlowState::NONE);
        }
        &mut self.queue_pairs[index]
    }

    /// The end of the flow, if this completion is that.
    fn complete(&mut self, now: SimTime, completion: &Completion) -> Option<FlowEnd> {
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
        })
    }
}

impl EndHost<Roce> for VerbsHost {
    type Packet = RdmaPacket;

    fn expect(&mut self, number: u32, flow: &FlowPlan) {
        let is_source = flow.source == self.node;
        let qpn = if is_source { flow.source_qpn } else { flow.destination_qpn };
        self.state(qpn).flow = number;
    }

    fn start(&mut self, context: &mut Context<'_>, flows: &[u32]) {
        for &flow in flows {
            self.post_flow(context.plan, context.now.time, flow);
        }
    }

    #[inline]
    fn receive(
        &mut self,
        context: &mut Context<'_>,
        arrival: &Delivery<RdmaPacket>,
        telemetry: Telemetry<'_>,
    ) -> bool {
        let packet = &arrival.packet;
        if !self.nic.has_queue_pair(packet.dest_qp()) {
            self.create_responder(context.plan, packet.dest_qp());
        }
        self.nic.receive(context.now.time, packet, telemetry);
        true
    }

    #[inline]
    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        paused: u8,
    ) -> Option<Departing<RdmaPacket>> {
        let transmit = self.nic.poll_transmit(context.now.time, paused)?;
        Some(Departing {
            packet: transmit.packet,
            destination: transmit.destination,
            flow_hash: transmit.entropy,
            frame_len: transmit.frame_len,
        })
    }

    #[inline]
    fn take_telemetry(&mut self, packet: &RdmaPacket) -> Option<TelemetryHeader> {
        self.nic.take_telemetry(packet)
    }

    #[inline]
    fn is_ready(&self, paused: u8) -> bool {
        self.nic.is_ready(paused)
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> bool {
        if self.armed != context.now.time {
            return false; // An earlier one was armed since; it has served this one's purpose.
        }
        self.armed = SimTime::NEVER;
        self.nic.handle_timeout(context.now.time);
        true
    }

    /// One wake-up for the least of the NIC's timers and pacing gaps; a gap that ends while the
    /// port is busy is of no use before the port is free.
    #[inline]
    fn wake_up(&mut self, context: &mut Context<'_>, free_at: SimTime) -> Option<EventKey> {
        let time = self.nic.poll_timeout().min(self.nic.next_release().max(free_at));
        if time >= self.armed {
            return None;
        }
        self.armed = time;
        Some(EventKey { time, tie: context.reserve() })
    }

    #[inline]
    fn poll_end(&mut self, context: &mut Context<'_>) -> Option<FlowEnd> {
        loop {
            let completion = self.nic.poll_completion()?;
            if let Some(end) = self.complete(context.now.time, &completion) {
                return Some(end);
            }
        }
    }

    fn will_send(&self) -> bool {
        self.nic.next_release() != SimTime::NEVER
    }

    fn retransmissions(&self, _number: u32, flow: &FlowPlan) -> u64 {
        self.nic.queue_pair(flow.source_qpn).map_or(0, QueuePair::retransmissions)
    }

    fn flow_of(&self, qpn: u32) -> Option<u32> {
        let index = qpn.wrapping_sub(FIRST_QPN) as usize;
        self.queue_pairs.get(index).map(|state| state.flow).filter(|&flow| flow != u32::MAX)
    }

    fn counters(&self) -> &Counters {
        self.nic.counters()
    }
}

impl HostPacket for RdmaPacket {
    #[inline]
    fn priority(&self) -> u8 {
        Self::priority(self)
    }

    #[inline]
    fn kind(&self) -> TrafficKind {
        TrafficKind::of(self.opcode())
    }

    #[inline]
    fn is_markable(&self) -> bool {
        self.ecn().is_capable()
    }

    #[inline]
    fn mark(&mut self) {
        self.set_ce();
    }

    #[inline]
    fn fingerprint(&self) -> u64 {
        u64::from(self.dest_qp()) << 40
            ^ u64::from(self.psn()) << 16
            ^ u64::from(self.opcode() as u8) << 8
            ^ u64::from(self.is_ce())
    }

    #[inline]
    fn telemetry(&self) -> Carries {
        match Self::telemetry(self) {
            None => Carries::Nothing,
            Some(TelemetryKind::Int) => Carries::Hops,
            Some(TelemetryKind::Pint) => Carries::Value,
        }
    }

    #[inline]
    fn value(&mut self) -> Option<&mut u64> {
        None
    }

    #[inline]
    fn as_rdma(&self) -> Option<&RdmaPacket> {
        Some(self)
    }
}

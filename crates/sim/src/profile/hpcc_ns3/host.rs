//! A host whose sequence numbers count bytes.

use std::sync::Arc;

use rocelab_engine::{EventKey, Tie, TieOrder};
use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, serialisation_ns};
use rocelab_transport::congestion_control::{Path, Telemetry};
use rocelab_transport::hpcc_ns3::{Config, Flow, Host, Kind, Nic, Packet, Receiver};
use rocelab_transport::{CompletionStatus, Counters, Packet as RdmaPacket};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{TelemetryHeader, TelemetryKind};

use super::HpccNs3;
use crate::profile::{
    Delivery, Departing, EndHost, FlowProgress, HostPacket, Inspect, OtherStacks,
};
use crate::record::{Allowed, FlowEnd, HostEnd, TrafficKind};
use crate::{FlowPlan, HpccNs3Plan, Plan};

type Context<'a> = crate::profile::Context<'a, HpccNs3>;

/// Priority 3 carries data; its pauses stop acknowledgements too, unless these have priority.
const DATA_PRIORITY: u8 = 3;

/// A host with the NIC of HPCC's ns-3 simulator.
#[derive(Debug)]
pub struct ByteSequenceHost {
    nic: Nic<Tie>,
    line_rate: Bandwidth,
    /// The earliest wake-up that has been asked for.
    armed: Option<EventKey>,
}

impl ByteSequenceHost {
    pub(super) fn new(
        plan: &Plan,
        rules: &HpccNs3Plan,
        host: NodeId,
        adjacency: &Adjacency,
    ) -> Self {
        let link = adjacency.ports_of(host).first();
        let line_rate = link.map(|port| plan.topology.links[port.link as usize].rate);
        let line_rate = line_rate.unwrap_or_default();
        Self { nic: Nic::new(Arc::new(config(rules)), line_rate), line_rate, armed: None }
    }

    /// Base round-trip time and window of a flow.
    fn path(&self, context: &Context<'_>, flow: &FlowPlan, rules: &HpccNs3Plan) -> (Path, u64) {
        let pairs = &context.shared.pairs;
        let (base_rtt, bdp) = if rules.common_base_rtt {
            (context.shared.base_rtt, pairs.max_bdp())
        } else {
            let pair = pairs.pair(flow.source, flow.destination);
            pair.map_or((Duration::ZERO, 0), |pair| (Duration::from_ns(pair.rtt_ns), pair.bdp))
        };
        let window = if rules.has_window { bdp } else { 0 };
        let path_mtu = rules.payload_bytes;
        (
            Path {
                line_rate: self.line_rate,
                base_rtt,
                bdp: window,
                path_mtu,
                others: 0,
                seed: 0,
                start: SimTime::ZERO,
            },
            window,
        )
    }
}

fn config(rules: &HpccNs3Plan) -> Config {
    Config {
        payload_bytes: rules.payload_bytes,
        chunk_bytes: rules.chunk_bytes,
        back_to_chunk: rules.back_to_chunk,
        ack_interval_bytes: rules.ack_interval_bytes,
        scale_window: rules.scale_window,
        pace_at_rate: rules.pace_at_rate,
        ack_priority: if rules.ack_high_priority { 0 } else { DATA_PRIORITY },
        algorithm: rules.algorithm.clone(),
        sampled_acks: in_65536ths(rules.pint_probability),
        serialisation: |bytes, rate| Duration::from_ns(serialisation_ns(bytes, rate)),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^16")]
fn in_65536ths(probability: f64) -> u32 {
    (65_536.0 * probability.clamp(0.0, 1.0)) as u32
}

/// What the NIC needs from outside is in the context.
impl Host for Context<'_> {
    type Tie = Tie;

    #[inline]
    fn reserve(&mut self) -> Tie {
        self.order.reserve(self.node)
    }

    #[inline]
    fn receiver(&mut self, flow: u32) -> &mut Receiver {
        &mut self.shared.receivers[flow as usize]
    }

    fn sample(&mut self) -> u32 {
        self.shared.random.next() % 65_536
    }
}

impl EndHost<HpccNs3> for ByteSequenceHost {
    type Packet = Packet;

    fn start(&mut self, context: &mut Context<'_>, flows: &[u32]) {
        let plan = context.plan;
        for &number in flows {
            let flow = &plan.flows[number as usize];
            let (path, window) = self.path(context, flow, super::rules(plan));
            let described = Flow {
                number,
                destination: flow.destination,
                ports: flow.entropy,
                size: u32::try_from(flow.bytes).unwrap_or(u32::MAX),
                priority: flow.priority,
            };
            self.nic.start(context.now.time, &described, &path, window);
        }
    }

    #[inline]
    fn receive(
        &mut self,
        context: &mut Context<'_>,
        arrival: &Delivery<Packet>,
        telemetry: Telemetry<'_>,
    ) -> bool {
        let &Delivery { ref packet, source, flow_hash } = arrival;
        self.nic.receive(context.now.time, packet, source, flow_hash, telemetry, context)
    }

    #[inline]
    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        paused: u8,
    ) -> Option<Departing<Packet>> {
        let departure = self.nic.poll_transmit(context.now.time, paused, context)?;
        Some(Departing {
            packet: departure.packet,
            destination: departure.destination,
            flow_hash: departure.ports,
            frame_len: departure.frame_len,
        })
    }

    #[inline]
    fn take_telemetry(&mut self, packet: &Packet) -> Option<TelemetryHeader> {
        packet.carries_hops().then(|| TelemetryHeader::Int(self.nic.take_telemetry(packet)))
    }

    #[inline]
    fn is_ready(&self, paused: u8) -> bool {
        self.nic.is_ready(paused)
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> bool {
        let now = context.now;
        if self.armed != Some(now) {
            return false; // An earlier one was asked for since.
        }
        self.armed = None;
        self.nic.handle_timeout(now.time, now.tie, context)
    }

    #[inline]
    fn wake_up(&mut self, _context: &mut Context<'_>, _free_at: SimTime) -> Option<EventKey> {
        let (time, tie) = self.nic.next_timeout()?;
        let due = EventKey { time, tie };
        if self.armed.is_some_and(|armed| armed <= due) {
            return None;
        }
        self.armed = Some(due);
        Some(due)
    }

    #[inline]
    fn poll_end(&mut self, context: &mut Context<'_>) -> Option<HostEnd> {
        let end = self.nic.poll_end()?;
        Some(HostEnd::Flow(FlowEnd {
            flow: end.flow,
            status: CompletionStatus::Success,
            finished: context.now.time,
            failure: None,
            retransmitted_packets: end.retransmissions,
        }))
    }
}

impl OtherStacks for ByteSequenceHost {}

impl Inspect<Packet> for ByteSequenceHost {
    fn will_send(&self) -> bool {
        self.nic.will_wake_up()
    }

    fn retransmissions(&self, number: u32, _flow: &FlowPlan) -> u64 {
        self.nic.retransmissions(number)
    }

    fn progress(&self, number: u32, _flow: &FlowPlan) -> Option<FlowProgress> {
        let sender = self.nic.sender(number)?;
        let allowed = Allowed { rate: sender.rate(), window: sender.window() };
        Some(FlowProgress {
            acknowledged: sender.acknowledged(),
            allowed: Some(allowed),
            in_flight: sender.in_flight(),
        })
    }

    fn flow_in(&self, packet: &Packet) -> Option<u32> {
        Some(packet.flow)
    }

    fn counters(&self) -> &Counters {
        self.nic.counters()
    }
}

impl HostPacket for Packet {
    #[inline]
    fn priority(&self) -> u8 {
        Self::priority(self)
    }

    #[inline]
    fn kind(&self) -> TrafficKind {
        match self.kind {
            Kind::Data => TrafficKind::Data,
            Kind::Ack | Kind::Nack => TrafficKind::Ack,
        }
    }

    #[inline]
    fn is_markable(&self) -> bool {
        true
    }

    #[inline]
    fn mark(&mut self) {
        Self::mark(self);
    }

    #[inline]
    fn is_marked(&self) -> bool {
        Self::is_marked(self)
    }

    #[inline]
    fn fingerprint(&self) -> u64 {
        u64::from(self.flow) << 32
            ^ u64::from(self.sequence)
            ^ u64::from(self.kind as u8) << 62
            ^ u64::from(self.is_marked()) << 61
    }

    #[inline]
    fn telemetry(&self) -> Option<TelemetryKind> {
        if self.carries_hops() {
            Some(TelemetryKind::Int)
        } else if self.carries_value() {
            Some(TelemetryKind::Pint)
        } else {
            None
        }
    }

    #[inline]
    fn own_telemetry(&self) -> Option<TelemetryHeader> {
        let value = || TelemetryHeader::Pint(u16::try_from(self.carried()).unwrap_or(u16::MAX));
        self.carries_value().then(value)
    }

    #[inline]
    fn set_own_telemetry(&mut self, header: TelemetryHeader) {
        if let TelemetryHeader::Pint(value) = header {
            self.carry(u64::from(value));
        }
    }

    #[inline]
    fn as_rdma(&self) -> Option<&RdmaPacket> {
        None
    }
}

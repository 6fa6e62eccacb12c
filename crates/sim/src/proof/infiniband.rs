//! A subnet of InfiniBand: loops of credits, and whether lanes have room enough for their links.

use std::collections::BTreeMap;
use std::fmt;

use rocelab_fabric::blocks_of;
use rocelab_subnet::{SERVICE_LEVELS, credit_loops};
use rocelab_units::{Bandwidth, Bytes, Duration};
use rocelab_wire::{CREDIT_BLOCK_LEN, DELIMITERS_LEN, FlowControlPacket};
use serde::Serialize;

use super::Verdict;
use crate::Plan;
use crate::plan::{InfiniBandPlan, InfiniBandPorts};

/// What is found of a subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubnetFinding {
    /// The routing engine that made the tables.
    pub engine: String,
    /// Why the engine that was asked for did not; none if it did.
    pub refused: Option<String>,
    /// Virtual lanes for data.
    pub data_vls: u8,
    /// A loop of credits of each lane that has one: its switches, with the ports counted from 1.
    pub credit_loops: Vec<LaneLoop>,
    /// Room of each kind of link.
    pub buffers: Vec<LaneBuffer>,
}

/// Ports of which each waits for credits of the next one, and the last for those of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneLoop {
    /// The lane.
    pub lane: u8,
    /// The ports, from the first to the first again.
    pub ports: String,
}

/// The room of one lane at the ends of links of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneBuffer {
    /// Rate of the links.
    pub rate_bps: u64,
    /// Time that a bit takes to the other end, the latency of its switch included.
    pub delay_ps: u64,
    /// Directions of such links.
    pub directions: u64,
    /// Room of a lane (bytes).
    pub buffer_bytes: u64,
    /// Packets of the path MTU that fit, and that a lane may have ahead.
    pub packets: u64,
    /// Packets that would fill the link.
    pub needed: u64,
    /// What one lane carries of such packets at the most.
    pub lane_bps: u64,
}

impl LaneBuffer {
    /// Whether one lane can fill the link.
    pub fn verdict(&self) -> Verdict {
        if self.packets >= self.needed { Verdict::Proved } else { Verdict::Refuted }
    }

    /// Whether no buffer would do: the counters of flow control allow no more.
    fn is_capped(&self, blocks: u64) -> bool {
        self.needed * blocks > u64::from(FlowControlPacket::MAX_CREDITS)
    }
}

impl SubnetFinding {
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let infiniband = plan.infiniband.as_ref()?;
        let routing = &infiniband.routed.routing;
        Some(Self {
            engine: routing.engine.name().to_owned(),
            refused: routing.refused.as_ref().map(|reason| {
                format!("`{}` refused the subnet: {reason}", infiniband.manager.engine)
            }),
            data_vls: infiniband.data_vls,
            credit_loops: loops(infiniband),
            buffers: buffers(plan),
        })
    }

    pub(super) fn faults(&self) -> usize {
        self.credit_loops.len()
    }

    pub(super) fn warnings(&self) -> usize {
        let short = self.buffers.iter().filter(|one| one.verdict() == Verdict::Refuted).count();
        short + usize::from(self.refused.is_some())
    }
}

fn loops(infiniband: &InfiniBandPlan) -> Vec<LaneLoop> {
    let mut lanes = [infiniband.lane_of[0]; SERVICE_LEVELS];
    lanes[..infiniband.lane_of.len()].copy_from_slice(&infiniband.lane_of);
    let routed = &infiniband.routed;
    let found = credit_loops(&routed.subnet, &routed.routing.tables, &lanes);
    found.iter().map(|one| LaneLoop { lane: one.lane, ports: one.named(&routed.subnet) }).collect()
}

/// The room at the ends of links, one for each kind.
fn buffers(plan: &Plan) -> Vec<LaneBuffer> {
    let adjacency = plan.topology.adjacency();
    let mut kinds: BTreeMap<(u64, u64, u64), u64> = BTreeMap::new();
    for node in (0u32..).take(plan.topology.nodes.len()) {
        for far in adjacency.ports_of(node) {
            let link = &plan.topology.links[far.link as usize];
            let delay = link.delay + plan.latency_of(node);
            let buffer = u64::from(InfiniBandPorts(plan).lane_buffers(node, far)[0])
                * CREDIT_BLOCK_LEN as u64;
            *kinds.entry((link.rate.bits_per_second(), delay.ps(), buffer)).or_default() += 1;
        }
    }
    let packet = plan.largest_frame().get();
    kinds
        .into_iter()
        .map(|((rate_bps, delay_ps, buffer_bytes), directions)| {
            let (packets, needed, lane_bps) = carried(rate_bps, delay_ps, buffer_bytes, packet);
            LaneBuffer { rate_bps, delay_ps, directions, buffer_bytes, packets, needed, lane_bps }
        })
        .collect()
}

/// Packets of `len` bytes that a lane may have ahead, packets that would fill the link, and what the lane carries: n packets in
/// each time that a packet, the way there and back and a flow control packet take.
fn carried(rate_bps: u64, delay_ps: u64, buffer_bytes: u64, len: u64) -> (u64, u64, u64) {
    let rate = Bandwidth::from_bps(rate_bps);
    let time = |bytes: u64| rate.transmission_time(Bytes::new(bytes)).ps();
    let update = (FlowControlPacket::LEN + DELIMITERS_LEN) as u64;
    let round = time(len) + 2 * delay_ps + time(update);
    let blocks = u64::from(blocks_of(u32::try_from(len).unwrap_or(u32::MAX)));
    let room = (buffer_bytes / CREDIT_BLOCK_LEN as u64).min(FlowControlPacket::MAX_CREDITS.into());
    let packets = room / blocks.max(1);
    let needed = rate.bytes_in(Duration::from_ps(round)).get().div_ceil(len.max(1));
    let bits = u128::from(packets) * u128::from(len) * 8 * 1_000_000_000_000;
    let lane = u64::try_from(bits / u128::from(round.max(1))).unwrap_or(u64::MAX).min(rate_bps);
    (packets, needed, lane)
}

impl fmt::Display for LaneBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, delay) = (Bandwidth::from_bps(self.rate_bps), Duration::from_ps(self.delay_ps));
        let Self { directions, packets, needed, .. } = self;
        let buffer = Bytes::new(self.buffer_bytes);
        write!(
            f,
            "{directions} directions of {rate}, {delay} one way: {buffer} of a lane hold {packets} packets ahead, and \
             {needed} fill the link"
        )?;
        if self.verdict() == Verdict::Proved {
            return Ok(());
        }
        write!(f, "; one lane carries {}", Bandwidth::from_bps(self.lane_bps))?;
        let blocks = self.buffer_bytes / CREDIT_BLOCK_LEN as u64 / packets.max(&1);
        if self.is_capped(blocks) {
            f.write_str(": no lane has more than 131072 bytes ahead, so use several lanes")
        } else {
            f.write_str(": raise `infiniband.vl_buffer`, or use several lanes")
        }
    }
}

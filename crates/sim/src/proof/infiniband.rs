//! A subnet of InfiniBand: loops of credits, and whether lanes have room enough for their links.

use std::collections::BTreeMap;
use std::fmt;

use rocelab_fabric::blocks_of;
use rocelab_subnet::{Channel, CreditLoop, credit_loops_by};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use rocelab_wire::{CREDIT_BLOCK_LEN, FlowControlPacket};
use serde::Serialize;

use super::Verdict;
use crate::Plan;
use crate::plan::{InfiniBandPlan, InfiniBandPorts, Resweep, RoutedSubnet, packets_in};

/// What is found of a subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubnetFinding {
    /// The routing engine that made the tables.
    pub engine: String,
    /// Why the engine that was asked for did not; none if it did.
    pub refused: Option<String>,
    /// Virtual lanes for data.
    pub data_vls: u8,
    /// A loop of credits of each lane that has one.
    pub credit_loops: Vec<LaneLoop>,
    /// What follows from the scenario's failures; left out if they change no tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_failures: Option<SubnetAfterFailures>,
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

/// What follows from the tables that the subnet manager makes after the scenario's failures. Queue pairs keep their service levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubnetAfterFailures {
    /// Tables that were examined: one for each other set of links that are up, for some of the first.
    pub examined: usize,
    /// Whether there are more.
    pub has_more: bool,
    /// The first time that the engine refused what was left, and why (ps).
    pub refused: Option<(u64, String)>,
    /// The first loop of credits, and when its tables are made (ps).
    pub credit_loop: Option<(u64, LaneLoop)>,
}

/// The room of one lane at the ends of links of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneBuffer {
    /// Rate of the links.
    pub rate_bps: u64,
    /// Time that a bit takes to the other end, without the latency of a switch there.
    pub delay_ps: u64,
    /// From the start of a packet to the arrival of its credits, where nothing goes the other way.
    pub round_ps: u64,
    /// The same where packets go the other way all the time.
    pub busy_round_ps: u64,
    /// Directions of such links.
    pub directions: u64,
    /// Room of a lane (bytes).
    pub buffer_bytes: u64,
    /// Packets of the path MTU that fit, and that a lane may have ahead.
    pub packets: u64,
    /// Packets that fill the link, whatever goes the other way.
    pub needed: u64,
    /// What one lane carries of such packets at the most, where nothing goes the other way.
    pub lane_bps: u64,
    /// The same where packets go the other way all the time.
    pub busy_lane_bps: u64,
    /// Blocks of a packet.
    #[serde(skip)]
    packet_blocks: u64,
}

impl LaneBuffer {
    /// Whether one lane can fill the link.
    pub fn verdict(&self) -> Verdict {
        if self.packets >= self.needed { Verdict::Proved } else { Verdict::Refuted }
    }

    /// Whether no buffer would do: the counters of flow control allow no more.
    fn is_capped(&self) -> bool {
        self.needed * self.packet_blocks > u64::from(FlowControlPacket::MAX_CREDITS)
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
            credit_loops: loops(plan, infiniband, &infiniband.routed),
            after_failures: after_failures(plan, infiniband),
            buffers: buffers(plan),
        })
    }

    pub(super) fn faults(&self) -> usize {
        let later = self.after_failures.as_ref().filter(|later| later.credit_loop.is_some());
        self.credit_loops.len() + usize::from(later.is_some())
    }

    pub(super) fn warnings(&self) -> usize {
        let short = self.buffers.iter().filter(|one| one.verdict() == Verdict::Refuted).count();
        let later = self.after_failures.as_ref().filter(|later| later.refused.is_some());
        short + usize::from(self.refused.is_some()) + usize::from(later.is_some())
    }
}

/// The loops of credits that tables leave. Packets have the service levels of the first tables.
fn loops(plan: &Plan, infiniband: &InfiniBandPlan, routed: &RoutedSubnet) -> Vec<LaneLoop> {
    let any = lanes_in_use(plan);
    if let Some(groups) = &routed.groups {
        let tables = &routed.routing.tables.forwarding;
        let found = groups.credit_loops(&routed.subnet, tables, any);
        return found.iter().map(|one| named(plan, routed, one)).collect();
    }
    let node = |end_port: usize| {
        let node = routed.subnet.end_ports().get(end_port)?.id.node;
        u32::try_from(node).ok()
    };
    let lanes_of = |source: usize, lid: u16| {
        let level = node(source).zip(routed.subnet.owner(lid)).and_then(|(from, owner)| {
            let path_bits = lid - routed.subnet.end_ports().get(owner)?.lids.base;
            infiniband.routed.service_level(from, node(owner)?, path_bits.into())
        });
        level.map_or(any, |level| 1 << plan.lane_of(level))
    };
    let by_end_port = infiniband.routed.routing.tables.service_levels.are_by_end_port();
    let tables = (&routed.routing.tables.forwarding, by_end_port);
    let found = credit_loops_by(&routed.subnet, tables, lanes_of);
    found.iter().map(|one| named(plan, routed, one)).collect()
}

/// A loop by the names of its ports, which are counted from 0 as everywhere.
fn named(plan: &Plan, routed: &RoutedSubnet, found: &CreditLoop) -> LaneLoop {
    let channels = found.channels.iter().chain(found.channels.first());
    let name = |one: &Channel| {
        let node = routed.node_of(one.switch);
        let port = routed.port_of(node, one.port).unwrap_or(u16::MAX);
        format!("{}:{port}", plan.topology.nodes[node as usize].name)
    };
    let ports = channels.map(name);
    LaneLoop { lane: found.lane, ports: ports.collect::<Vec<_>>().join(" -> ") }
}

/// The lanes (bit v) of the service levels that packets have whose paths have none of their own.
fn lanes_in_use(plan: &Plan) -> u16 {
    let flows = plan.flows.iter().map(|flow| flow.priority);
    let connections = crate::plan::network_connections(plan).map(|(_, one)| one.priority);
    let messages = plan.roce.connection_manager.iter().map(|cm| cm.priority);
    let levels = flows.chain(connections).chain(messages);
    levels.fold(0, |lanes, level| lanes | 1 << plan.lane_of(level))
}

/// What the scenario's failures make of tables.
fn after_failures(plan: &Plan, infiniband: &InfiniBandPlan) -> Option<SubnetAfterFailures> {
    /// Sets of links that are looked at: each takes the time of a sweep.
    const MOST: usize = 16;
    let mut after =
        SubnetAfterFailures { examined: 0, has_more: false, refused: None, credit_loop: None };
    let last = plan.stop.unwrap_or(SimTime::NEVER);
    for Resweep { at, routed } in plan.resweeps(last, MOST + 1) {
        if after.examined == MOST {
            after.has_more = true;
            break;
        }
        after.examined += 1;
        let Ok(routed) = routed else { continue };
        if let Some(reason) = &routed.routing.refused {
            let text = format!("{reason}; {} in its place", routed.routing.engine.name());
            after.refused.get_or_insert((at.ps(), text));
        }
        if after.credit_loop.is_none() {
            let found = loops(plan, infiniband, &routed).into_iter().next();
            after.credit_loop = found.map(|found| (at.ps(), found));
        }
    }
    (after.examined > 0).then_some(after)
}

/// The room at the ends of links, one for each kind.
fn buffers(plan: &Plan) -> Vec<LaneBuffer> {
    let (adjacency, ports) = (plan.topology.adjacency(), InfiniBandPorts(plan));
    let mut kinds: BTreeMap<LinkKind, u64> = BTreeMap::new();
    for node in (0u32..).take(plan.topology.nodes.len()) {
        for far in adjacency.ports_of(node) {
            let link = &plan.topology.links[far.link as usize];
            let round = ports.credit_round(node, far);
            let kind = LinkKind {
                rate: link.rate,
                delay: link.delay,
                rounds: [round.idle, round.busy],
                blocks: ports.lane_buffers(node, far)[0].into(),
            };
            *kinds.entry(kind).or_default() += 1;
        }
    }
    let len = ports.largest();
    kinds.into_iter().map(|(kind, directions)| kind.buffer(directions, len)).collect()
}

/// What directions of links have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LinkKind {
    rate: Bandwidth,
    delay: Duration,
    /// [Where the other direction is idle, and where it is busy](crate::plan::CreditRound).
    rounds: [Duration; 2],
    /// Room of a lane.
    blocks: u64,
}

impl LinkKind {
    /// The room for packets of `len` bytes: of n that may be ahead, a lane carries n in each round.
    fn buffer(&self, directions: u64, len: u32) -> LaneBuffer {
        let Self { rate, delay, rounds, blocks } = *self;
        let packet_blocks = u64::from(blocks_of(len)).max(1);
        let packets = blocks.min(FlowControlPacket::MAX_CREDITS.into()) / packet_blocks;
        let bits = u128::from(packets) * u128::from(len) * 8 * 1_000_000_000_000;
        let carried = rounds.map(|round| {
            let bps = u64::try_from(bits / u128::from(round.ps().max(1))).unwrap_or(u64::MAX);
            bps.min(rate.bits_per_second())
        });
        let [round_ps, busy_round_ps] = rounds.map(Duration::ps);
        let [lane_bps, busy_lane_bps] = carried;
        LaneBuffer {
            rate_bps: rate.bits_per_second(),
            delay_ps: delay.ps(),
            round_ps,
            busy_round_ps,
            directions,
            buffer_bytes: blocks * CREDIT_BLOCK_LEN as u64,
            packets,
            needed: packets_in(rate, rounds[1], len),
            lane_bps,
            busy_lane_bps,
            packet_blocks,
        }
    }
}

/// A rate to three figures.
fn rounded(bps: u64) -> Bandwidth {
    let unit = 10_u64.pow(bps.max(1).ilog10().saturating_sub(2));
    Bandwidth::from_bps(bps.saturating_add(unit / 2) / unit * unit)
}

impl fmt::Display for LaneBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, delay) = (Bandwidth::from_bps(self.rate_bps), Duration::from_ps(self.delay_ps));
        let Self { directions, packets, needed, .. } = self;
        let (buffer, s) = (Bytes::new(self.buffer_bytes), if *packets == 1 { "" } else { "s" });
        write!(
            f,
            "{directions} directions of {rate}, {delay} one way: {buffer} of a lane hold {packets} packet{s} ahead, and \
             {needed} fill the link"
        )?;
        if self.verdict() == Verdict::Proved {
            return Ok(());
        }
        let (alone, busy) = (rounded(self.lane_bps), rounded(self.busy_lane_bps));
        write!(f, "; one lane carries {alone}, and {busy} while packets go the other way too")?;
        if self.is_capped() {
            f.write_str(": no lane has more than 131072 bytes ahead, so use several lanes")
        } else {
            f.write_str(": raise `infiniband.vl_buffer`, or use several lanes")
        }
    }
}

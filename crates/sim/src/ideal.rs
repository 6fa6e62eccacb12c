//! How long a flow takes alone in the network: what its completion time is compared with.
//!
//! Frames travel along a shortest path, and answers along any shortest path back: those on which the flow
//! is over first, since hashes choose freely among paths of equal cost. So it is a lower bound, which a
//! flow alone in the network reaches if its path is among the quickest. Where the routes can change in the
//! run, because links fail or frames are flooded, it is a lower bound over all paths on the topology's
//! links, which may not be reached: a path with more links can be quicker than a shortest one. Where routes
//! change while a flow is under way, its frames can be on several paths at once, and the bound is over that too.
//! A frame of L bytes that starts at a port
//! of rate R reaches the other end (8 + L) x 8 / R + delay later (preamble before it), and the next
//! one may start after (8 + L + 12) x 8 / R (interpacket gap behind it); times that are no whole
//! picoseconds round up. Hosts take the time of their models without misses and contention, or none, and nobody paces below the line rate. A SEND or WRITE
//! ends when the acknowledgement of its last packet is back, which is sent at once even where
//! `ack_coalescing` puts it off, a READ when the last byte is in; on an
//! unreliable service a flow ends when its last packet is there. A TCP flow ends when the
//! application has its last byte; no window holds it back, and both hosts' stacks take their delays
//! without the random part.
//!
//! By the rules of HPCC's ns-3 simulator it is what that simulator takes it for.

mod any_path;
mod ground;
mod kept;
mod messages;
mod paths;
mod pings;
mod route;
mod segments;
mod standalone;
mod train;
mod ways;

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;
use rocelab_host::{Alone, HostProfile, Kind};
use rocelab_transport::{QueuePairProfile, Service};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::cm::MAD_LEN;
use rocelab_wire::{CnTag, Encapsulation, Opcode, TelemetryKind, frame_len, infiniband_frame_len};

pub(crate) use self::pings::UnloadedPings;

use self::messages::Message;
use self::paths::{ShortestPaths, Ways};
use self::route::Route;
use self::segments::Segments;
use self::standalone::StandaloneTimes;
use self::train::{Hop, Train};
use self::ways::{Question, Way};
use crate::plan::{FlowPlan, Plan};
use crate::scenario::Verb;

/// The completion time of `flow` in the unloaded network of `plan`. For many flows, ask an
/// [`UnloadedNetwork`].
pub fn ideal_fct(plan: &Plan, flow: &FlowPlan) -> Duration {
    UnloadedNetwork::new(plan).completion_time(flow)
}

/// Completion times in an unloaded network; keeps the shortest paths that it has computed.
#[derive(Debug)]
pub struct UnloadedNetwork {
    paths: ShortestPaths,
    frames: Frames,
    /// Hosts of RoCE v1 among others of v2.
    v1_hosts: BTreeSet<NodeId>,
    /// What flows carry, and whether they have CN-TAGs, by the place of their queue pairs'
    /// parameters.
    carried: Vec<(Option<TelemetryKind>, bool)>,
    /// How many packets ask for one acknowledgement; none where acknowledgements may be put off, so that
    /// it is not known which of them are sent.
    ack_interval: Option<u64>,
    /// What opcodes say, and whether anything is acknowledged.
    service: Service,
    /// Who sends to multicast groups: hosts and queue pairs.
    to_groups: BTreeSet<(NodeId, u32)>,
    /// Where there are TCP flows.
    segments: Option<Segments>,
    /// Hosts that take time.
    hosts: BTreeMap<NodeId, HostProfile>,
    /// Where the rules of HPCC's ns-3 simulator hold.
    standalone: Option<StandaloneTimes>,
}

impl UnloadedNetwork {
    /// The network of `plan`, with nothing on it.
    pub fn new(plan: &Plan) -> Self {
        Self {
            paths: ShortestPaths::new(plan),
            frames: Frames {
                encapsulation: plan.roce.encapsulation,
                is_infiniband: plan.roce.is_infiniband,
                tagged: plan.roce.tagged,
                path_mtu: plan.common_queue_pair().path_mtu.bytes().into(),
                telemetry: None,
                cn_tag: false,
            },
            v1_hosts: plan.roce.v1_hosts.clone(),
            carried: plan
                .queue_pairs
                .iter()
                .map(|profile| &profile.congestion_control)
                .map(|algorithm| (algorithm.telemetry(), algorithm.needs_qcn()))
                .collect(),
            ack_interval: ack_interval(plan.common_queue_pair()),
            service: plan.service(),
            to_groups: plan.senders_to_groups().collect(),
            segments: plan.tcp.as_ref().map(|tcp| Segments::new(tcp, plan.roce.tagged)),
            hosts: plan
                .host_models
                .iter()
                .map(|(&host, model)| (host, model.profile.clone()))
                .collect(),
            standalone: plan.profile.hpcc_ns3().map(|rules| StandaloneTimes::new(plan, rules)),
        }
    }

    /// From the moment at which the work is posted to its completion.
    ///
    /// All messages of a flow are posted at once. It is the least over all shortest paths there and back.
    /// They differ where rates, latencies or ways of forwarding do.
    pub fn completion_time(&mut self, flow: &FlowPlan) -> Duration {
        if let Some(standalone) = &mut self.standalone {
            return standalone.of(flow);
        }
        let ways = self.paths.between(flow.source, flow.destination, Question::Quickest);
        self.completion_time_over(flow, &ways)
    }

    /// The same of a flow that was over at `end`, or open until then. Where routes changed meanwhile, its frames
    /// may have gone over several paths side by side: then no link but those of the two hosts holds them up.
    pub fn completion_time_until(&mut self, flow: &FlowPlan, end: SimTime) -> Duration {
        let hosts = (flow.source, flow.destination);
        match self.paths.over_several(hosts, (flow.start, end)) {
            Some(ways) if self.standalone.is_none() => self.completion_time_over(flow, &ways),
            _ => self.completion_time(flow),
        }
    }

    /// What hosts that take time add to a flow.
    fn added_by_hosts(&self, flow: &FlowPlan) -> Duration {
        if self.hosts.is_empty() {
            return Duration::ZERO;
        }
        let in_32_bits = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        // Of the last message, and of that the last packet.
        let rest_of = |bytes: u64, each: u64| if bytes == 0 { 0 } else { (bytes - 1) % each + 1 };
        let last = rest_of(rest_of(flow.bytes, flow.message_bytes.max(1)), self.frames.path_mtu);
        let alone = Alone {
            near: self.hosts.get(&flow.source),
            far: self.hosts.get(&flow.destination),
            kind: if flow.verb == Verb::Read { Kind::Inbound } else { Kind::Outbound },
            first: in_32_bits(flow.messages().next().unwrap_or_default()),
            last: in_32_bits(last),
            is_answered: self.service.is_reliable(),
        };
        alone.added()
    }

    fn completion_time_over(&self, flow: &FlowPlan, ways: &Ways) -> Duration {
        if flow.is_tcp() {
            return self.network_time_over(flow, ways);
        }
        self.network_time_over(flow, ways) + self.added_by_hosts(flow)
    }

    fn network_time_over(&self, flow: &FlowPlan, ways: &Ways) -> Duration {
        if let (true, Some(segments)) = (flow.is_tcp(), &self.segments) {
            let forward = ways.forward.iter().map(Way::quickest);
            let times = forward.map(|hops| segments.delivery(flow.bytes, &hops));
            return times.min().unwrap_or_default();
        }
        let backward: Vec<_> = ways.backward.iter().map(Way::quickest).collect();
        let times = ways.forward.iter().filter_map(|forward| {
            let mut forward = forward.quickest();
            if self.to_groups.contains(&(flow.source, flow.source_qpn)) {
                // Also switches that cut through store what they copy.
                forward.iter_mut().for_each(|hop| hop.cuts_through = false);
            }
            let backward = backward.iter().map(|hops| Route::new(hops)).collect();
            if flow.verb == Verb::Read {
                self.read(flow, &forward, backward)
            } else {
                self.acknowledged(flow, &forward, backward)
            }
        });
        Duration::from_ps(times.min().unwrap_or_default())
    }

    /// The longest round trip of a full packet and its acknowledgement over the paths of `flows`,
    /// with the telemetry that they carry.
    pub(crate) fn largest_round_trip(&mut self, flows: &[FlowPlan]) -> Duration {
        let mut seen = BTreeSet::new();
        let mut largest = 0;
        for flow in flows.iter().filter(|flow| !flow.is_tcp()) {
            if seen.insert((flow.source, flow.destination, flow.queue_pairs)) {
                largest = largest.max(self.round_trip(flow));
            }
        }
        Duration::from_ps(largest)
    }

    /// How long a message of connection management and its answer take between the ends of one of `flows`,
    /// where that is longest; and which flow that is.
    pub(crate) fn longest_handshake<'a>(
        &mut self,
        flows: impl Iterator<Item = &'a FlowPlan>,
    ) -> Option<(Duration, &'a FlowPlan)> {
        let mut seen = BTreeSet::new();
        let mut longest = None;
        for flow in flows.filter(|flow| seen.insert((flow.source, flow.destination))) {
            let len = self.frames.len(Opcode::UdSendOnly, MAD_LEN as u64);
            let ways = self.paths.between(flow.source, flow.destination, Question::Quickest);
            let times = each_way(&ways, Way::quickest)
                .map(|(forward, backward)| there_and_back(&forward, len, &backward, len));
            let time = Duration::from_ps(times.min().unwrap_or_default());
            if longest.is_none_or(|(before, _)| time > before) {
                longest = Some((time, flow));
            }
        }
        longest
    }

    /// Bytes of a frame with a full packet and no telemetry, FCS included.
    pub(crate) fn full_frame(&self) -> u64 {
        self.frames.len(Opcode::RcRdmaWriteMiddle, self.frames.path_mtu)
    }

    /// The longest round trip of a full packet and its acknowledgement, in ps.
    fn round_trip(&mut self, flow: &FlowPlan) -> u64 {
        let ways = self.paths.between(flow.source, flow.destination, Question::Slowest);
        let frames = self.frames_of(flow);
        let data_len = frames.len(Opcode::RcRdmaWriteMiddle, frames.path_mtu);
        let ack_len = frames.len(Opcode::RcAcknowledge, 0);
        let times = each_way(&ways, Way::slowest)
            .map(|(forward, backward)| there_and_back(&forward, data_len, &backward, ack_len));
        times.max().unwrap_or_default()
    }

    /// The frames of a flow; those of a READ carry no telemetry.
    fn frames_of(&self, flow: &FlowPlan) -> Frames {
        let carried = self.carried.get(flow.queue_pairs as usize).copied();
        let (telemetry, cn_tag) = carried.unwrap_or_default();
        Frames { telemetry, cn_tag, ..self.frames_from(flow.source) }
    }

    /// The frames of a host, without telemetry.
    fn frames_from(&self, host: NodeId) -> Frames {
        let is_v1 = self.v1_hosts.contains(&host);
        let encapsulation = if is_v1 { Encapsulation::V1 } else { self.frames.encapsulation };
        Frames { encapsulation, ..self.frames }
    }

    /// SEND and WRITE: data there, acknowledgements back, over the quickest way back. None if there is no way back.
    fn acknowledged(
        &self,
        flow: &FlowPlan,
        forward: &[Hop],
        mut backward: Vec<Route<'_>>,
    ) -> Option<u64> {
        let mut there = Route::new(forward);
        let frames = self.frames_of(flow);
        // A packet that was overtaken is acknowledged with those that came early, whose acknowledgement brings no
        // telemetry back.
        let is_over_several = forward.iter().any(|hop| hop.is_parallel);
        let encapsulation = frames.encapsulation;
        let acknowledged =
            if is_over_several { Frames { encapsulation, ..self.frames } } else { frames };
        let ack_len = acknowledged.len(Opcode::RcAcknowledge, 0);
        let mut completions = vec![0; backward.len()];
        for bytes in flow.messages() {
            let message = Message::new(flow.verb, bytes, self.frames.path_mtu);
            for segment in message.segments() {
                let opcode = segment.opcode.with_transport(self.service.transport());
                let len = frames.len(opcode.unwrap_or(segment.opcode), segment.payload);
                let arrivals = there.carry(Train::at(0, segment.count, len));
                if !self.service.is_reliable() {
                    completions.fill(arrivals.last());
                    continue;
                }
                let Some(interval) = self.ack_interval else {
                    // One that its time sends brings no telemetry back.
                    let len = Frames { encapsulation, ..self.frames }.len(Opcode::RcAcknowledge, 0);
                    let ack = Train::at(arrivals.last(), 1, len);
                    for (back, completion) in backward.iter().zip(&mut completions) {
                        *completion = Route::new(back.hops).carry(ack.clone()).last();
                    }
                    continue;
                };
                if let Some(acks) = arrivals.every(segment.acknowledged(interval), ack_len) {
                    for (back, completion) in backward.iter_mut().zip(&mut completions) {
                        *completion = back.carry(acks.clone()).last();
                    }
                }
            }
        }
        completions.into_iter().min()
    }

    /// READ: requests there, data back, over the quickest way back. None if there is no way back.
    fn read(&self, flow: &FlowPlan, forward: &[Hop], mut backward: Vec<Route<'_>>) -> Option<u64> {
        let mut there = Route::new(forward);
        let frames = Frames { telemetry: None, ..self.frames_of(flow) };
        let request_len = frames.len(Opcode::RcRdmaReadRequest, 0);
        let mut completions = vec![0; backward.len()];
        for bytes in flow.messages() {
            let asked = there.carry(Train::at(0, 1, request_len)).last();
            let message = Message::new(flow.verb, bytes, self.frames.path_mtu);
            for segment in message.segments() {
                let len = frames.len(segment.opcode, segment.payload);
                let data = Train::at(asked, segment.count, len);
                for (back, completion) in backward.iter_mut().zip(&mut completions) {
                    *completion = back.carry(data.clone()).last();
                }
            }
        }
        completions.into_iter().min()
    }
}

/// Packets for one that asks for an acknowledgement. With selective repeat each does.
fn ack_interval(profile: &QueuePairProfile) -> Option<u64> {
    let interval = if profile.recovery.is_selective() { 1 } else { profile.ack_interval.max(1) };
    profile.ack_coalescing.is_none_or(|rule| rule.packets <= 1).then_some(interval.into())
}

/// Every way there with every way back, as hops.
fn each_way(
    ways: &Ways,
    hops: impl Fn(&Way) -> Vec<Hop> + Copy,
) -> impl Iterator<Item = (Vec<Hop>, Vec<Hop>)> {
    let backward = move |there: &Way| {
        let there = hops(there);
        ways.backward.iter().map(move |back| (there.clone(), hops(back)))
    };
    ways.forward.iter().flat_map(backward)
}

/// The time of a frame and of the one that answers it, by their lengths (ps).
fn there_and_back(forward: &[Hop], len: u64, backward: &[Hop], answer_len: u64) -> u64 {
    let arrival = Route::new(forward).carry(Train::at(0, 1, len)).last();
    Route::new(backward).carry(Train::at(arrival, 1, answer_len)).last()
}

/// Frame lengths of a scenario's packets, or of those with telemetry.
#[derive(Clone, Copy, Debug)]
struct Frames {
    encapsulation: Encapsulation,
    /// Native InfiniBand in place of `encapsulation`.
    is_infiniband: bool,
    tagged: bool,
    path_mtu: u64,
    telemetry: Option<TelemetryKind>,
    cn_tag: bool,
}

impl Frames {
    /// Bytes of a frame, FCS included.
    fn len(self, opcode: Opcode, payload: u64) -> u64 {
        let payload = usize::try_from(payload).unwrap_or(usize::MAX);
        let len = match self.telemetry {
            carried if self.is_infiniband => {
                let telemetry = carried.map_or(0, |kind| kind.len_in(opcode));
                infiniband_frame_len(opcode, payload) + telemetry
            }
            None => frame_len(self.encapsulation, self.tagged, opcode, payload),
            Some(kind) => kind.frame_len(self.encapsulation, self.tagged, opcode, payload),
        };
        let tag = if self.cn_tag && opcode != Opcode::RcAcknowledge { CnTag::LEN } else { 0 };
        (len + tag) as u64
    }
}

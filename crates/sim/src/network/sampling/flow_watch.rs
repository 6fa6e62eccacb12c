//! Flows that are looked at closely: what their frames say at both ends, where a scenario asks for it.
//!
//! All of it follows from frames that leave a host and come into one. Queue pairs know nothing of it, and pay nothing.

use std::collections::{BTreeMap, VecDeque};

use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::{Counters, Packet as RdmaPacket};
use rocelab_units::SimTime;
use rocelab_wire::Syndrome;

use crate::record::TrafficKind;
use crate::{FlowPlan, Plan, Verb};

/// What was counted of a flow, at one of its ends or at both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct FlowCounters {
    /// CNPs that were sent because of its data.
    pub cnps_sent: u64,
    /// CNPs that reached the sender of its data.
    pub cnps_received: u64,
    /// Congestion notification messages of switches (QCN) that reached the sender of its data.
    pub cnms_received: u64,
    /// Data packets that arrived while an earlier one was missing; of an unreliable service, with another PSN than the one
    /// that is due.
    pub out_of_order: u64,
    /// Data packets that arrived again.
    pub duplicates: u64,
    /// Packets whose round trip was measured.
    pub rtt_samples: u64,
    /// The sum of these round trips (ps).
    pub rtt_sum_ps: u64,
    /// The shortest of them (ps); 0 without any.
    pub rtt_min_ps: u64,
    /// The longest of them (ps).
    pub rtt_max_ps: u64,
    /// The most payload that was unacknowledged at one time (bytes); none where nothing is acknowledged.
    pub max_in_flight: Option<u64>,
}

impl FlowCounters {
    /// Adds what the other end counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.cnps_sent += other.cnps_sent;
        self.cnps_received += other.cnps_received;
        self.cnms_received += other.cnms_received;
        self.duplicates += other.duplicates;
        self.out_of_order += other.out_of_order;
        self.rtt_min_ps = match (self.rtt_samples, other.rtt_samples) {
            (_, 0) => self.rtt_min_ps,
            (0, _) => other.rtt_min_ps,
            _ => self.rtt_min_ps.min(other.rtt_min_ps),
        };
        self.rtt_samples += other.rtt_samples;
        self.rtt_sum_ps += other.rtt_sum_ps;
        self.rtt_max_ps = self.rtt_max_ps.max(other.rtt_max_ps);
        self.max_in_flight = self.max_in_flight.max(other.max_in_flight);
    }
}

/// A packet that was sent and is not acknowledged.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Sent {
    psn: u32,
    at: SimTime,
    /// Sent more than once: an acknowledgement does not say of which (Karn and Partridge, SIGCOMM 1987).
    again: bool,
}

/// One end of a flow that is looked at.
#[derive(Debug)]
pub(in crate::network) struct WatchedEnd {
    /// The flow's number in the plan.
    pub(in crate::network) flow: u32,
    /// This end.
    pub(in crate::network) node: NodeId,
    /// Queue pair number here, the other end, and the number there.
    ends: (u32, NodeId, u32),
    /// What packets are to it.
    rules: Rules,
    /// What was counted here.
    pub(in crate::network) counters: FlowCounters,
    /// What it was at the sample before: CNPs received, and out of order.
    pub(in crate::network) before: (u64, u64),
    /// The last round trip that was measured (ps).
    pub(in crate::network) rtt_ps: Option<u64>,
    /// Whether the flow is over.
    pub(in crate::network) ended: bool,
    /// The PSN of data that is due, where the service is unreliable.
    due: u32,
    /// In the order of PSNs, without a gap.
    unacknowledged: VecDeque<Sent>,
}

/// What packets are to an end of a flow.
#[derive(Clone, Copy, Debug)]
struct Rules {
    is_source: bool,
    /// Whether its data arrives here.
    receives: bool,
    is_reliable: bool,
    /// Whether data leaves from here that is acknowledged by PSN.
    is_acknowledged: bool,
    /// Whether what comes to the queue pair here is of this flow: of those to a multicast group, only of the first at their source.
    stands_for_all: bool,
}

rocelab_state::state!(WatchedEnd {
    values: counters, before, rtt_ps, ended, due, unacknowledged;
    kept: flow, node, ends, rules
});

/// PSNs have 24 bits: how far `psn` is after `other`, from -2^23 on.
const fn after(psn: u32, other: u32) -> i32 {
    (psn.wrapping_sub(other) << 8).cast_signed() >> 8
}

impl WatchedEnd {
    /// An end at `node`, which is the source or the destination of the flow.
    pub(in crate::network) fn new(plan: &Plan, number: u32, node: NodeId) -> Self {
        let flow: &FlowPlan = &plan.flows[number as usize];
        let is_source = node == flow.source;
        let is_reliable = plan.service().is_reliable();
        let (source, destination) =
            ((flow.source_qpn, flow.source), (flow.destination_qpn, flow.destination));
        let (near, far) = if is_source { (source, destination) } else { (destination, source) };
        Self {
            flow: number,
            node,
            ends: (near.0, far.1, far.0),
            rules: Rules {
                is_source,
                receives: node == flow.receiver(),
                is_reliable,
                stands_for_all: !is_source || plan.posted_flow(number) == number,
                is_acknowledged: is_source && flow.verb != Verb::Read && is_reliable,
            },
            counters: FlowCounters::default(),
            before: (0, 0),
            rtt_ps: None,
            ended: false,
            due: flow.source_psn,
            unacknowledged: VecDeque::new(),
        }
    }

    fn on_arrival(&mut self, now: SimTime, packet: &RdmaPacket) {
        if packet.cnm().is_some() {
            self.counters.cnms_received += 1;
        } else if packet.opcode().is_congestion_notification() {
            self.counters.cnps_received += 1;
        } else if let Some(aeth) = packet.aeth().filter(|_| self.rules.is_acknowledged) {
            let is_ack = matches!(aeth.syndrome, Syndrome::Ack { .. });
            self.on_acknowledged(now, packet.psn(), is_ack);
        } else if self.rules.receives && !self.rules.is_reliable {
            // Nobody waits for what is missing.
            let ahead = after(packet.psn(), self.due);
            self.counters.out_of_order += u64::from(ahead != 0);
            if ahead >= 0 {
                self.due = packet.psn().wrapping_add(1);
            }
        }
    }

    /// All packets before `psn` have arrived, and that one too if it `is_ack`.
    fn on_acknowledged(&mut self, now: SimTime, psn: u32, is_ack: bool) {
        while let Some(first) = self.unacknowledged.front().copied() {
            let ahead = after(psn, first.psn);
            if ahead < 0 || (ahead == 0 && !is_ack) {
                return;
            }
            self.unacknowledged.pop_front();
            if ahead == 0 && !first.again {
                self.note_rtt(now.since(first.at).ps());
            }
        }
    }

    fn note_rtt(&mut self, rtt_ps: u64) {
        let one = FlowCounters {
            rtt_samples: 1,
            rtt_sum_ps: rtt_ps,
            rtt_min_ps: rtt_ps,
            rtt_max_ps: rtt_ps,
            ..FlowCounters::default()
        };
        self.counters.add(&one);
        self.rtt_ps = Some(rtt_ps);
    }

    fn on_departure(&mut self, now: SimTime, packet: &RdmaPacket) {
        if packet.opcode().is_congestion_notification() {
            self.counters.cnps_sent += 1;
            return;
        }
        if !self.rules.is_acknowledged || TrafficKind::of(packet.opcode()) != TrafficKind::Data {
            return;
        }
        let psn = packet.psn();
        let first = self.unacknowledged.front().map_or(psn, |first| first.psn);
        let Ok(place) = usize::try_from(after(psn, first)) else { return }; // It was acknowledged.
        if let Some(sent) = self.unacknowledged.get_mut(place) {
            sent.again = true;
        } else if place == self.unacknowledged.len() {
            self.unacknowledged.push_back(Sent { psn, at: now, again: false });
        }
    }

    /// The flow is over: nothing of it is on its way any more.
    fn end(&mut self) {
        self.ended = true;
        self.unacknowledged.clear();
    }
}

/// All ends that are looked at; none in most runs.
#[derive(Debug, Default)]
pub(in crate::network) struct WatchedFlows {
    /// In the order of flows; the source first, if both ends are here.
    pub(in crate::network) ends: Vec<WatchedEnd>,
    /// By host and queue pair number there.
    arriving: BTreeMap<(NodeId, u32), usize>,
    /// By host, the other host, and the queue pair number there.
    departing: BTreeMap<(NodeId, NodeId, u32), usize>,
    /// Where data arrives right now, and what the host had counted before: out of order, and duplicates.
    receiving: Option<(usize, [u64; 2])>,
}

impl WatchedFlows {
    /// Looks at one more end, of the same flow as the last one or of a later one. Returns its place.
    pub(in crate::network) fn push(&mut self, end: WatchedEnd) -> usize {
        let place = self.ends.len();
        let (own, peer, theirs) = end.ends;
        if end.rules.stands_for_all {
            self.arriving.insert((end.node, own), place);
        }
        self.departing.insert((end.node, peer, theirs), place);
        self.ends.push(end);
        place
    }

    /// Whether nothing is looked at: the answer of every packet's way in most runs.
    #[inline]
    pub(in crate::network) const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The end of a flow at a host, by its place.
    fn place_at(&self, node: NodeId, flow: u32) -> Option<usize> {
        let first = self.ends.partition_point(|end| end.flow < flow);
        let of_flow = self.ends[first..].iter().take_while(|end| end.flow == flow);
        Some(first + of_flow.into_iter().position(|end| end.node == node)?)
    }

    /// The source of a flow, which is `node`, knows that it is over.
    pub(in crate::network) fn note_end(&mut self, node: NodeId, flow: u32) {
        if let Some(place) = self.place_at(node, flow) {
            self.ends[place].end();
        }
    }

    /// A packet has arrived at a host, which has not looked at it yet. Packets that are not of queue pairs say of which `flow`
    /// they are.
    #[cold]
    #[inline(never)]
    pub(in crate::network) fn note_arrival(
        &mut self,
        now: SimTime,
        node: NodeId,
        (packet, flow): (Option<&RdmaPacket>, Option<u32>),
        counted: &Counters,
    ) {
        let place = match packet {
            Some(packet) => self.arriving.get(&(node, packet.dest_qp())).copied(),
            None => flow.and_then(|flow| self.place_at(node, flow)),
        };
        let Some(place) = place else { return };
        let end = &mut self.ends[place];
        if let Some(packet) = packet {
            end.on_arrival(now, packet);
        }
        if end.rules.receives && end.rules.is_reliable {
            self.receiving = Some((place, [counted.out_of_order, counted.duplicates]));
        }
    }

    /// The host has looked at the packet.
    #[cold]
    #[inline(never)]
    pub(in crate::network) fn note_received(&mut self, counted: &Counters) {
        let Some((place, [out_of_order, duplicates])) = self.receiving.take() else { return };
        let counters = &mut self.ends[place].counters;
        counters.out_of_order += counted.out_of_order - out_of_order;
        counters.duplicates += counted.duplicates - duplicates;
    }

    /// A packet starts to leave a host. Returns the flow of which it is, if it is to be asked what is under way of it.
    #[cold]
    #[inline(never)]
    pub(in crate::network) fn note_departure(
        &mut self,
        now: SimTime,
        (node, destination): (NodeId, NodeId),
        (packet, flow): (Option<&RdmaPacket>, Option<u32>),
    ) -> Option<u32> {
        let place = match packet {
            Some(packet) => *self.departing.get(&(node, destination, packet.dest_qp()))?,
            None => self.place_at(node, flow?)?,
        };
        let end = &mut self.ends[place];
        if let Some(packet) = packet {
            end.on_departure(now, packet);
        }
        (end.rules.is_source && end.rules.is_reliable && !end.ended).then_some(end.flow)
    }

    /// So much of a flow is under way, which begins at `node`.
    #[cold]
    #[inline(never)]
    pub(in crate::network) fn note_in_flight(
        &mut self,
        node: NodeId,
        flow: u32,
        bytes: Option<u64>,
    ) {
        if let Some(place) = self.place_at(node, flow) {
            let most = &mut self.ends[place].counters.max_in_flight;
            *most = (*most).max(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_packets_wrap_around() {
        assert_eq!(after(0, 0xff_ffff), 1);
        assert_eq!(after(0xff_ffff, 0), -1);
        assert_eq!(after(5, 2), 3);
    }
}

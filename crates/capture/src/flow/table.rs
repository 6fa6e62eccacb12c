//! All flows of a capture.

use std::time::Duration;

use rocelab_wire::{NakCode, Opcode, Psn, Syndrome, Transport};
use rustc_hash::FxHashMap;

use super::counters::FlowCounters;
use super::coverage::{SharedAddresses, passed_elsewhere};
use super::direction::{Connection, Flow, Pairing};
use super::key::FlowKey;
use super::missing::Gap;
use super::novelty::Novelty;
use super::pairing;
use super::position::Step;
use super::requests::Request;
use super::responses::Response;
use super::span::Span;
use crate::dissection::{Address, Packet};
use crate::fault::Fault;
use crate::observation::Observation;

/// Most flows that are followed; packets of further flows are only checked by themselves. This
/// limits memory to about 50 MB: a flow takes at most 1 KiB for its round-trip times, and about 2
/// KiB for the rest.
pub const MAX_FLOWS: usize = 1 << 14;

/// The lower bits of a P_Key; the highest bit says whether membership is full.
const P_KEY_NUMBER: u16 = 0x7fff;

/// Most interfaces on which the same flow is searched for.
const MAX_INTERFACES: usize = 1_024;

/// Source, destination, and destination queue pair.
type Ends = (Address, Address, u32);

/// Interface, source and destination.
type Hosts = (u32, Address, Address);

/// Follows the packets of a capture in their flows.
#[derive(Debug, Default)]
pub struct FlowTable {
    flows: Vec<Flow>,
    by_key: FxHashMap<FlowKey, u32>,
    by_hosts: FxHashMap<Hosts, Vec<u32>>,
    /// The flows with the same ends on all interfaces.
    by_ends: FxHashMap<Ends, Vec<u32>>,
    /// By interface.
    shared_addresses: FxHashMap<u32, SharedAddresses>,
    not_followed: u64,
}

/// A packet, and which parts of it were captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) number: u64,
    pub(crate) interface: u32,
    pub(crate) time: Duration,
    pub(crate) packet: &'a Packet<'a>,
    pub(crate) operation: Opcode,
    /// Whether the headers after the BTH were captured.
    pub(crate) has_extensions: bool,
    /// Whether the length of the payload is known.
    pub(crate) has_length: bool,
}

impl Seen<'_> {
    /// Length of the payload in bytes, if it is known.
    fn payload_len(&self) -> Option<usize> {
        self.has_length.then_some(self.packet.payload.len())
    }
}

impl FlowTable {
    /// A table for a capture whose interfaces' common addresses are already known.
    pub(crate) fn with_shared_addresses(shared_addresses: FxHashMap<u32, SharedAddresses>) -> Self {
        Self { shared_addresses, ..Self::default() }
    }

    /// All flows, in the order of their first packets.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The connections, each flow once, in the order of their first packets.
    pub fn connections(&self) -> impl Iterator<Item = Connection<'_>> {
        let first = |(number, flow): &(usize, &Flow)| flow.peer().is_none_or(|peer| *number < peer);
        self.flows.iter().enumerate().filter(first).map(|(_, forward)| Connection {
            forward,
            reverse: forward.peer().and_then(|peer| self.flows.get(peer)),
        })
    }

    /// Number of packets that were not followed, because there were [`MAX_FLOWS`] other flows
    /// already.
    #[must_use]
    pub const fn not_followed(&self) -> u64 {
        self.not_followed
    }

    /// Takes the next packet, and returns its flow; `None` if the flow is not followed, or the
    /// packet has a wrong queue pair.
    pub(crate) fn observe(
        &mut self,
        seen: &Seen<'_>,
        faults: &mut Vec<Fault>,
        observations: &mut Vec<Observation>,
    ) -> Option<u32> {
        let key = FlowKey {
            interface: seen.interface,
            source: seen.packet.source,
            destination: seen.packet.destination,
            dest_qp: seen.packet.bth.dest_qp,
        };
        let id = match self.by_key.get(&key) {
            Some(id) => *id,
            None => self.add(key, seen, faults)?,
        };
        let before = faults.len();
        let packet = seen.packet;
        let flow = &mut self.flows[id as usize];
        let counters = &mut flow.counters;
        let payload = seen.payload_len().unwrap_or_default() as u64;
        counters.packets += 1;
        counters.payload_bytes += payload;
        flow.span.extend(seen.time);
        if packet.has_experienced_congestion() {
            counters.congestion_experienced += 1;
            observations.push(Observation::CongestionExperienced);
        }
        let strange = flow.p_key & P_KEY_NUMBER != packet.bth.p_key & P_KEY_NUMBER;
        let novelty = if strange {
            faults.push(Fault::PKey { found: packet.bth.p_key, expected: flow.p_key });
            Novelty::Again
        } else {
            self.follow(id, seen, faults, observations)
        };
        let flow = &mut self.flows[id as usize];
        let counters = &mut flow.counters;
        counters.retransmissions += u64::from(novelty != Novelty::New && !strange);
        if novelty != Novelty::Again {
            counters.new_payload_bytes += payload;
            flow.span.add(seen.time, payload);
        }
        counters.faulty += u64::from(faults.len() > before);
        Some(id)
    }

    /// Takes a packet with a wrong checksum. If its PSN is that of a gap, the packet is not missing in the capture.
    pub(crate) fn note_damaged(&mut self, seen: &Seen<'_>) {
        let key = FlowKey {
            interface: seen.interface,
            source: seen.packet.source,
            destination: seen.packet.destination,
            dest_qp: seen.packet.bth.dest_qp,
        };
        let is_numbered = !matches!(seen.operation.transport(), Transport::Cnp | Transport::Ud);
        let Some(flow) = self.by_key.get(&key).filter(|_| is_numbered) else { return };
        let flow = &mut self.flows[*flow as usize];
        let psn = Psn::new(seen.packet.bth.psn);
        if !seen.operation.is_response() {
            let read =
                seen.packet.extensions.reth.filter(|_| seen.operation.is_rdma_read_request());
            flow.requests.note_damaged(psn, read.map(|reth| reth.dma_length));
        } else if seen.operation.is_rdma_read_response() {
            flow.responses.note_damaged(psn);
        }
    }

    /// Counts a frame of a followed flow that is faulty by its headers alone.
    pub(crate) fn count_faulty(&mut self, flow: u32) {
        if let Some(flow) = self.flows.get_mut(flow as usize) {
            flow.counters.faulty += 1;
        }
    }

    fn add(&mut self, key: FlowKey, seen: &Seen<'_>, faults: &mut Vec<Fault>) -> Option<u32> {
        let entropy = seen.packet.entropy;
        if let Some(expected) = self.continues_another(&key, seen) {
            faults.push(Fault::DestQp { found: key.dest_qp, expected });
            return None;
        }
        if self.flows.len() >= MAX_FLOWS {
            self.not_followed += 1;
            return None;
        }
        let id = u32::try_from(self.flows.len()).ok()?;
        self.flows.push(Flow {
            key,
            transport: None,
            counters: FlowCounters::default(),
            span: Span::at(seen.time),
            entropy,
            p_key: seen.packet.bth.p_key,
            peer: None,
            passes_elsewhere: false,
            requests: Default::default(),
            responses: Default::default(),
            round_trips: Default::default(),
        });
        self.by_key.insert(key, id);
        self.by_hosts.entry((key.interface, key.source, key.destination)).or_default().push(id);
        let ends = (key.source, key.destination, key.dest_qp);
        self.by_ends.entry(ends).or_default().push(id);
        self.shared_addresses.entry(key.interface).or_default().add(key.source, key.destination);
        Some(id)
    }

    /// The queue pair whose message a packet to an unknown queue pair continues: it has the same
    /// addresses and entropy, is in the middle of a message, and has exactly the PSN that is
    /// expected there.
    fn continues_another(&self, key: &FlowKey, seen: &Seen<'_>) -> Option<u32> {
        if !seen.operation.is_middle() && !seen.operation.is_last() {
            return None;
        }
        let entropy = Some(seen.packet.entropy?);
        let psn = Psn::new(seen.packet.bth.psn);
        let siblings = self.by_hosts.get(&(key.interface, key.source, key.destination))?;
        siblings
            .iter()
            .take(1_024)
            .map(|id| &self.flows[*id as usize])
            .find(|flow| {
                flow.entropy == entropy && flow.requests.would_continue(psn, seen.operation)
            })
            .map(|flow| flow.key.dest_qp)
    }

    /// Follows the sequence of PSNs.
    fn follow(
        &mut self,
        id: u32,
        seen: &Seen<'_>,
        faults: &mut Vec<Fault>,
        observations: &mut Vec<Observation>,
    ) -> Novelty {
        let operation = seen.operation;
        let flow = &mut self.flows[id as usize];
        match operation.transport() {
            Transport::Cnp => {
                flow.counters.cnps += 1;
                observations.push(Observation::Cnp);
                return Novelty::New;
            }
            transport => flow.transport = Some(transport),
        }
        if operation.transport() == Transport::Ud {
            // All queue pairs to which a UD queue pair sends share its PSNs, so gaps mean nothing.
            flow.counters.messages += 1;
            return Novelty::New;
        }
        let packet = seen.packet;
        let psn = Psn::new(packet.bth.psn);
        let step = Step {
            opcode: operation,
            name: packet.opcode_name(),
            len: seen.payload_len(),
            announced: packet
                .extensions
                .reth
                .map(|reth| reth.dma_length)
                .filter(|_| seen.has_extensions),
        };
        if operation.is_response() {
            let syndrome = packet.extensions.aeth.map(|aeth| aeth.syndrome);
            let syndrome = syndrome.filter(|_| seen.has_extensions);
            // Only an ACKNOWLEDGE can be a NAK; its AETH says so.
            let is_plain = matches!(operation, Opcode::RcAcknowledge | Opcode::XrcAcknowledge);
            let may_be_nak = !seen.has_extensions && is_plain;
            let response =
                Response { step, psn, number: seen.number, time: seen.time, syndrome, may_be_nak };
            return self.follow_response(id, &response, faults, observations);
        }
        let answered = operation.transport() != Transport::Uc
            && (packet.bth.ack_req || operation.is_rdma_read_request() || operation.is_atomic());
        let request = Request { step, psn, time: seen.time, answered };
        let requested = flow.requests.observe(&request, faults, observations);
        flow.counters.messages += u64::from(requested.ends_message);
        if let Some(number) = requested.answered_by
            && self.all_pass(id, psn, 1)
        {
            faults.push(Fault::AnsweredEarly { psn, number });
        }
        requested.novelty
    }

    fn follow_response(
        &mut self,
        id: u32,
        response: &Response,
        faults: &mut Vec<Fault>,
        observations: &mut Vec<Observation>,
    ) -> Novelty {
        self.count_response(id, response, observations);
        let peer = self.peer_for(id, response, faults, observations);
        let peer_id = peer;
        if self.flows[id as usize].responses.is_broken_off_by(response)
            && peer.is_none_or(|peer| !self.all_pass(peer, response.psn, 1))
        {
            self.flows[id as usize].responses.expect_any();
        }
        let two =
            peer.and_then(|peer| self.flows.get_disjoint_mut([id as usize, peer as usize]).ok());
        let is_read = response.step.opcode.is_rdma_read_response();
        let Some([flow, peer]) = two else {
            let responses = &mut self.flows[id as usize].responses;
            return match is_read {
                true => responses.observe_read(response, None, faults, observations),
                false => Novelty::New,
            };
        };
        let requests = &mut peer.requests;
        let novelty = match is_read {
            true => flow.responses.observe_read(response, Some(requests), faults, observations),
            false => Novelty::New,
        };
        match response.syndrome {
            Some(Syndrome::Nak(_) | Syndrome::RnrNak { .. }) => requests.refuse(response.psn),
            // It may be a NAK that reports missing packets.
            None if response.may_be_nak => requests.refuse(response.psn),
            _ => {
                let acknowledged = requests.acknowledge(response.psn, response.time);
                if let Some(time) = acknowledged.time {
                    peer.round_trips.add(time);
                }
                if let (Some(gap), Some(peer)) = (acknowledged.unseen, peer_id) {
                    self.report_gap(peer, gap, faults, observations);
                }
            }
        }
        novelty
    }

    /// Reports a gap of a flow that was acknowledged although the receiver had not reported it.
    fn report_gap(
        &mut self,
        id: u32,
        gap: Gap,
        faults: &mut Vec<Fault>,
        observations: &mut Vec<Observation>,
    ) {
        let Gap { first, count, .. } = gap;
        if self.all_pass(id, first, count) {
            faults.push(Fault::AcknowledgesUnseen { first, count });
        } else {
            observations.push(Observation::AcknowledgesElsewhere { first, count });
        }
    }

    /// Whether all requests of a flow pass its interface, as far as is known. `first` and `count`
    /// are requests that are missing or out of place.
    fn all_pass(&mut self, id: u32, first: Psn, count: u32) -> bool {
        let flow = &self.flows[id as usize];
        let FlowKey { interface, source, destination, dest_qp } = flow.key;
        if flow.passes_elsewhere
            || self
                .shared_addresses
                .get(&interface)
                .is_some_and(|shared_addresses| !shared_addresses.pass(source))
        {
            return false;
        }
        let ways = self.by_ends.get(&(source, destination, dest_qp)).into_iter().flatten();
        let other = ways.copied().take(MAX_INTERFACES).find(|&way| {
            let other = &self.flows[way as usize].requests;
            way != id && passed_elsewhere(&flow.requests, other, first, count)
        });
        if let Some(other) = other {
            self.flows[id as usize].passes_elsewhere = true;
            self.flows[other as usize].passes_elsewhere = true;
        }
        other.is_none()
    }

    fn count_response(
        &mut self,
        id: u32,
        response: &Response,
        observations: &mut Vec<Observation>,
    ) {
        let counters = &mut self.flows[id as usize].counters;
        match response.syndrome {
            Some(Syndrome::Nak(code)) => {
                counters.naks[code as usize] += 1;
                observations.push(Observation::Nak(code));
            }
            Some(Syndrome::RnrNak { timer_code }) => {
                counters.rnr_naks += 1;
                observations.push(Observation::RnrNak { timer_code });
            }
            Some(Syndrome::Ack { .. }) if !response.step.opcode.is_rdma_read_response() => {
                counters.acks += 1;
            }
            _ => {}
        }
    }

    /// The flow whose requests `response` answers, if it is known or can be found. It is a fault if
    /// that flow is certain and has no such request.
    fn peer_for(
        &mut self,
        id: u32,
        response: &Response,
        faults: &mut Vec<Fault>,
        observations: &mut Vec<Observation>,
    ) -> Option<u32> {
        let psn = response.psn;
        if let Some((peer, pairing)) = self.flows[id as usize].peer {
            let requests = &self.flows[peer as usize].requests;
            if !requests.started() {
                return Some(peer);
            }
            let unsent = requests.is_unsent(psn);
            let is_read = response.step.opcode.is_rdma_read_response();
            let answers_nothing = unsent || is_read && requests.reads_nothing_at(psn);
            if !answers_nothing {
                return Some(peer);
            }
            if pairing == Pairing::Certain {
                // A sequence error contains the PSN that the responder expects, whether it was sent
                // or not.
                let is_sequence_error =
                    matches!(response.syndrome, Some(Syndrome::Nak(NakCode::PsnSequenceError)));
                if is_sequence_error || response.may_be_nak {
                    return Some(peer);
                }
                if unsent {
                    self.flows[peer as usize].requests.answered_early(psn, response.number);
                    observations.push(Observation::UnseenRequest { psn });
                } else if self.all_pass(peer, psn, 1) {
                    faults.push(Fault::AnswersNothing { psn });
                }
                return None;
            }
            self.flows[id as usize].peer = None;
            self.flows[peer as usize].peer = None;
        }
        let key = self.flows[id as usize].key;
        let opposite = (key.interface, key.destination, key.source);
        let candidates = self.by_hosts.get(&opposite)?;
        let (peer, pairing) = pairing::find(&self.flows, candidates, id, psn)?;
        if self.flows[peer as usize].requests.is_unsent(psn) {
            observations.push(Observation::UnseenRequest { psn });
            return None;
        }
        self.flows[id as usize].peer = Some((peer, pairing));
        self.flows[peer as usize].peer = Some((id, pairing));
        Some(peer)
    }
}

//! What a queue pair sends: requests, READ data and acknowledgements.

use rocelab_units::SimTime;
use rocelab_wire::Syndrome;

use super::pair::{QueuePair, success};
use super::requester::Request;
use super::responder::{Acknowledge, Detailed, ReadData, Released};
use crate::congestion_control::Telemetry;
use crate::congestion_control::control_seed;
use crate::nic::Shared;
use crate::sequence::Sequence;
use crate::{CompletionStatus, Content, Packet, Transmit};

impl QueuePair {
    /// The next data packet: READ responses and requests take turns.
    #[inline]
    pub(crate) fn transmit(&mut self, now: SimTime, shared: &mut Shared) -> Option<Transmit> {
        let acknowledged =
            || self.unreliable.is_none() && self.requester.messages_outstanding() > 0;
        let (nic_seed, qpn) = (shared.control_seed, self.qpn);
        let seed = || control_seed(nic_seed, qpn);
        self.pacer.start(now, &self.profile, &mut shared.active, (acknowledged, seed));
        let responds = self.responder.has_data()
            && (self.prefers_responses || !self.requester.can_send(self.pacer.window()));
        self.prefers_responses = !responds;
        let mut transmit = if responds { self.respond(shared) } else { self.request(now, shared) }?;
        if self.address.is_spread() {
            transmit.entropy = self.spread(&transmit);
        }
        self.pacer.on_sent(now, transmit.frame_len);
        Some(transmit)
    }

    /// What equal-cost multipath goes by for a data packet, where that may be one of several numbers.
    #[cold]
    fn spread(&mut self, transmit: &Transmit) -> u32 {
        let own = (self.address.destination, self.address.entropy);
        match self.paths.as_mut().and_then(|paths| paths.spread.as_mut()) {
            Some(spread) if (transmit.destination, transmit.entropy) == own => {
                spread.next(&transmit.packet)
            }
            _ => transmit.entropy,
        }
    }

    #[inline]
    fn request(&mut self, now: SimTime, shared: &mut Shared) -> Option<Transmit> {
        let Request { mut packet, sequence, repeated } =
            self.requester.take(now, self.pacer.window())?;
        if self.unreliable.is_some() {
            return self.send_unreliably(now, packet, sequence, shared);
        }
        if shared.memory.is_some() || packet.has_content() {
            packet = self.load_content(packet, sequence, shared);
        }
        let carried = self.pacer.feedback().telemetry();
        let carried = carried.filter(|_| packet.opcode().has_payload());
        let packet = packet.with_telemetry(carried).with_cn_tag(self.pacer.is_notified());
        let transmit = self.address.transmit(packet);
        let counters = &mut shared.counters;
        let kind = if packet.opcode().is_rdma_read_request() {
            &mut counters.read_requests_sent
        } else {
            &mut counters.data_sent
        };
        kind.count(transmit.frame_len);
        if repeated {
            counters.retransmitted.count(transmit.frame_len);
            self.retransmissions += 1;
        } else if packet.ack_req() {
            self.pacer.probe(now, sequence);
        }
        Some(transmit)
    }

    /// A packet that nobody acknowledges: with it, what it ends is completed.
    #[cold]
    fn send_unreliably(
        &mut self,
        now: SimTime,
        request: Packet,
        sequence: Sequence,
        shared: &mut Shared,
    ) -> Option<Transmit> {
        let request = self.load_content(request, sequence, shared);
        let unreliable = self.unreliable.as_mut()?;
        let mut address = self.address;
        let mut packet =
            request.with_transport(unreliable.service().transport()).with_ack_req(false);
        if let Some(to) = unreliable.handles_mut().pop_front() {
            packet = packet.with_dest_qp(to.dest_qp).with_deth(to.q_key, self.qpn);
            if let Some(immediate) = request.immdt() {
                packet = packet.with_immdt(immediate.0); // It has another place behind a DETH.
            }
            (address.destination, address.entropy) = (to.destination, to.entropy);
        }
        let packet = packet.with_cn_tag(self.pacer.is_notified());
        let transmit = address.transmit(packet);
        shared.counters.data_sent.count(transmit.frame_len);
        let (qpn, completions) = (self.qpn, &mut shared.completions);
        self.requester
            .settle_sent(now, |message, _| completions.push_back(success(qpn, message, 0)));
        self.rest_if_done(shared);
        Some(transmit)
    }

    /// Puts what travels beside a request beside it. By value: a packet that is lent does not stay
    /// in registers.
    #[cold]
    fn load_content(&self, packet: Packet, sequence: Sequence, shared: &mut Shared) -> Packet {
        let Some(message) = self.requester.message_of(sequence) else { return packet };
        if let Some(operands) = message.operands() {
            shared.departing = Some(Content::Operands(operands));
        } else if packet.opcode().has_payload() {
            let offset = self.requester.offset_of(message, sequence);
            return shared.load(packet, message.local_address.wrapping_add(offset));
        }
        packet
    }

    fn respond(&mut self, shared: &mut Shared) -> Option<Transmit> {
        let ReadData { mut packet, address, last, repeated } = self.responder.take()?;
        if shared.memory.is_some() {
            packet = shared.load(packet, address);
        }
        packet = packet.with_cn_tag(self.pacer.is_notified());
        let transmit = self.address.transmit(packet);
        shared.counters.data_sent.count(transmit.frame_len);
        if repeated {
            shared.counters.retransmitted.count(transmit.frame_len);
            self.retransmissions += 1;
        }
        if last {
            while let Some(released) = self.responder.take_released() {
                self.acknowledge_late(&released, shared);
            }
            self.rest_if_done(shared);
        }
        Some(transmit)
    }

    /// Sends an acknowledgement that had to wait. What switches wrote into the packet that it
    /// answers is out of date by now.
    fn acknowledge_late(&mut self, released: &Released, shared: &mut Shared) {
        match released {
            Released::Detailed(detailed) => {
                self.acknowledge_in_detail(detailed, Telemetry::None, shared);
            }
            Released::Plain(acknowledge) => {
                self.acknowledge(acknowledge, Telemetry::None, shared);
                if acknowledge.is_fatal() {
                    self.fail(CompletionStatus::Flushed, shared);
                }
            }
        }
    }

    /// Answers with an acknowledgement, which brings `telemetry` back if it is a positive one: the
    /// packet that a negative one answers came out of order.
    #[inline]
    pub(super) fn acknowledge(
        &mut self,
        acknowledge: &Acknowledge,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        let packet = acknowledge.packet(self.address.dest_qp);
        self.send_acknowledgement(packet, acknowledge.syndrome == Syndrome::ACK, telemetry, shared);
    }

    /// Answers with an acknowledgement that says more.
    #[cold]
    pub(super) fn acknowledge_in_detail(
        &mut self,
        detailed: &Detailed,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        let packet = detailed.packet(self.address.dest_qp);
        self.send_acknowledgement(packet, !detailed.is_selective(), telemetry, shared);
    }

    #[inline(always)] // The cold caller must not un-inline it for the hot one.
    fn send_acknowledgement(
        &mut self,
        packet: Packet,
        positive: bool,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        let becn = self.owes_echo && positive;
        self.owes_echo &= !becn;
        let packet = packet.with_becn(becn);
        match telemetry.filter(|_| positive) {
            None => shared.control.push(self.address.transmit(packet)),
            Some(header) => {
                let packet = packet.with_telemetry(Some(header.kind()));
                let transmit = self.address.transmit(packet);
                shared.control.push_with_telemetry(transmit, *header);
            }
        }
    }
}

//! One end of a reliable connection.

mod message;
mod pacer;
mod requester;
mod responder;

use std::sync::Arc;

use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::{Ecn, NakCode, Opcode, Syndrome};

use self::message::Message;
use self::pacer::{Acknowledged, Pacer};
use self::requester::{Progress, Requester, TimedOut};
use self::responder::{Acknowledge, Answer, ReadData, Responder};
use crate::congestion_control::{Feedback, Telemetry};
use crate::nic::Outbox;
use crate::sequence::psn;
use crate::{
    Completion, CompletionStatus, NicConfig, Packet, QueuePairConfig, QueuePairProfile, Transmit,
    WorkRequest,
};

/// A queue pair: a requester and a responder that share a pacer.
#[derive(Debug)]
pub struct QueuePair {
    requester: Requester,
    responder: Responder,
    pacer: Pacer,
    address: Address,
    profile: Arc<QueuePairProfile>,
    qpn: u32,
    state: QueuePairState,
    /// Whether READ data goes before requests the next time.
    prefers_responses: bool,
    /// Whether congestion was met and not yet echoed.
    owes_echo: bool,
    /// No CNP before.
    next_cnp: SimTime,
    /// Retransmitted packets.
    retransmissions: u64,
    pub(crate) schedule: Schedule,
    /// The time of this queue pair's entry among the NIC's timers.
    pub(crate) timer_entry: SimTime,
}

/// Where a queue pair stands in the NIC's arbitration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// It has nothing that may be sent.
    Idle,
    /// It is in its priority's ring.
    Ready,
    /// It waits for its pacing credit.
    Paced,
}

/// The state of a queue pair (IBTA: those of its states that are modelled).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePairState {
    /// Sends and receives.
    ReadyToSend,
    /// A work request failed. Packets are dropped, work is flushed.
    Error,
}

/// What every packet of a queue pair has in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    dest_qp: u32,
    destination: u32,
    entropy: u32,
    encapsulation_len: u16,
    pub(crate) priority: u8,
    ecn: Ecn,
}

impl Address {
    #[inline]
    fn transmit(&self, packet: Packet, priority: u8) -> Transmit {
        let packet = packet.with_class(priority, self.ecn);
        Transmit {
            packet,
            destination: self.destination,
            entropy: self.entropy,
            frame_len: packet.frame_len(self.encapsulation_len),
        }
    }
}

impl QueuePair {
    pub(crate) fn new(config: &QueuePairConfig, nic: &NicConfig) -> Self {
        let ecn = if config.profile.ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
        Self {
            requester: Requester::new(config),
            responder: Responder::new(config),
            pacer: Pacer::new(&config.profile, nic.line_rate),
            address: Address {
                dest_qp: config.dest_qp,
                destination: config.destination,
                entropy: config.entropy,
                encapsulation_len: nic.encapsulation_len,
                priority: config.priority & 0b111,
                ecn,
            },
            profile: Arc::clone(&config.profile),
            qpn: config.qpn,
            state: QueuePairState::ReadyToSend,
            prefers_responses: true,
            owes_echo: false,
            next_cnp: SimTime::ZERO,
            retransmissions: 0,
            schedule: Schedule::Idle,
            timer_entry: SimTime::NEVER,
        }
    }

    /// Its number, 24 bits.
    pub const fn qpn(&self) -> u32 {
        self.qpn
    }

    /// Its state.
    pub const fn state(&self) -> QueuePairState {
        self.state
    }

    /// The rate that congestion control allows, preamble and gap included. While there is no work
    /// it is the last one.
    pub const fn rate(&self) -> Bandwidth {
        self.pacer.rate()
    }

    /// The most unacknowledged payload that congestion control allows; none is no limit (bytes).
    pub const fn window(&self) -> Option<u64> {
        match self.pacer.window() {
            u64::MAX => None,
            window => Some(window),
        }
    }

    /// Priority of its data, 0 to 7.
    pub const fn priority(&self) -> u8 {
        self.address.priority
    }

    /// Packets that were sent again.
    pub const fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    /// Payload sent and not acknowledged (bytes).
    pub const fn bytes_in_flight(&self) -> u64 {
        self.requester.bytes_in_flight()
    }

    /// Payload posted and not acknowledged (bytes).
    pub const fn bytes_outstanding(&self) -> u64 {
        self.requester.bytes_outstanding()
    }

    /// Work requests posted and not completed.
    pub fn work_outstanding(&self) -> usize {
        self.requester.messages_outstanding()
    }

    /// ACK timeouts in a row.
    pub const fn retries(&self) -> u8 {
        self.requester.retries()
    }

    /// PSNs of the oldest request packet that is not acknowledged, and of the next to send.
    pub const fn send_psns(&self) -> (u32, u32) {
        let (oldest, next) = self.requester.window_edges();
        (psn(oldest), psn(next))
    }

    /// PSN of the next request packet in order.
    pub const fn expected_psn(&self) -> u32 {
        psn(self.responder.expected())
    }

    /// Requests that the responder completed, 24 bits.
    pub const fn msn(&self) -> u32 {
        self.responder.msn()
    }

    /// Whether a data packet is waiting that pacing and window do not forbid for ever: it may
    /// leave at [`release`](Self::release).
    #[inline]
    pub(crate) fn has_data(&self) -> bool {
        self.responder.has_data() || self.requester.can_send(self.pacer.window())
    }

    /// When the next data frame may leave.
    #[inline]
    pub(crate) const fn release(&self) -> SimTime {
        self.pacer.release()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> SimTime {
        self.requester.deadline().min(self.pacer.timeout())
    }

    pub(crate) fn post_send(&mut self, work: &WorkRequest, outbox: &mut Outbox) {
        match self.state {
            QueuePairState::ReadyToSend => self.requester.post(work),
            QueuePairState::Error => outbox.completions.push_back(Completion {
                qpn: self.qpn,
                id: work.id,
                status: CompletionStatus::Flushed,
                operation: work.operation,
                bytes: 0,
            }),
        }
    }

    /// The next data packet: READ responses and requests take turns.
    #[inline]
    pub(crate) fn transmit(&mut self, now: SimTime, outbox: &mut Outbox) -> Option<Transmit> {
        self.pacer.start(now, &self.profile);
        let responds = self.responder.has_data()
            && (self.prefers_responses || !self.requester.can_send(self.pacer.window()));
        self.prefers_responses = !responds;
        let transmit = if responds { self.respond(outbox) } else { self.request(now, outbox) }?;
        self.pacer.on_sent(now, transmit.frame_len);
        Some(transmit)
    }

    pub(crate) fn receive(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        outbox: &mut Outbox,
    ) {
        if self.state == QueuePairState::Error {
            outbox.counters.discarded += 1;
            return;
        }
        let opcode = packet.opcode();
        if opcode == Opcode::Cnp {
            outbox.counters.cnps_received += 1;
            self.pacer.on_cnp(now);
        } else if opcode == Opcode::RcAcknowledge {
            self.on_acknowledge(now, packet, telemetry, outbox);
        } else if opcode.is_rdma_read_response() {
            self.on_data(now, packet, outbox);
            self.on_read_response(now, packet, outbox);
        } else if opcode.is_request() {
            self.on_data(now, packet, outbox);
            self.on_request(packet, telemetry, outbox);
        } else {
            outbox.counters.discarded += 1;
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: SimTime, outbox: &mut Outbox) {
        self.pacer.handle_timeout(now);
        match self.requester.on_timeout(now) {
            TimedOut::NotYet => {}
            TimedOut::Resend => {
                outbox.counters.timeouts += 1;
                self.pacer.on_loss(now, true);
            }
            TimedOut::GiveUp => {
                outbox.counters.timeouts += 1;
                self.fail(CompletionStatus::RetryExceeded, outbox);
            }
        }
    }

    #[inline]
    fn request(&mut self, now: SimTime, outbox: &mut Outbox) -> Option<Transmit> {
        let request = self.requester.take(now, self.pacer.window())?;
        let carried = self.pacer.feedback().telemetry();
        let carried = carried.filter(|_| request.packet.opcode().has_payload());
        let packet = request.packet.with_telemetry(carried);
        let transmit = self.address.transmit(packet, self.address.priority);
        let counters = &mut outbox.counters;
        let kind = if request.packet.opcode().is_rdma_read_request() {
            &mut counters.read_requests_sent
        } else {
            &mut counters.data_sent
        };
        kind.count(transmit.frame_len);
        if request.repeated {
            counters.retransmitted.count(transmit.frame_len);
            self.retransmissions += 1;
        } else if request.packet.ack_req() {
            self.pacer.probe(now, request.sequence);
        }
        Some(transmit)
    }

    fn respond(&mut self, outbox: &mut Outbox) -> Option<Transmit> {
        let ReadData { packet, last, repeated } = self.responder.take()?;
        let transmit = self.address.transmit(packet, self.address.priority);
        outbox.counters.data_sent.count(transmit.frame_len);
        if repeated {
            outbox.counters.retransmitted.count(transmit.frame_len);
            self.retransmissions += 1;
        }
        if last {
            while let Some(acknowledge) = self.responder.take_released() {
                // What switches wrote into the packet that it answers is out of date by now.
                self.acknowledge(&acknowledge, Telemetry::None, outbox);
            }
            self.rest_if_done();
        }
        Some(transmit)
    }

    /// Answers with an acknowledgement, which brings `telemetry` back if it is a positive one: the
    /// packet that a negative one answers came out of order.
    fn acknowledge(
        &mut self,
        acknowledge: &Acknowledge,
        telemetry: Telemetry<'_>,
        outbox: &mut Outbox,
    ) {
        let positive = acknowledge.syndrome == Syndrome::ACK;
        let becn = self.owes_echo && positive;
        self.owes_echo &= !becn;
        let packet = acknowledge.packet(self.address.dest_qp).with_becn(becn);
        let priority = self.address.priority;
        match telemetry.to_header().filter(|_| positive) {
            None => outbox.control.push(self.address.transmit(packet, priority)),
            Some(header) => {
                let packet = packet.with_telemetry(Some(header.kind()));
                let transmit = self.address.transmit(packet, priority);
                outbox.control.push_with_telemetry(transmit, header);
            }
        }
    }

    /// What every data packet does before its content is looked at: congestion is reported.
    #[inline]
    fn on_data(&mut self, now: SimTime, packet: &Packet, outbox: &mut Outbox) {
        outbox.counters.data_received += 1;
        if !packet.is_ce() {
            return;
        }
        outbox.counters.ce_received += 1;
        match self.pacer.feedback() {
            Feedback::EcnEcho => self.owes_echo = true,
            Feedback::Cnp { min_interval } if now >= self.next_cnp => {
                self.next_cnp = now.saturating_add(min_interval);
                let cnp = Packet::new(Opcode::Cnp, self.address.dest_qp, 0).with_becn(true);
                outbox.control.push(self.address.transmit(cnp, self.profile.cnp_priority));
            }
            Feedback::Cnp { .. }
            | Feedback::Rtt
            | Feedback::Int { .. }
            | Feedback::Pint { .. }
            | Feedback::None => {}
        }
    }

    fn on_request(&mut self, packet: &Packet, telemetry: Telemetry<'_>, outbox: &mut Outbox) {
        match self.responder.on_request(packet, &mut outbox.counters) {
            Answer::Nothing => {}
            Answer::Now(acknowledge) => self.acknowledge(&acknowledge, telemetry, outbox),
            Answer::Refuse(nak) => {
                self.acknowledge(&nak, telemetry, outbox);
                self.fail(CompletionStatus::Flushed, outbox);
            }
        }
    }

    fn on_read_response(&mut self, now: SimTime, packet: &Packet, outbox: &mut Outbox) {
        let (qpn, Outbox { completions, counters, .. }) = (self.qpn, &mut *outbox);
        let progress = self.requester.on_read_response(now, packet, |message| {
            if message.operation.is_read() {
                counters.messages_delivered += 1;
                counters.payload_delivered += u64::from(message.length);
            }
            completions.push_back(success(qpn, message));
        });
        if progress.stale {
            outbox.counters.duplicates += 1;
        } else if progress.loss || progress.advanced_to.is_none() {
            outbox.counters.out_of_order += 1;
        }
        self.after_progress(now, &progress, false, Telemetry::None);
    }

    fn on_acknowledge(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        outbox: &mut Outbox,
    ) {
        let Some(aeth) = packet.aeth() else { return };
        let (qpn, completions) = (self.qpn, &mut outbox.completions);
        let complete = |message: &Message| completions.push_back(success(qpn, message));
        let progress = match aeth.syndrome {
            Syndrome::Ack { .. } => {
                outbox.counters.acks_received += 1;
                self.requester.on_ack(now, packet.psn(), complete)
            }
            Syndrome::Nak(NakCode::PsnSequenceError) => {
                outbox.counters.naks_received += 1;
                self.requester.on_sequence_error(now, packet.psn(), complete)
            }
            Syndrome::Nak(code) => {
                outbox.counters.naks_received += 1;
                return self.on_refusal(now, packet.psn(), code, outbox);
            }
            // Our responder always has a buffer, and so makes no RNR NAK: the timeout recovers.
            Syndrome::RnrNak { .. } | Syndrome::Reserved(_) => {
                outbox.counters.discarded += 1;
                return;
            }
        };
        self.after_progress(now, &progress, packet.becn(), telemetry);
    }

    fn after_progress(
        &mut self,
        now: SimTime,
        progress: &Progress,
        becn: bool,
        telemetry: Telemetry<'_>,
    ) {
        if let Some(reached) = progress.advanced_to {
            let (position, next_position) = self.requester.positions();
            let bytes = progress.bytes;
            let acknowledged =
                Acknowledged { bytes, reached, position, next_position, becn, telemetry };
            self.pacer.on_ack(now, &acknowledged);
        }
        if progress.loss {
            self.pacer.on_loss(now, false);
        }
        self.rest_if_done();
    }

    /// Without work its rate interests nobody.
    #[inline]
    fn rest_if_done(&mut self) {
        if self.requester.messages_outstanding() == 0 && !self.responder.has_data() {
            self.pacer.sleep();
        }
    }

    /// The peer refused the request packet `psn`; what precedes it arrived.
    fn on_refusal(&mut self, now: SimTime, psn: u32, code: NakCode, outbox: &mut Outbox) {
        let before = psn.wrapping_sub(1);
        let (qpn, completions) = (self.qpn, &mut outbox.completions);
        self.requester.on_ack(now, before, |message| completions.push_back(success(qpn, message)));
        let status = match code {
            NakCode::RemoteAccessError => CompletionStatus::RemoteAccess,
            NakCode::RemoteOperationalError => CompletionStatus::RemoteOperational,
            _ => CompletionStatus::RemoteInvalidRequest,
        };
        self.fail(status, outbox);
    }

    /// The oldest work request ends with `status`, those after it are flushed.
    fn fail(&mut self, status: CompletionStatus, outbox: &mut Outbox) {
        self.state = QueuePairState::Error;
        self.responder.abandon();
        self.pacer.sleep();
        let mut status = status;
        for message in self.requester.drain() {
            outbox.completions.push_back(Completion {
                qpn: self.qpn,
                id: message.id,
                status,
                operation: message.operation,
                bytes: 0,
            });
            status = CompletionStatus::Flushed;
        }
    }
}

fn success(qpn: u32, message: &Message) -> Completion {
    Completion {
        qpn,
        id: message.id,
        status: CompletionStatus::Success,
        operation: message.operation,
        bytes: message.length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue_pair() -> QueuePair {
        let profile = QueuePairProfile {
            path_mtu: 1024.try_into().unwrap(),
            recovery: crate::Recovery::GoBackN,
            ack_interval: 1,
            ack_timeout: 14.try_into().unwrap(),
            retry_count: 7,
            cnp_priority: 6,
            ecn_capable: true,
            congestion_control: crate::Algorithm::None(Default::default()),
            base_rtt: rocelab_units::Duration::from_us(10),
        };
        let config = QueuePairConfig {
            qpn: 0x11,
            dest_qp: 0x12,
            destination: 0,
            entropy: 0,
            initial_psn: 0,
            remote_initial_psn: 0,
            priority: 3,
            profile: Arc::new(profile),
        };
        let line_rate = Bandwidth::from_gbps(100);
        QueuePair::new(&config, &NicConfig { line_rate, encapsulation_len: 42 })
    }

    #[test]
    fn congestion_is_echoed_once_to_those_who_asked() {
        for (feedback, expected) in
            [(Feedback::EcnEcho, [true, false, true]), (Feedback::Rtt, [false; 3])]
        {
            let mut outbox = Outbox::default();
            let mut queue_pair = queue_pair();
            queue_pair.pacer.declare(feedback);
            let becns = [(0, Ecn::Ce), (1, Ecn::Ect0), (2, Ecn::Ce)].map(|(psn, ecn)| {
                let send = Packet::new(Opcode::RcSendOnly, 0x11, psn)
                    .with_ack_req(true)
                    .with_class(3, ecn);
                queue_pair.receive(SimTime::ZERO, &send, Telemetry::None, &mut outbox);
                outbox.control.pop(0).unwrap().packet.becn()
            });
            assert_eq!(becns, expected);
        }
    }

    #[test]
    fn layout_stays_small() {
        assert_eq!(size_of::<Message>(), 56);
        assert!(size_of::<QueuePair>() <= 512, "{} bytes", size_of::<QueuePair>());
    }
}

//! One end of a reliable connection.

mod message;
mod pacer;
mod requester;
mod responder;
mod state;
mod unreliable;

use std::sync::Arc;

use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{Ecn, NakCode, Opcode, Syndrome, rnr_timer_ns};

use self::message::Message;
use self::pacer::{Acknowledged, Pacer};
use self::requester::{NotReady, Progress, Request, Requester, TimedOut};
use self::responder::{Acknowledge, Admission, Answer, ReadData, Responder};
pub use self::state::{QueuePairState, StateError};
use self::unreliable::Unreliable;
use crate::congestion_control::{Feedback, Telemetry};
use crate::nic::Shared;
use crate::receive_queue::ReceiveQueue;
use crate::recovery::Held;
use crate::sequence::psn;
use crate::{
    AddressHandle, Completion, CompletionStatus, Content, NicConfig, Operation, Packet, PostError,
    QueuePairConfig, QueuePairProfile, ReceiveRequest, Transmit, WorkRequest,
};

/// A queue pair: a requester and a responder that share a pacer.
#[derive(Debug)]
pub struct QueuePair {
    requester: Requester,
    responder: Responder,
    /// Only without acknowledgements; then the responder has nothing to do.
    unreliable: Option<Box<Unreliable>>,
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
    pub(crate) fn new(config: &QueuePairConfig, nic: &NicConfig, state: QueuePairState) -> Self {
        let unreliable = !config.profile.service.is_reliable();
        let ecn = if config.profile.ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
        Self {
            requester: Requester::new(config),
            responder: Responder::new(config),
            unreliable: unreliable.then(|| Box::new(Unreliable::new(config))),
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
            state,
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
        self.requester.deadline().min(self.pacer.timeout()).min(self.responder.deadline())
    }

    /// Posts work; `to` is where it goes, for datagrams.
    pub(crate) fn post_send(
        &mut self,
        work: &WorkRequest,
        to: Option<AddressHandle>,
        shared: &mut Shared,
    ) -> Result<(), PostError> {
        match self.state {
            QueuePairState::Init | QueuePairState::ReadyToReceive => {
                return Err(PostError::WrongState { qpn: self.qpn });
            }
            QueuePairState::ReadyToSend => {}
            QueuePairState::Error => {
                let flushed = CompletionStatus::Flushed;
                shared.completions.push_back(ended(self.qpn, work.id, work.operation, flushed));
                return Ok(());
            }
        }
        if let Some(unreliable) = &mut self.unreliable {
            let mtu = self.profile.path_mtu.bytes();
            if !self.profile.service.supports(work.operation)
                || to.is_some() != self.profile.service.is_datagram()
            {
                return Err(PostError::NotOnThisService { qpn: self.qpn });
            }
            if to.is_some() && work.length > mtu {
                return Err(PostError::DatagramTooLong { length: work.length, mtu });
            }
            unreliable.handles_mut().extend(to);
        } else if to.is_some() {
            return Err(PostError::NotOnThisService { qpn: self.qpn });
        }
        self.requester.post(work);
        Ok(())
    }

    /// Posts a buffer for a SEND.
    pub(crate) fn post_receive(
        &mut self,
        request: ReceiveRequest,
        shared: &mut Shared,
    ) -> Result<(), PostError> {
        let failed = self.state == QueuePairState::Error;
        let qpn = self.qpn;
        let admission = self.admission_mut().ok_or(PostError::NoReceiveQueue { qpn })?;
        let ReceiveQueue::Own(queue) = admission.queue_mut() else {
            return Err(PostError::NoReceiveQueue { qpn });
        };
        if failed {
            let flushed = admission.ended(request, CompletionStatus::Flushed);
            shared.receive_completions.push_back(flushed);
        } else {
            queue.push_back(request);
        }
        Ok(())
    }

    /// Puts it into another state.
    pub(crate) fn modify(
        &mut self,
        to: QueuePairState,
        shared: &mut Shared,
    ) -> Result<(), StateError> {
        let from = self.state;
        if !from.may_become(to) {
            return Err(StateError::NoSuchTransition { from, to });
        }
        if to == QueuePairState::Error {
            self.fail(CompletionStatus::Flushed, shared);
        }
        self.state = to;
        Ok(())
    }

    fn admission_mut(&mut self) -> Option<&mut Admission> {
        match &mut self.unreliable {
            Some(unreliable) => Some(unreliable.admission_mut()),
            None => self.responder.admission_mut(),
        }
    }

    /// The next data packet: READ responses and requests take turns.
    #[inline]
    pub(crate) fn transmit(&mut self, now: SimTime, shared: &mut Shared) -> Option<Transmit> {
        self.pacer.start(now, &self.profile);
        let responds = self.responder.has_data()
            && (self.prefers_responses || !self.requester.can_send(self.pacer.window()));
        self.prefers_responses = !responds;
        let transmit = if responds { self.respond(shared) } else { self.request(now, shared) }?;
        self.pacer.on_sent(now, transmit.frame_len);
        Some(transmit)
    }

    pub(crate) fn receive(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        if !self.state.receives() {
            shared.counters.discarded += 1;
            return;
        }
        let opcode = packet.opcode();
        if opcode == Opcode::Cnp {
            shared.counters.cnps_received += 1;
            self.pacer.on_cnp(now);
        } else if opcode == Opcode::RcAcknowledge || opcode.has_sack() {
            self.on_acknowledge(now, packet, telemetry, shared);
        } else if opcode.is_rdma_read_response() || opcode.has_atomic_ack_eth() {
            self.on_data(now, packet, shared);
            self.on_response(now, packet, shared);
        } else if opcode.is_request() {
            self.on_data(now, packet, shared);
            self.on_request(now, packet, telemetry, shared);
        } else {
            shared.counters.discarded += 1;
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: SimTime, shared: &mut Shared) {
        self.pacer.handle_timeout(now);
        if let Answer::Now(acknowledge) = self.responder.handle_timeout(now) {
            self.acknowledge(&acknowledge, Telemetry::None, shared);
        }
        match self.requester.on_timeout(now) {
            TimedOut::NotYet | TimedOut::Resume => {}
            TimedOut::Resend => {
                shared.counters.timeouts += 1;
                self.pacer.on_loss(now, true);
            }
            TimedOut::GiveUp => {
                shared.counters.timeouts += 1;
                self.fail(CompletionStatus::RetryExceeded, shared);
            }
        }
    }

    #[inline]
    fn request(&mut self, now: SimTime, shared: &mut Shared) -> Option<Transmit> {
        let mut request = self.requester.take(now, self.pacer.window())?;
        if self.unreliable.is_some() {
            return self.send_unreliably(now, request, shared);
        }
        if shared.memory.is_some() || request.packet.has_content() {
            self.load_content(&mut request, shared);
        }
        let carried = self.pacer.feedback().telemetry();
        let carried = carried.filter(|_| request.packet.opcode().has_payload());
        let packet = request.packet.with_telemetry(carried);
        let transmit = self.address.transmit(packet, self.address.priority);
        let counters = &mut shared.counters;
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

    /// A packet that nobody acknowledges: with it, what it ends is completed.
    #[cold]
    fn send_unreliably(
        &mut self,
        now: SimTime,
        mut request: Request,
        shared: &mut Shared,
    ) -> Option<Transmit> {
        self.load_content(&mut request, shared);
        let unreliable = self.unreliable.as_mut()?;
        let mut address = self.address;
        let mut packet =
            request.packet.with_transport(unreliable.service().transport()).with_ack_req(false);
        if let Some(to) = unreliable.handles_mut().pop_front() {
            packet = packet.with_dest_qp(to.dest_qp).with_deth(to.q_key, self.qpn);
            if let Some(immediate) = request.packet.immdt() {
                packet = packet.with_immdt(immediate.0); // It has another place behind a DETH.
            }
            (address.destination, address.entropy) = (to.destination, to.entropy);
        }
        let transmit = address.transmit(packet, address.priority);
        shared.counters.data_sent.count(transmit.frame_len);
        let (qpn, completions) = (self.qpn, &mut shared.completions);
        self.requester
            .settle_sent(now, |message, _| completions.push_back(success(qpn, message, 0)));
        self.rest_if_done();
        Some(transmit)
    }

    /// Puts what travels beside a request beside it.
    #[cold]
    fn load_content(&self, request: &mut Request, shared: &mut Shared) {
        let Some(message) = self.requester.message_of(request.sequence) else { return };
        if let Some(operands) = message.operands() {
            shared.departing = Some(Content::Operands(operands));
        } else if request.packet.opcode().has_payload() {
            let offset = self.requester.offset_of(message, request.sequence);
            shared.load(&mut request.packet, message.local_address.wrapping_add(offset));
        }
    }

    fn respond(&mut self, shared: &mut Shared) -> Option<Transmit> {
        let ReadData { mut packet, address, last, repeated } = self.responder.take()?;
        if shared.memory.is_some() {
            shared.load(&mut packet, address);
        }
        let transmit = self.address.transmit(packet, self.address.priority);
        shared.counters.data_sent.count(transmit.frame_len);
        if repeated {
            shared.counters.retransmitted.count(transmit.frame_len);
            self.retransmissions += 1;
        }
        if last {
            while let Some(acknowledge) = self.responder.take_released() {
                // What switches wrote into the packet that it answers is out of date by now.
                self.acknowledge(&acknowledge, Telemetry::None, shared);
                if acknowledge.is_fatal() {
                    self.fail(CompletionStatus::Flushed, shared);
                }
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
        shared: &mut Shared,
    ) {
        let positive = acknowledge.syndrome == Syndrome::ACK && acknowledge.sack.is_none();
        let becn = self.owes_echo && positive;
        self.owes_echo &= !becn;
        let packet = acknowledge.packet(self.address.dest_qp).with_becn(becn);
        let priority = self.address.priority;
        match telemetry.to_header().filter(|_| positive) {
            None => shared.control.push(self.address.transmit(packet, priority)),
            Some(header) => {
                let packet = packet.with_telemetry(Some(header.kind()));
                let transmit = self.address.transmit(packet, priority);
                shared.control.push_with_telemetry(transmit, header);
            }
        }
    }

    /// What every data packet does before its content is looked at: congestion is reported.
    #[inline]
    fn on_data(&mut self, now: SimTime, packet: &Packet, shared: &mut Shared) {
        shared.counters.data_received += 1;
        if !packet.is_ce() {
            return;
        }
        shared.counters.ce_received += 1;
        match self.pacer.feedback() {
            Feedback::EcnEcho => self.owes_echo = true,
            Feedback::Cnp { min_interval } if now >= self.next_cnp => {
                self.next_cnp = now.saturating_add(min_interval);
                let cnp = Packet::new(Opcode::Cnp, self.address.dest_qp, 0).with_becn(true);
                shared.control.push(self.address.transmit(cnp, self.profile.cnp_priority));
            }
            Feedback::Cnp { .. }
            | Feedback::Rtt
            | Feedback::Int { .. }
            | Feedback::Pint { .. }
            | Feedback::None => {}
        }
    }

    fn on_request(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        if let Some(unreliable) = &mut self.unreliable {
            return unreliable.on_request(packet, shared);
        }
        let answer = self.responder.on_request(now, packet, shared);
        self.answer(&answer, telemetry, shared);
        while let Some(held) = self.responder.take_early() {
            self.on_early(now, held, shared);
        }
    }

    /// A request whose turn has come, which arrived early.
    #[cold]
    fn on_early(&mut self, now: SimTime, held: Held, shared: &mut Shared) {
        shared.arriving = held.content;
        let answer = self.responder.on_request(now, &held.packet, shared);
        shared.arriving = None;
        self.answer(&answer, Telemetry::None, shared);
    }

    #[inline]
    fn answer(&mut self, answer: &Answer, telemetry: Telemetry<'_>, shared: &mut Shared) {
        match answer {
            Answer::Nothing => {}
            Answer::Now(acknowledge) => self.acknowledge(acknowledge, telemetry, shared),
            Answer::Refuse(nak) => {
                self.acknowledge(nak, telemetry, shared);
                self.fail(CompletionStatus::Flushed, shared);
            }
        }
    }

    /// READ data, or the result of an atomic operation.
    fn on_response(&mut self, now: SimTime, packet: &Packet, shared: &mut Shared) {
        let (qpn, Shared { completions, counters, memory, arriving, .. }) =
            (self.qpn, &mut *shared);
        let complete = |message: &Message, original| {
            if message.operation.awaits_response() {
                counters.messages_delivered += 1;
                counters.payload_delivered += u64::from(message.length);
            }
            completions.push_back(success(qpn, message, original));
        };
        let accept = |address: u64| {
            let Some(memory) = memory else { return };
            if let Some(content) = arriving {
                memory.store(address, content.payload());
            } else if let Some(ack) = packet.atomic_ack_eth() {
                memory.store(address, &ack.original_remote_data.to_le_bytes());
            }
        };
        let progress = self.requester.on_response(now, packet, complete, accept);
        if progress.stale {
            shared.counters.duplicates += 1;
        } else if progress.loss || progress.advanced_to.is_none() {
            shared.counters.out_of_order += 1;
        }
        self.after_progress(now, &progress, false, Telemetry::None);
    }

    fn on_acknowledge(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        let Some(aeth) = packet.aeth() else { return };
        let (qpn, completions) = (self.qpn, &mut shared.completions);
        let complete = |message: &Message, _| completions.push_back(success(qpn, message, 0));
        let progress = match aeth.syndrome {
            Syndrome::Ack { .. } => {
                shared.counters.acks_received += 1;
                self.requester.on_ack(now, packet.psn(), packet.sack(), complete)
            }
            Syndrome::Nak(NakCode::PsnSequenceError) => {
                shared.counters.naks_received += 1;
                self.requester.on_sequence_error(now, packet.psn(), complete)
            }
            Syndrome::Nak(code) => {
                shared.counters.naks_received += 1;
                return self.on_refusal(now, packet.psn(), code, shared);
            }
            Syndrome::RnrNak { timer_code } => {
                shared.counters.rnr_naks_received += 1;
                let wait = Duration::from_ns(rnr_timer_ns(timer_code));
                match self.requester.on_not_ready(now, packet.psn(), wait, complete) {
                    NotReady::Stale => return,
                    NotReady::Wait(progress) => progress,
                    NotReady::GiveUp => {
                        return self.fail(CompletionStatus::RnrRetryExceeded, shared);
                    }
                }
            }
            Syndrome::Reserved(_) => {
                shared.counters.discarded += 1;
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
    fn on_refusal(&mut self, now: SimTime, psn: u32, code: NakCode, shared: &mut Shared) {
        let before = psn.wrapping_sub(1);
        let (qpn, completions) = (self.qpn, &mut shared.completions);
        self.requester.on_ack(now, before, None, |message, _| {
            completions.push_back(success(qpn, message, 0));
        });
        let status = match code {
            NakCode::RemoteAccessError => CompletionStatus::RemoteAccess,
            NakCode::RemoteOperationalError => CompletionStatus::RemoteOperational,
            _ => CompletionStatus::RemoteInvalidRequest,
        };
        self.fail(status, shared);
    }

    /// The oldest work request ends with `status`, those after it are flushed, and so are receive
    /// requests.
    fn fail(&mut self, status: CompletionStatus, shared: &mut Shared) {
        self.state = QueuePairState::Error;
        self.responder.abandon(shared);
        if let Some(unreliable) = &mut self.unreliable {
            unreliable.abandon(shared);
        }
        self.pacer.sleep();
        let mut status = status;
        for message in self.requester.drain() {
            shared.completions.push_back(ended(self.qpn, message.id, message.operation, status));
            status = CompletionStatus::Flushed;
        }
    }
}

fn success(qpn: u32, message: &Message, original: u64) -> Completion {
    let status = CompletionStatus::Success;
    let ended = ended(qpn, message.id, message.operation, status);
    Completion { bytes: message.length, original, ..ended }
}

/// The completion of work that transferred nothing.
const fn ended(qpn: u32, id: u64, operation: Operation, status: CompletionStatus) -> Completion {
    Completion { qpn, id, status, operation, bytes: 0, original: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue_pair() -> QueuePair {
        let mtu = 1024.try_into().unwrap();
        let profile =
            QueuePairProfile { ack_interval: 1, ecn_capable: true, ..QueuePairProfile::new(mtu) };
        let config = QueuePairConfig {
            qpn: 0x11,
            dest_qp: 0x12,
            destination: 0,
            entropy: 0,
            initial_psn: 0,
            remote_initial_psn: 0,
            priority: 3,
            receive_queue: Default::default(),
            q_key: 0,
            profile: Arc::new(profile),
        };
        let line_rate = Bandwidth::from_gbps(100);
        let nic = NicConfig { line_rate, encapsulation_len: 42 };
        QueuePair::new(&config, &nic, QueuePairState::ReadyToSend)
    }

    #[test]
    fn congestion_is_echoed_once_to_those_who_asked() {
        for (feedback, expected) in
            [(Feedback::EcnEcho, [true, false, true]), (Feedback::Rtt, [false; 3])]
        {
            let mut shared = Shared::default();
            let mut queue_pair = queue_pair();
            queue_pair.pacer.declare(feedback);
            let becns = [(0, Ecn::Ce), (1, Ecn::Ect0), (2, Ecn::Ce)].map(|(psn, ecn)| {
                let send = Packet::new(Opcode::RcSendOnly, 0x11, psn)
                    .with_ack_req(true)
                    .with_class(3, ecn);
                queue_pair.receive(SimTime::ZERO, &send, Telemetry::None, &mut shared);
                shared.control.pop(0).unwrap().packet.becn()
            });
            assert_eq!(becns, expected);
        }
    }

    #[test]
    fn layout_stays_small() {
        assert_eq!(size_of::<Message>(), 80);
        assert!(size_of::<QueuePair>() <= 512, "{} bytes", size_of::<QueuePair>());
    }
}

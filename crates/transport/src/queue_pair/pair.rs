//! A queue pair: what its two halves share, and how it is driven.

use std::sync::Arc;

use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::{Ecn, Opcode};

use super::message::Message;
use super::migration::Migration;
use super::pacer::Pacer;
use super::requester::{Requester, TimedOut};
use super::responder::{Admission, Answer, Responder};
use super::state::{QueuePairState, StateError};
use super::unreliable::Unreliable;
use crate::config::is_infiniband;
use crate::congestion_control::Telemetry;
use crate::nic::Shared;
use crate::packet::{marked, with_alternate_path};
use crate::path_entropy::Spread;
use crate::receive_queue::ReceiveQueue;
use crate::sequence::psn;
use crate::{
    AddressHandle, Completion, CompletionStatus, NicConfig, Operation, Packet, PostError,
    QueuePairConfig, QueuePairProfile, ReceiveRequest, Transmit, WorkRequest,
};

/// A queue pair: a requester and a responder that share a pacer.
///
/// The fields stand in the order of their use: what every packet touches comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct QueuePair {
    /// The time of this queue pair's entry among the NIC's timers.
    pub(crate) timer_entry: SimTime,
    pub(crate) schedule: Schedule,
    pub(super) state: QueuePairState,
    /// Whether READ data goes before requests the next time.
    pub(super) prefers_responses: bool,
    /// Whether congestion was met and not yet echoed.
    pub(super) owes_echo: bool,
    pub(super) qpn: u32,
    pub(crate) address: Address,
    /// Only without acknowledgements; then the responder has nothing to do.
    pub(super) unreliable: Option<Box<Unreliable>>,
    pub(super) profile: Arc<QueuePairProfile>,
    pub(super) pacer: Pacer,
    pub(super) requester: Requester,
    pub(super) responder: Responder,
    /// Only where it has several paths.
    pub(super) paths: Option<Box<Paths>>,
    /// No CNP before.
    pub(super) next_cnp: SimTime,
    /// Retransmitted packets.
    pub(super) retransmissions: u64,
}

/// Paths beside the one that all packets take.
#[derive(Debug)]
pub(super) struct Paths {
    /// Where packets have several numbers that equal-cost multipath goes by.
    pub(super) spread: Option<Spread>,
    /// Where it has a second path.
    pub(super) migration: Option<Migration>,
}

/// Where a queue pair stands in the NIC's arbitration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
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
    pub(super) dest_qp: u32,
    pub(super) destination: u32,
    pub(super) entropy: u32,
    /// Bytes before the BTH, of which no encapsulation has 256.
    pub(super) encapsulation_len: u8,
    flags: PathFlags,
    pub(crate) priority: u8,
    pub(super) marking: u8,
}

/// The ECN field of its packets, and what is asked of paths for each of them: here, where it costs nothing.
#[derive(Clone, Copy, Debug)]
struct PathFlags(u8);

impl PathFlags {
    /// Data packets may have another entropy.
    const SPREAD: u8 = 1 << 2;
    /// It has a second path.
    const MIGRATES: u8 = 1 << 3;
    /// An alternate path is loaded: MigReq is 0.
    const ALTERNATE: u8 = 1 << 4;

    const fn new(ecn: Ecn, is_spread: bool, migrates: bool) -> Self {
        let spread = if is_spread { Self::SPREAD } else { 0 };
        let second = if migrates { Self::MIGRATES | Self::ALTERNATE } else { 0 };
        Self(ecn as u8 | spread | second)
    }

    const fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    const fn set(&mut self, flag: u8, is_set: bool) {
        self.0 = if is_set { self.0 | flag } else { self.0 & !flag };
    }
}

impl Address {
    /// Says from now on that no alternate path is loaded, or that one is.
    pub(super) const fn set_migrated(&mut self, migrated: bool) {
        self.flags.set(PathFlags::ALTERNATE, !migrated);
    }

    /// The path that it uses, and whether another one is loaded.
    pub(super) const fn path(&self) -> (u32, bool) {
        (self.entropy, self.has_alternate())
    }

    /// What [`path`](Self::path) gave.
    pub(super) const fn set_path(&mut self, (entropy, has_alternate): (u32, bool)) {
        self.entropy = entropy;
        self.flags.set(PathFlags::ALTERNATE, has_alternate);
    }

    /// Takes another path, and gives that which was used.
    pub(super) const fn exchange_entropy(&mut self, other: &mut u32) {
        core::mem::swap(&mut self.entropy, other);
    }

    const fn has_alternate(&self) -> bool {
        self.flags.has(PathFlags::ALTERNATE)
    }

    /// Whether data packets may have another entropy.
    #[inline]
    pub(super) const fn is_spread(&self) -> bool {
        self.flags.has(PathFlags::SPREAD)
    }

    /// Whether it has a second path.
    #[inline]
    pub(crate) const fn migrates(&self) -> bool {
        self.flags.has(PathFlags::MIGRATES)
    }

    #[inline]
    pub(super) fn transmit(&self, packet: Packet) -> Transmit {
        self.transmit_in(packet, self.priority, self.marking)
    }

    /// The packet in another priority and with other code points than the queue pair's own.
    #[inline]
    pub(super) fn transmit_in(&self, packet: Packet, priority: u8, marking: u8) -> Transmit {
        let packet = packet.with_class(priority, Ecn::from_bits(self.flags.0));
        let packet = with_alternate_path(packet, self.has_alternate());
        let packet = marked(packet, marking);
        Transmit {
            packet,
            destination: self.destination,
            entropy: self.entropy,
            frame_len: packet.frame_len(self.encapsulation_len.into()),
        }
    }

    /// Whether its packets are of native InfiniBand.
    pub(super) const fn is_infiniband(&self) -> bool {
        is_infiniband(self.encapsulation_len as u16)
    }

    /// The notification that the other end's data met congestion: a CNP of RoCE, which has a priority of its own, or a CN of
    /// InfiniBand, in the service level of the data.
    #[cold]
    pub(super) fn notification(&self, profile: &QueuePairProfile) -> Transmit {
        let packet = |opcode| Packet::new(opcode, self.dest_qp, 0).with_becn(true);
        if self.is_infiniband() {
            return self.transmit(packet(Opcode::Cn));
        }
        self.transmit_in(packet(Opcode::Cnp), profile.cnp_priority, profile.cnp_marking)
    }
}

impl QueuePair {
    pub(crate) fn new(config: &QueuePairConfig, nic: &NicConfig, state: QueuePairState) -> Self {
        let unreliable = !config.profile.service.is_reliable();
        let ecn = if config.profile.ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
        let policy = &config.profile.path_entropy;
        let paths = Paths {
            spread: Spread::new(policy, config.entropy, &config.more_entropies),
            migration: config.alternate_path.map(Migration::new),
        };
        let (is_spread, migrates) = (paths.spread.is_some(), paths.migration.is_some());
        Self {
            requester: Requester::new(config),
            responder: Responder::new(config),
            unreliable: unreliable.then(|| Box::new(Unreliable::new(config))),
            pacer: Pacer::new(&config.profile, nic),
            address: Address {
                dest_qp: config.dest_qp,
                destination: config.destination,
                entropy: config.entropy,
                encapsulation_len: u8::try_from(nic.encapsulation_len).unwrap_or(u8::MAX),
                flags: PathFlags::new(ecn, is_spread, migrates),
                priority: config.priority & 0b111,
                marking: config.marking,
            },
            profile: Arc::clone(&config.profile),
            qpn: config.qpn,
            state,
            prefers_responses: true,
            owes_echo: false,
            paths: (is_spread || migrates).then(|| Box::new(paths)),
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

    /// Payload acknowledged since the queue pair was made (bytes). Without acknowledgements it is
    /// that sent; after a failure, that posted.
    pub const fn bytes_acknowledged(&self) -> u64 {
        self.requester.positions().0
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

    /// Whether its controller is there and awake.
    pub(crate) const fn is_awake(&self) -> bool {
        self.pacer.is_active()
    }

    /// Whether pacing lets a data frame leave at `now`. Timers that expired while there was nothing to
    /// send may have raised the rate since. `active` is as in [`Pacer::wake`].
    #[inline]
    pub(crate) fn may_leave(&mut self, now: SimTime, active: &mut u32) -> bool {
        if self.pacer.release() > now {
            self.pacer.wake(now, active);
        }
        self.pacer.release() <= now
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
                if self.migrate(now, shared) {
                    self.requester.try_other_path();
                    self.pacer.on_loss(now, true);
                    return;
                }
                self.fail(CompletionStatus::RetryExceeded, shared);
            }
        }
    }

    /// Without work its rate interests nobody.
    #[inline]
    pub(super) fn rest_if_done(&mut self, shared: &mut Shared) {
        if self.requester.messages_outstanding() == 0 && !self.responder.has_data() {
            self.pacer.sleep(&mut shared.active);
        }
    }

    /// It goes, whatever it had to do.
    pub(crate) fn leave(&mut self, shared: &mut Shared) {
        self.pacer.sleep(&mut shared.active);
    }

    /// The oldest work request ends with `status`, those after it are flushed, and so are receive
    /// requests.
    pub(super) fn fail(&mut self, status: CompletionStatus, shared: &mut Shared) {
        self.state = QueuePairState::Error;
        self.responder.abandon(shared);
        if let Some(unreliable) = &mut self.unreliable {
            unreliable.abandon(shared);
        }
        self.pacer.sleep(&mut shared.active);
        let mut status = status;
        for message in self.requester.drain() {
            shared.completions.push_back(ended(self.qpn, message.id, message.operation, status));
            status = CompletionStatus::Flushed;
        }
    }
}

pub(super) fn success(qpn: u32, message: &Message, original: u64) -> Completion {
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
    use rocelab_wire::Opcode;

    use super::*;
    use crate::congestion_control::Feedback;

    fn queue_pair() -> QueuePair {
        let mtu = 1024.try_into().unwrap();
        let profile =
            QueuePairProfile { ack_interval: 1, ecn_capable: true, ..QueuePairProfile::new(mtu) };
        let config = QueuePairConfig {
            qpn: 0x11,
            dest_qp: 0x12,
            destination: 0,
            entropy: 0,
            more_entropies: Vec::new(),
            initial_psn: 0,
            remote_initial_psn: 0,
            priority: 3,
            marking: 3,
            receive_queue: Default::default(),
            q_key: 0,
            alternate_path: None,
            profile: Arc::new(profile),
        };
        let line_rate = Bandwidth::from_gbps(100);
        let nic = NicConfig { line_rate, encapsulation_len: 42, seed: 0 };
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
        let window = core::mem::offset_of!(QueuePair, requester) + Requester::WINDOW_OFFSET;
        assert_eq!(window % 64, 0, "the window fills a cache line");
    }
}

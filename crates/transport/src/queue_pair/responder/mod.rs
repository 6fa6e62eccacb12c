//! The receiving half of a reliable connection: requests in, acknowledgements and READ data out.

mod admission;
mod answers;
mod atomics;
mod coalescing;

use rocelab_state::{Result as StateResult, State, load_value, save_value};
use rocelab_units::SimTime;
use rocelab_wire::{NakCode, Opcode, Syndrome};

pub(super) use self::admission::{Admission, Refusal};
use self::admission::{check_atomic, execute_atomic};
pub(super) use self::answers::{Acknowledge, Detailed, ReadData, Released};
use self::answers::{Answers, Detail};
use self::coalescing::Coalescing;
use super::message::Segmentation;
use crate::nic::Shared;
use crate::recovery::{Gap, Held, ReorderBuffer};
use crate::sequence::{Sequence, expand, first_sequence};
use crate::{CompletionStatus, Packet, QueuePairConfig, Recovery};

const MSN_MASK: u32 = 0x00ff_ffff;

/// The responder's state.
#[derive(Debug)]
pub(super) struct Responder {
    /// The next request packet in order.
    expected: Sequence,
    /// The message that is arriving.
    message: Option<Arriving>,
    answers: Answers,
    /// Only with a receive queue, or memory to look at, or after an atomic operation.
    admission: Option<Box<Admission>>,
    /// Only where nothing is repeated but what is missing.
    early: Option<Box<ReorderBuffer>>,
    /// Only where acknowledgements are saved.
    coalescing: Option<Box<Coalescing>>,
    /// Requests completed, 24 bits.
    msn: u32,
    max_dest_rd_atomic: u32,
    segmentation: Segmentation,
    /// Whether the missing packet was asked for, or the requester was asked to wait.
    nak_sent: bool,
    /// Whether the NAK waits with which the queue pair fails.
    refused: bool,
    keeps_partial_messages: bool,
    /// Why it failed, if because of the message that was arriving.
    cause: CompletionStatus,
    /// Asked after gaps only.
    recovery: Recovery,
}

/// What waits early goes with a failure, and atomic operations bring an admission.
impl State for Responder {
    fn save(&self, to: &mut Vec<u8>) -> StateResult {
        let Self {
            expected,
            message,
            answers,
            admission,
            early,
            coalescing,
            msn,
            max_dest_rd_atomic: _,
            segmentation: _,
            nak_sent,
            refused,
            keeps_partial_messages: _,
            cause,
            recovery: _,
        } = self;
        save_value(&(expected, message, msn, nak_sent, refused, cause), to)?;
        save_value(&(admission.is_some(), early.is_some()), to)?;
        answers.save(to)?;
        admission.save(to)?;
        early.save(to)?;
        coalescing.save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> StateResult {
        (self.expected, self.message, self.msn) = load_value(from)?;
        (self.nak_sent, self.refused, self.cause) = load_value(from)?;
        let (admits, keeps_early): (bool, bool) = load_value(from)?;
        if admits {
            self.admission.get_or_insert_default();
        }
        self.early.take_if(|_| !keeps_early);
        self.answers.load(from)?;
        self.admission.load(from)?;
        self.early.load(from)?;
        self.coalescing.load(from)
    }
}

/// A message of which the first packet, but not the last, arrived.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct Arriving {
    first: Sequence,
    is_write: bool,
    /// Payload so far (bytes).
    bytes: u32,
}

/// What a request led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing leaves now.
    Nothing,
    /// This leaves now.
    Now(Acknowledge),
    /// This leaves now.
    Detailed(Detailed),
    /// The request makes no sense: this leaves, and the queue pair has failed.
    Refuse(Acknowledge),
}

impl Answer {
    /// Whether a later acknowledgement says all that it says.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Now(acknowledge) => acknowledge.is_positive(),
            Self::Detailed(_) | Self::Refuse(_) => false,
        }
    }
}

impl Responder {
    pub(super) fn new(config: &QueuePairConfig) -> Self {
        let reliability = config.profile.recovery.reliability();
        let segmentation = Segmentation::new(config.profile.path_mtu);
        let first = first_sequence(config.remote_initial_psn);
        Self {
            expected: first,
            message: None,
            answers: Answers::new(first, config.dest_qp, segmentation),
            admission: Admission::if_needed(config).map(Box::new),
            early: reliability.reorder_buffer(&config.profile),
            coalescing: config.profile.ack_coalescing.map(|rule| Box::new(Coalescing::new(rule))),
            msn: 0,
            max_dest_rd_atomic: config.profile.max_dest_rd_atomic,
            segmentation,
            nak_sent: false,
            refused: false,
            keeps_partial_messages: reliability.keeps_partial_messages(),
            cause: CompletionStatus::Flushed,
            recovery: config.profile.recovery,
        }
    }

    /// A request packet.
    #[inline]
    pub(super) fn on_request(
        &mut self,
        now: SimTime,
        packet: &Packet,
        shared: &mut Shared,
    ) -> Answer {
        let sequence = expand(packet.psn(), self.expected);
        if sequence == self.expected {
            return self.accept(now, packet, shared);
        }
        if sequence > self.expected {
            shared.counters.out_of_order += 1;
            if self.early.is_some() {
                return self.keep_early(sequence, packet, shared);
            }
            return self.on_gap();
        }
        if !self.keeps_partial_messages
            && self.message.is_some_and(|message| message.first == sequence)
        {
            self.restart_at(sequence);
            return self.accept(now, packet, shared);
        }
        shared.counters.duplicates += 1;
        self.on_duplicate(sequence, packet, shared)
    }

    /// A request packet whose turn has come, which arrived early.
    pub(super) fn on_early(
        &mut self,
        now: SimTime,
        packet: &Packet,
        shared: &mut Shared,
    ) -> Answer {
        // It counted when it came. If it is refused now, it comes again.
        if let Some(early) = &mut self.early {
            early.count_to(self.expected + 1);
        }
        self.accept(now, packet, shared)
    }

    /// Whether READ data waits to be sent.
    #[inline]
    pub(super) fn has_data(&self) -> bool {
        !self.answers.is_empty()
    }

    /// The next READ response packet.
    #[inline]
    pub(super) fn take(&mut self) -> Option<ReadData> {
        self.answers.take()
    }

    /// The next acknowledgement that no longer waits for READ data.
    pub(super) fn take_released(&mut self) -> Option<Released> {
        self.answers.take_released()
    }

    /// When an acknowledgement is put off no longer.
    #[inline]
    pub(super) fn deadline(&self) -> SimTime {
        self.coalescing.as_ref().map_or(SimTime::NEVER, |coalescing| coalescing.until())
    }

    /// Sends the acknowledgement that was put off, if its time has come.
    pub(super) fn handle_timeout(&mut self, now: SimTime) -> Answer {
        if self.deadline() > now { Answer::Nothing } else { self.acknowledge_now() }
    }

    /// Receive requests, if SENDs take them.
    pub(super) fn admission_mut(&mut self) -> Option<&mut Admission> {
        self.admission.as_deref_mut()
    }

    /// Forgets what waits to be sent, and flushes receive requests: the queue pair has failed.
    pub(super) fn abandon(&mut self, shared: &mut Shared) {
        self.answers.clear();
        self.early = None;
        self.forget_owed();
        if let Some(admission) = &mut self.admission {
            admission.flush(self.cause, shared);
        }
    }

    /// Whether packets that were accepted stay so. If not, they count with the last one of their message.
    pub(super) const fn keeps_partial_messages(&self) -> bool {
        self.keeps_partial_messages
    }

    /// The sequence number of the next request packet in order.
    pub(super) const fn expected(&self) -> Sequence {
        self.expected
    }

    /// Whether the request packet with a PSN was executed, or is kept until its turn.
    pub(super) fn has_request(&self, psn: u32) -> bool {
        let sequence = expand(psn, self.expected);
        let is_early = || self.early.as_ref().is_some_and(|early| early.has(sequence));
        sequence < self.expected || is_early()
    }

    /// Requests completed so far, 24 bits.
    pub(super) const fn msn(&self) -> u32 {
        self.msn
    }

    fn accept(&mut self, now: SimTime, packet: &Packet, shared: &mut Shared) -> Answer {
        let sequence = self.expected;
        let opcode = packet.opcode();
        if !self.is_valid(packet) {
            return self.refuse(Refusal::Invalid);
        }
        let fresh = Arriving { first: sequence, is_write: opcode.is_rdma_write(), bytes: 0 };
        let mut message = self.message.unwrap_or(fresh);
        let is_guarded = self.is_guarded(shared);
        if is_guarded && let Err(refusal) = self.admit(packet, message.bytes, shared) {
            return self.refuse(refusal);
        }
        self.nak_sent = false;
        if opcode.is_rdma_read_request() || opcode.is_atomic() {
            return self.execute(sequence, packet, shared);
        }
        self.expected += 1;
        message.bytes += u32::from(packet.payload_len());
        let has_counted = self.early.as_ref().is_some_and(|early| sequence < early.counted_to());
        if self.keeps_partial_messages && !has_counted {
            shared.counters.payload_accepted += u64::from(packet.payload_len());
        }
        if opcode.is_last() || opcode.is_only() {
            self.message = None;
            self.count_request();
            shared.counters.messages_delivered += 1;
            shared.counters.payload_delivered += u64::from(message.bytes);
            if !self.keeps_partial_messages {
                shared.counters.payload_accepted += u64::from(message.bytes);
            }
            if let Some(admission) = &mut self.admission {
                admission.complete(packet, message.bytes, shared);
            }
        } else {
            self.message = Some(message);
        }
        if packet.ack_req() { self.acknowledge(now) } else { Answer::Nothing }
    }

    /// Whether packets need more than their place in the sequence.
    #[inline]
    const fn is_guarded(&self, shared: &Shared) -> bool {
        self.admission.is_some() || shared.memory.is_some()
    }

    #[cold]
    fn admit(&mut self, packet: &Packet, so_far: u32, shared: &mut Shared) -> Result<(), Refusal> {
        self.admission.get_or_insert_default().admit(packet, so_far, shared)
    }

    /// Whether the packet may follow those before it (IBTA: opcode order and packet length).
    fn is_valid(&self, packet: &Packet) -> bool {
        let opcode = packet.opcode();
        let in_order = match self.message {
            None => opcode.is_first() || opcode.is_only(),
            Some(message) => {
                (opcode.is_middle() || opcode.is_last())
                    && opcode.is_rdma_write() == message.is_write
                    && message.bytes <= crate::MAX_MESSAGE_LENGTH
            }
        };
        let full = self.segmentation.payload(u32::MAX);
        let fits = if opcode.is_first() || opcode.is_middle() {
            packet.payload_len() == full
        } else {
            packet.payload_len() <= full && (opcode.is_only() || packet.payload_len() > 0)
        };
        let readable =
            packet.reth().is_none_or(|reth| reth.dma_length <= crate::MAX_MESSAGE_LENGTH);
        is_executable(opcode) && in_order && fits && readable
    }

    /// The packet in order cannot be executed.
    #[cold]
    fn refuse(&mut self, refusal: Refusal) -> Answer {
        let rnr_timer = self.admission.as_ref().map_or(0, |admission| admission.rnr_timer());
        let syndrome = refusal.syndrome(rnr_timer);
        let nak = Acknowledge { syndrome, ..self.positive(self.expected) };
        self.forget_owed();
        if refusal == Refusal::NotReady {
            self.nak_sent = true;
            return self.send_in_order(nak);
        }
        if self.refused {
            return Answer::Nothing;
        }
        self.refused = true;
        if refusal == Refusal::Length {
            self.cause = CompletionStatus::LocalLength;
        }
        match self.answers.in_order(nak) {
            Some(nak) => Answer::Refuse(nak),
            None => Answer::Nothing,
        }
    }

    /// The packet that was early and whose turn it is now.
    #[inline]
    pub(super) fn take_early(&mut self) -> Option<Held> {
        self.early.as_mut()?.take(self.expected)
    }

    /// Keeps a packet whose turn has not come, and says what is here.
    #[cold]
    fn keep_early(&mut self, sequence: Sequence, packet: &Packet, shared: &mut Shared) -> Answer {
        let read = packet.reth().filter(|_| packet.opcode().is_rdma_read_request());
        let span = read.map_or(1, |reth| u64::from(self.segmentation.packets(reth.dma_length)));
        let held = Held { packet: *packet, content: shared.arriving.take(), span };
        let Some(early) = &mut self.early else { return Answer::Nothing };
        if sequence - self.expected >= early.reach() {
            return Answer::Nothing;
        }
        if !early.keep(sequence, held) {
            shared.counters.duplicates += 1;
        } else if sequence >= early.counted_to() && read.is_none() {
            shared.counters.payload_accepted += u64::from(packet.payload_len());
        }
        let detail = Detail::Arrived(early.sack(self.expected, sequence));
        self.forget_owed();
        self.send_detailed(self.expected - 1, detail)
    }

    #[cold]
    fn on_gap(&mut self) -> Answer {
        if self.nak_sent {
            return Answer::Nothing;
        }
        let message_first = self.message.map_or(self.expected, |message| message.first);
        let expected = self
            .recovery
            .reliability()
            .expect_after_gap(&Gap { expected: self.expected, message_first });
        if expected < self.expected {
            self.restart_at(expected);
        }
        self.nak_sent = true;
        self.forget_owed();
        let syndrome = Syndrome::Nak(NakCode::PsnSequenceError);
        self.send_in_order(Acknowledge { syndrome, ..self.positive(expected) })
    }

    /// The message that is arriving starts again, with its first packet.
    fn restart_at(&mut self, first: Sequence) {
        self.message = None;
        if let Some(admission) = &mut self.admission {
            admission.forget_message();
        }
        self.expected = first;
    }

    /// A request that was executed before: a READ is executed again, an atomic operation is
    /// answered with what it found, others are acknowledged again, with the latest packet in order.
    fn on_duplicate(&mut self, sequence: Sequence, packet: &Packet, shared: &mut Shared) -> Answer {
        if packet.opcode().is_atomic() {
            let admission = self.admission.as_ref();
            let found = admission.and_then(|admission| admission.results().find(sequence));
            let Some(original) = found else { return Answer::Nothing };
            return self.send_detailed(sequence, Detail::Original(original));
        }
        let Some(reth) = packet.reth().filter(|_| packet.opcode().is_rdma_read_request()) else {
            return if packet.ack_req() { self.acknowledge_now() } else { Answer::Nothing };
        };
        let end = sequence + u64::from(self.segmentation.packets(reth.dma_length));
        let is_guarded = self.is_guarded(shared);
        if end > self.expected || is_guarded && self.admit(packet, 0, shared).is_err() {
            return Answer::Nothing;
        }
        let packets = sequence..end;
        self.answers.repeat_read(packets, reth.dma_length, reth.virtual_address, self.msn);
        Answer::Nothing
    }

    /// A READ or atomic operation that is in order.
    fn execute(&mut self, sequence: Sequence, packet: &Packet, shared: &mut Shared) -> Answer {
        if packet.opcode().is_atomic()
            && let Err(refusal) = check_atomic(packet, shared)
        {
            return self.refuse(refusal);
        }
        if self.answers.reads() >= self.max_dest_rd_atomic {
            return self.refuse(Refusal::Invalid);
        }
        self.forget_owed();
        self.count_request();
        if let Some(reth) = packet.reth() {
            self.expected += u64::from(self.segmentation.packets(reth.dma_length));
            self.push_read(sequence, packet);
            return Answer::Nothing;
        }
        self.expected += 1;
        let original = execute_atomic(packet, shared);
        let results = self.admission.get_or_insert_default().results_mut();
        results.keep(sequence, original, self.max_dest_rd_atomic);
        self.send_detailed(sequence, Detail::Original(original))
    }

    fn push_read(&mut self, first: Sequence, request: &Packet) {
        let Some(reth) = request.reth() else { return };
        let end = first + u64::from(self.segmentation.packets(reth.dma_length));
        self.answers.push_read(first, end, reth.dma_length, reth.virtual_address, self.msn);
    }

    /// Acknowledges all so far, now or, to save acknowledgements, a little later.
    #[inline]
    fn acknowledge(&mut self, now: SimTime) -> Answer {
        if let Some(coalescing) = &mut self.coalescing
            && coalescing.puts_off(now)
        {
            return Answer::Nothing;
        }
        self.acknowledge_now()
    }

    #[inline]
    fn acknowledge_now(&mut self) -> Answer {
        self.forget_owed();
        self.send_in_order(self.positive(self.expected - 1))
    }

    /// What was put off is said by what is sent now.
    #[inline]
    fn forget_owed(&mut self) {
        if let Some(coalescing) = &mut self.coalescing {
            coalescing.forget();
        }
    }

    const fn count_request(&mut self) {
        self.msn = (self.msn + 1) & MSN_MASK;
    }

    const fn positive(&self, sequence: Sequence) -> Acknowledge {
        Acknowledge { sequence, syndrome: Syndrome::ACK, msn: self.msn }
    }

    #[inline]
    fn send_in_order(&mut self, acknowledge: Acknowledge) -> Answer {
        self.answers.in_order(acknowledge).map_or(Answer::Nothing, Answer::Now)
    }

    #[cold]
    fn send_detailed(&mut self, sequence: Sequence, detail: Detail) -> Answer {
        let detailed = Detailed { acknowledge: self.positive(sequence), detail };
        self.answers.detailed_in_order(detailed).map_or(Answer::Nothing, Answer::Detailed)
    }
}

/// Whether a responder of a reliable connection can execute it: SEND, WRITE, READ and atomics.
#[inline]
const fn is_executable(opcode: Opcode) -> bool {
    const EXECUTABLE: u32 = 0b0000_0000_1101_1000_0001_1111_1111_1111;
    let number = opcode as u8;
    number < 32 && EXECUTABLE & 1 << number != 0
}

//! The receiving half of a queue pair: requests in, acknowledgements and READ data out.

use std::collections::VecDeque;

use rocelab_wire::{NakCode, Opcode, Syndrome};

use super::message::{Segmentation, read_response_opcode};
use crate::recovery::{Gap, Reliability};
use crate::sequence::{MAX_OUTSTANDING, Sequence, expand, first_sequence, psn};
use crate::{Counters, Packet, QueuePairConfig};

const MSN_MASK: u32 = 0x00ff_ffff;

/// The responder's state.
#[derive(Debug)]
pub(super) struct Responder {
    /// The next request packet in order.
    expected: Sequence,
    /// The message that is arriving.
    message: Option<Arriving>,
    /// READs to answer, and the acknowledgements that have to wait behind them. A READ is first.
    responses: VecDeque<Response>,
    /// READ responses below this were sent at least once.
    responded: Sequence,
    /// Requests completed, 24 bits.
    msn: u32,
    dest_qp: u32,
    segmentation: Segmentation,
    /// Whether the missing packet was asked for.
    nak_sent: bool,
    keeps_partial_messages: bool,
    reliability: &'static dyn Reliability,
}

/// A message of which the first packet, but not the last, arrived.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    first: Sequence,
    is_write: bool,
    /// Payload so far (bytes).
    bytes: u32,
}

#[derive(Clone, Copy, Debug)]
enum Response {
    Read(ReadResponse),
    Acknowledge(Acknowledge),
}

/// A READ that is being answered.
#[derive(Clone, Copy, Debug)]
struct ReadResponse {
    first: Sequence,
    next: Sequence,
    end: Sequence,
    /// Payload still to send (bytes).
    remaining: u32,
    msn: u32,
}

/// A READ response packet that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadData {
    pub(super) packet: Packet,
    /// Whether it is the last of its READ.
    pub(super) last: bool,
    /// Whether it was sent before.
    pub(super) repeated: bool,
}

/// An acknowledgement, positive or negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledge {
    pub(super) sequence: Sequence,
    pub(super) syndrome: Syndrome,
    msn: u32,
}

/// What a request led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing leaves now.
    Nothing,
    /// This leaves now.
    Now(Acknowledge),
    /// The request makes no sense: this leaves, and the queue pair has failed.
    Refuse(Acknowledge),
}

impl Acknowledge {
    pub(super) const fn packet(&self, dest_qp: u32) -> Packet {
        Packet::new(Opcode::RcAcknowledge, dest_qp, psn(self.sequence))
            .with_aeth(self.syndrome, self.msn)
    }
}

impl Responder {
    pub(super) fn new(config: &QueuePairConfig) -> Self {
        let reliability = config.profile.recovery.reliability();
        Self {
            expected: first_sequence(config.remote_initial_psn),
            message: None,
            responses: VecDeque::new(),
            responded: first_sequence(config.remote_initial_psn),
            msn: 0,
            dest_qp: config.dest_qp,
            segmentation: Segmentation::new(config.profile.path_mtu),
            nak_sent: false,
            keeps_partial_messages: reliability.keeps_partial_messages(),
            reliability,
        }
    }

    /// A request packet.
    #[inline]
    pub(super) fn on_request(&mut self, packet: &Packet, counters: &mut Counters) -> Answer {
        let sequence = expand(packet.psn(), self.expected);
        if sequence == self.expected {
            return self.accept(packet, counters);
        }
        if sequence > self.expected {
            counters.out_of_order += 1;
            return self.on_gap();
        }
        if !self.keeps_partial_messages
            && self.message.is_some_and(|message| message.first == sequence)
        {
            self.message = None;
            self.expected = sequence;
            return self.accept(packet, counters);
        }
        counters.duplicates += 1;
        self.on_duplicate(sequence, packet)
    }

    /// Whether READ data waits to be sent.
    #[inline]
    pub(super) fn has_data(&self) -> bool {
        !self.responses.is_empty()
    }

    /// The next READ response packet.
    #[inline]
    pub(super) fn take(&mut self) -> Option<ReadData> {
        let Some(Response::Read(read)) = self.responses.front_mut() else { return None };
        let last = read.next + 1 == read.end;
        let opcode = read_response_opcode(read.next == read.first, last);
        let payload = self.segmentation.payload(read.remaining);
        let mut packet =
            Packet::new(opcode, self.dest_qp, psn(read.next)).with_payload_len(payload);
        if opcode.has_aeth() {
            packet = packet.with_aeth(Syndrome::ACK, read.msn);
        }
        let repeated = read.next < self.responded;
        read.next += 1;
        self.responded = self.responded.max(read.next);
        read.remaining -= u32::from(payload);
        if last {
            self.responses.pop_front();
        }
        Some(ReadData { packet, last, repeated })
    }

    /// The next acknowledgement that no longer waits for READ data.
    pub(super) fn take_released(&mut self) -> Option<Acknowledge> {
        let Some(&Response::Acknowledge(acknowledge)) = self.responses.front() else {
            return None;
        };
        self.responses.pop_front();
        Some(acknowledge)
    }

    /// Forgets what waits to be sent: the queue pair has failed.
    pub(super) fn abandon(&mut self) {
        self.responses.clear();
    }

    /// The sequence number of the next request packet in order.
    pub(super) const fn expected(&self) -> Sequence {
        self.expected
    }

    /// Requests completed so far, 24 bits.
    pub(super) const fn msn(&self) -> u32 {
        self.msn
    }

    fn accept(&mut self, packet: &Packet, counters: &mut Counters) -> Answer {
        let sequence = self.expected;
        let opcode = packet.opcode();
        if !self.is_valid(packet) {
            return Answer::Refuse(self.nak(sequence, NakCode::InvalidRequest));
        }
        self.nak_sent = false;
        if let Some(reth) = packet.reth().filter(|_| opcode.is_rdma_read_request()) {
            self.expected += u64::from(self.segmentation.packets(reth.dma_length));
            self.msn = (self.msn + 1) & MSN_MASK;
            self.execute_read(sequence, reth.dma_length);
            return Answer::Nothing;
        }
        self.expected += 1;
        let payload = u32::from(packet.payload_len());
        let fresh = Arriving { first: sequence, is_write: opcode.is_rdma_write(), bytes: 0 };
        let mut message = self.message.unwrap_or(fresh);
        message.bytes += payload;
        if opcode.is_last() || opcode.is_only() {
            self.message = None;
            self.msn = (self.msn + 1) & MSN_MASK;
            counters.messages_delivered += 1;
            counters.payload_delivered += u64::from(message.bytes);
        } else {
            self.message = Some(message);
        }
        self.acknowledge_if(packet.ack_req())
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
            packet.payload_len() <= full
        };
        let known = opcode.is_send() || opcode.is_rdma_write() || opcode.is_rdma_read_request();
        let readable = packet.reth().is_none_or(|reth| {
            u64::from(self.segmentation.packets(reth.dma_length)) <= MAX_OUTSTANDING
        });
        known && in_order && fits && readable
    }

    fn on_gap(&mut self) -> Answer {
        if self.nak_sent {
            return Answer::Nothing;
        }
        let message_first = self.message.map_or(self.expected, |message| message.first);
        let expected =
            self.reliability.expect_after_gap(&Gap { expected: self.expected, message_first });
        if expected < self.expected {
            self.message = None;
        }
        self.expected = expected;
        self.nak_sent = true;
        self.send_in_order(self.nak(expected, NakCode::PsnSequenceError))
    }

    /// A request that was executed before: a READ is executed again, others are acknowledged
    /// again, with the latest packet in order.
    fn on_duplicate(&mut self, sequence: Sequence, packet: &Packet) -> Answer {
        let Some(reth) = packet.reth().filter(|_| packet.opcode().is_rdma_read_request()) else {
            return self.acknowledge_if(packet.ack_req());
        };
        let end = sequence + u64::from(self.segmentation.packets(reth.dma_length));
        if end <= self.expected {
            self.withdraw_from(sequence);
            self.execute_read(sequence, reth.dma_length);
        }
        Answer::Nothing
    }

    /// Drops the waiting responses that a repeated READ request makes useless: its requester
    /// wants `sequence` next, and will repeat the requests after it.
    fn withdraw_from(&mut self, sequence: Sequence) {
        while let Some(newest) = self.responses.back() {
            match newest {
                Response::Read(read) if read.end <= sequence => break,
                Response::Acknowledge(waiting) if waiting.sequence < sequence => break,
                Response::Acknowledge(waiting) if waiting.syndrome != Syndrome::ACK => {
                    self.nak_sent = false;
                }
                _ => {}
            }
            self.responses.pop_back();
        }
    }

    fn execute_read(&mut self, first: Sequence, length: u32) {
        let end = first + u64::from(self.segmentation.packets(length));
        let read = ReadResponse { first, next: first, end, remaining: length, msn: self.msn };
        self.responses.push_back(Response::Read(read));
    }

    fn acknowledge_if(&mut self, asked: bool) -> Answer {
        if !asked {
            return Answer::Nothing;
        }
        let sequence = self.expected - 1;
        self.send_in_order(Acknowledge { sequence, syndrome: Syndrome::ACK, msn: self.msn })
    }

    const fn nak(&self, sequence: Sequence, code: NakCode) -> Acknowledge {
        Acknowledge { sequence, syndrome: Syndrome::Nak(code), msn: self.msn }
    }

    /// An acknowledgement must not overtake the data of earlier READs, which it would acknowledge.
    fn send_in_order(&mut self, acknowledge: Acknowledge) -> Answer {
        if self.responses.is_empty() {
            return Answer::Now(acknowledge);
        }
        match self.responses.back_mut() {
            Some(Response::Acknowledge(waiting))
                if waiting.syndrome == Syndrome::ACK && acknowledge.syndrome == Syndrome::ACK =>
            {
                *waiting = acknowledge;
            }
            _ => self.responses.push_back(Response::Acknowledge(acknowledge)),
        }
        Answer::Nothing
    }
}

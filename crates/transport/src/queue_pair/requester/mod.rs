//! The sending half of a queue pair: messages become packets, acknowledgements complete them.
//!
//! Three positions move through the sequence numbers: `acknowledged` <= `next` <= `sent_end`.
//! A recovery moves `next` back and everything from there is sent again; what a packet looks like
//! depends only on its message and its sequence number.

mod resend;
mod selective;
mod standing;

use std::collections::VecDeque;

use rocelab_units::{Duration, SimTime};

pub(super) use self::resend::{NotReady, Refused, TimedOut};
use super::message::{Message, Segmentation};
use crate::recovery::{Arrivals, Reliability};
use crate::sequence::{MAX_OUTSTANDING, Sequence, expand, first_sequence};
use crate::{Packet, QueuePairConfig, WorkRequest};

/// The `cursor` of a requester that waits because of an RNR NAK: no message has this place, so that
/// nothing can be sent.
const PARKED: usize = usize::MAX;

/// The requester's state.
#[derive(Debug)]
pub(super) struct Requester {
    /// Posted and not completed, oldest first.
    messages: VecDeque<Message>,
    /// Which of them `next` is in; their number if all is sent.
    cursor: usize,
    /// The next packet to send.
    next: Sequence,
    /// After the last packet that was ever sent.
    sent_end: Sequence,
    /// All before it arrived; with a scheme that forgets partial messages, it may fall back.
    acknowledged: Sequence,
    /// After the last packet of all posted messages.
    posted_end: Sequence,
    /// Payload before `next`, `acknowledged` and `posted_end` (bytes).
    next_byte: u64,
    acknowledged_byte: u64,
    posted_byte: u64,
    /// The response that was asked for again and has not come yet.
    awaited_response: Option<Sequence>,
    /// Where to resume after an RNR NAK.
    resume_at: Sequence,
    /// When the local ACK timeout expires, which runs while something is unacknowledged, or the
    /// wait that an RNR NAK asked for is over.
    deadline: SimTime,
    timeout: Option<Duration>,
    ack_interval: u32,
    dest_qp: u32,
    segmentation: Segmentation,
    /// READs and atomics that were requested and not answered.
    responses_awaited: u32,
    max_rd_atomic: u32,
    /// Packets that may be sent and not acknowledged.
    max_outstanding: u64,
    retries: u8,
    retry_count: u8,
    rnr_retries: u8,
    rnr_retry: u8,
    /// Whether all packets that may be outstanding can leave without one that asks for an
    /// acknowledgement, so that the last of them must.
    asks_when_full: bool,
    keeps_partial_messages: bool,
    /// Only where nothing is repeated but what is missing.
    arrivals: Option<Box<Arrivals>>,
    reliability: &'static dyn Reliability,
}

rocelab_state::state!(Requester {
    values: messages, cursor, next, sent_end, acknowledged, posted_end, next_byte,
        acknowledged_byte, posted_byte, awaited_response, resume_at, deadline, responses_awaited,
        retries, rnr_retries;
    states: arrivals;
    kept: timeout, ack_interval, dest_qp, segmentation, max_rd_atomic, max_outstanding,
        retry_count, rnr_retry, asks_when_full, keeps_partial_messages, reliability
});

/// A packet that the requester gives out.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) packet: Packet,
    pub(super) sequence: Sequence,
    /// Whether it was sent before.
    pub(super) repeated: bool,
}

/// What an arriving acknowledgement or READ response changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Payload newly acknowledged (bytes).
    pub(super) bytes: u64,
    /// The sequence number before which all is acknowledged, where that moved.
    pub(super) advanced_to: Option<Sequence>,
    /// Whether something will be sent again.
    pub(super) loss: bool,
    /// Whether the packet was of no use.
    pub(super) stale: bool,
}

impl Requester {
    pub(super) fn new(config: &QueuePairConfig) -> Self {
        let first = first_sequence(config.initial_psn);
        let reliability = config.profile.recovery.reliability();
        let max_outstanding = u64::from(config.profile.max_outstanding).clamp(1, MAX_OUTSTANDING);
        let ack_interval = config.profile.ack_interval;
        Self {
            messages: VecDeque::new(),
            cursor: 0,
            next: first,
            sent_end: first,
            acknowledged: first,
            posted_end: first,
            next_byte: 0,
            acknowledged_byte: 0,
            posted_byte: 0,
            awaited_response: None,
            resume_at: first,
            deadline: SimTime::NEVER,
            timeout: config.profile.ack_timeout.duration(),
            ack_interval,
            dest_qp: config.dest_qp,
            segmentation: Segmentation::new(config.profile.path_mtu),
            responses_awaited: 0,
            max_rd_atomic: config.profile.max_rd_atomic.max(1),
            max_outstanding,
            retries: 0,
            retry_count: config.profile.retry_count,
            rnr_retries: 0,
            rnr_retry: config.profile.rnr_retry,
            asks_when_full: ack_interval == 0 || u64::from(ack_interval) > max_outstanding,
            keeps_partial_messages: reliability.keeps_partial_messages(),
            arrivals: reliability
                .is_selective()
                .then(|| Box::new(Arrivals::new(first, config.profile.timeouts))),
            reliability,
        }
    }

    pub(super) fn post(&mut self, work: &WorkRequest) {
        let message = Message::new(work, self.posted_end, self.posted_byte, self.segmentation);
        self.posted_end = message.end();
        self.posted_byte += u64::from(message.length);
        self.messages.push_back(message);
    }

    /// Whether a packet may leave with `window` bytes of unacknowledged payload allowed.
    #[inline]
    pub(super) fn can_send(&self, window: u64) -> bool {
        let Some(message) = self.messages.get(self.cursor) else { return false };
        self.bytes_in_flight() < window
            && self.next - self.acknowledged < self.max_outstanding
            && (self.keeps_partial_messages || self.next - self.oldest_needed() < MAX_OUTSTANDING)
            && (!message.operation.awaits_response() || self.may_request(message))
    }

    /// Whether one more READ or atomic operation may be in flight. The sequence numbers of a READ's
    /// response must not get mixed up with those of what is in flight already.
    fn may_request(&self, message: &Message) -> bool {
        let is_counted = self.is_selective() && self.next < self.sent_end;
        is_counted
            || self.responses_awaited < self.max_rd_atomic
                && message.after(self.next) - self.oldest_needed() <= MAX_OUTSTANDING
    }

    /// The next packet; only if [`can_send`](Self::can_send). With a `window` every packet asks for
    /// an acknowledgement: if the last one that was sent before the window was full did not, or the
    /// window shrank behind it, nothing would open it again.
    #[inline]
    pub(super) fn take(&mut self, now: SimTime, window: u64) -> Option<Request> {
        if self.is_selective() {
            return self.take_selectively(now);
        }
        let message = self.messages.get(self.cursor)?;
        let sequence = self.next;
        let after = message.after(sequence);
        let packet = message.packet(sequence, self.dest_qp, self.segmentation);
        let ack_req = window != u64::MAX
            || after == message.end()
            || self.is_ack_due(message.index(sequence))
            || self.asks_when_full && after - self.acknowledged >= self.max_outstanding;

        self.next = after;
        self.next_byte = message.byte_at(after, self.segmentation);
        if after == message.end() {
            self.cursor += 1;
        }
        self.responses_awaited += u32::from(message.operation.awaits_response());
        let repeated = sequence < self.sent_end;
        self.sent_end = self.sent_end.max(after);
        if self.deadline == SimTime::NEVER {
            self.restart_timer(now);
        }
        Some(Request { packet: packet.with_ack_req(ack_req), sequence, repeated })
    }

    /// An ACK of everything up to and including `psn`.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        now: SimTime,
        psn: u32,
        complete: impl FnMut(&Message, u64),
    ) -> Progress {
        let end = expand(psn, self.acknowledged) + 1;
        if self.is_selective() {
            return self.acknowledge_selectively(now, end, None, complete);
        }
        if end <= self.acknowledged || end > self.sent_end {
            return Progress { stale: true, ..Progress::default() };
        }
        self.acknowledge_before(now, end, complete)
    }

    /// A READ response or the result of an atomic operation. It acknowledges all before it; out of
    /// order it is useless, and is asked for again, once. If it is of use, `accept` is told the
    /// local address that its payload goes to.
    pub(super) fn on_response(
        &mut self,
        now: SimTime,
        packet: &Packet,
        mut complete: impl FnMut(&Message, u64),
        accept: impl FnOnce(u64),
    ) -> Progress {
        if self.is_selective() {
            return self.on_response_selectively(now, packet, complete, accept);
        }
        let sequence = expand(packet.psn(), self.acknowledged);
        let stale = Progress { stale: true, ..Progress::default() };
        if sequence < self.acknowledged || sequence >= self.next {
            return stale;
        }
        let mut progress = self.acknowledge_before(now, sequence, &mut complete);
        if progress.loss || self.acknowledged != sequence {
            return progress;
        }
        let Some(oldest) = self.messages.front() else { return stale };
        let offset = self.segmentation.offset(oldest.index(sequence));
        if !self.is_answer(oldest, packet, oldest.length - offset) {
            return stale;
        }
        accept(oldest.local_address.wrapping_add(u64::from(offset)));
        let end = oldest.end();
        self.acknowledged = sequence + 1;
        self.acknowledged_byte = oldest.byte_at(self.acknowledged, self.segmentation);
        if self.acknowledged == end {
            complete(oldest, packet.atomic_ack_eth().map_or(0, |ack| ack.original_remote_data));
            // After going back to it, it is not counted until it is requested again.
            self.responses_awaited -= u32::from(self.cursor > 0 && self.responses_awaited > 0);
            self.drop_completed(1);
        }
        self.note_progress(now);
        progress.advanced_to = Some(self.acknowledged);
        progress
    }

    /// Whether a response is what `message` waits for, of which `remaining` bytes are to come.
    fn is_answer(&self, message: &Message, packet: &Packet, remaining: u32) -> bool {
        if message.operation.is_read() {
            packet.opcode().is_rdma_read_response()
                && packet.payload_len() == self.segmentation.payload(remaining)
        } else {
            message.operation.is_atomic() && packet.opcode().has_atomic_ack_eth()
        }
    }

    /// Everything that was sent is done with: nobody will acknowledge it.
    pub(super) fn settle_sent(&mut self, now: SimTime, complete: impl FnMut(&Message, u64)) {
        self.acknowledge_before(now, self.next, complete);
        self.deadline = SimTime::NEVER;
    }

    /// The message whose packet at `sequence` was just [taken](Self::take).
    pub(super) fn message_of(&self, sequence: Sequence) -> Option<&Message> {
        let holds = |message: &&Message| message.first <= sequence && sequence < message.end();
        let newest = self.cursor.min(self.messages.len().saturating_sub(1));
        self.messages.range(..=newest).rev().find(holds)
    }

    /// How far into its message the payload of a packet is (bytes).
    pub(super) const fn offset_of(&self, message: &Message, sequence: Sequence) -> u64 {
        self.segmentation.offset(message.index(sequence)) as u64
    }

    /// Takes out all messages, oldest first: the queue pair has failed.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Message> {
        self.deadline = SimTime::NEVER;
        self.cursor = 0;
        self.next = self.posted_end;
        self.next_byte = self.posted_byte;
        self.acknowledged = self.posted_end;
        self.acknowledged_byte = self.posted_byte;
        self.messages.drain(..)
    }

    /// When the local ACK timeout expires.
    #[inline]
    pub(super) const fn deadline(&self) -> SimTime {
        self.deadline
    }

    /// Payload sent and not acknowledged; that of READs counts from the request on (bytes).
    #[inline]
    pub(super) const fn bytes_in_flight(&self) -> u64 {
        self.next_byte.saturating_sub(self.acknowledged_byte)
    }

    /// Payload before the oldest packet that is not acknowledged, and before the next to send
    /// (bytes).
    pub(super) const fn positions(&self) -> (u64, u64) {
        (self.acknowledged_byte, self.next_byte)
    }

    /// Payload posted and not acknowledged (bytes).
    pub(super) const fn bytes_outstanding(&self) -> u64 {
        self.posted_byte - self.acknowledged_byte
    }

    /// Messages posted and not completed.
    pub(super) fn messages_outstanding(&self) -> usize {
        self.messages.len()
    }

    /// Timeouts in a row.
    pub(super) const fn retries(&self) -> u8 {
        self.retries
    }

    /// PSNs of the oldest packet that is not acknowledged and of the next to send.
    pub(super) const fn window_edges(&self) -> (Sequence, Sequence) {
        (self.acknowledged, self.next)
    }

    #[inline]
    const fn is_ack_due(&self, index: u32) -> bool {
        match self.ack_interval {
            0 => false,
            1 => true,
            interval => (index + 1).is_multiple_of(interval),
        }
    }

    /// The oldest packet that may have to be sent again.
    #[inline]
    fn oldest_needed(&self) -> Sequence {
        if self.keeps_partial_messages {
            return self.acknowledged;
        }
        self.messages.front().map_or(self.acknowledged, |front| front.first)
    }

    /// Everything before `end` arrived, but for READ responses that did not.
    fn acknowledge_before(
        &mut self,
        now: SimTime,
        end: Sequence,
        mut complete: impl FnMut(&Message, u64),
    ) -> Progress {
        let bytes_before = self.acknowledged_byte;
        let mut reached = end;
        let mut missing_response = None;
        let mut completed = 0;
        for message in &self.messages {
            if message.operation.awaits_response() {
                let expected = self.acknowledged.max(message.first);
                if end > expected {
                    reached = expected;
                    missing_response = Some(expected);
                }
                break;
            }
            if message.end() > end {
                break;
            }
            complete(message, 0);
            completed += 1;
        }
        self.drop_completed(completed);
        let advanced_to = self.advance(reached);
        if advanced_to.is_some() {
            self.note_progress(now);
        }
        let loss = missing_response.is_some_and(|response| self.ask_again(response));
        Progress {
            bytes: self.acknowledged_byte.saturating_sub(bytes_before),
            advanced_to,
            loss,
            stale: false,
        }
    }

    /// Removes the oldest `count` messages, and moves `next` past them.
    fn drop_completed(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        self.messages.drain(..count);
        self.forget_retries();
        if !self.is_parked() {
            self.cursor = self.cursor.saturating_sub(count);
        }
        let (first, first_byte) = self
            .messages
            .front()
            .map_or((self.posted_end, self.posted_byte), |front| (front.first, front.first_byte));
        if self.next < first {
            self.next = first;
            self.next_byte = first_byte;
            self.cursor = 0;
        }
    }

    /// What there is progress with has all its retries again. With a scheme that forgets partial
    /// messages only whole ones are progress, or retries would never run out.
    const fn forget_retries(&mut self) {
        self.retries = 0;
        self.rnr_retries = 0;
    }

    /// Moves `acknowledged` to `reached`, which is in the oldest message or at its start.
    fn advance(&mut self, mut reached: Sequence) -> Option<Sequence> {
        if reached > self.next {
            if self.keeps_partial_messages {
                // It arrived before it was sent again.
                self.next = reached;
                self.next_byte = self.byte_at(reached);
                self.cursor = 0;
            } else {
                reached = self.next;
            }
        }
        if reached <= self.acknowledged {
            return None;
        }
        self.acknowledged = reached;
        self.acknowledged_byte = self.byte_at(reached);
        Some(reached)
    }

    /// Payload before `sequence`, which is in the oldest message or at its start (bytes).
    fn byte_at(&self, sequence: Sequence) -> u64 {
        self.messages
            .front()
            .map_or(self.posted_byte, |front| front.byte_at(sequence, self.segmentation))
    }

    fn note_progress(&mut self, now: SimTime) {
        if self.keeps_partial_messages {
            self.forget_retries();
        }
        if self.awaited_response.is_some_and(|response| self.acknowledged > response) {
            self.awaited_response = None;
        }
        if self.is_parked() {
            return;
        }
        if self.acknowledged < self.next {
            self.restart_timer(now);
        } else {
            self.deadline = SimTime::NEVER;
        }
    }
}

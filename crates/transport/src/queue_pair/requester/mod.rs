//! The sending half of a queue pair: messages become packets, acknowledgements complete them.
//!
//! Three positions move through the sequence numbers: `acknowledged` <= `next` <= `sent_end`.
//! A recovery moves `next` back and everything from there is sent again; what a packet looks like
//! depends only on its message and its sequence number.

mod ack_timer;
mod read_limit;
mod resend;
mod resumption;
mod retries;
mod selective;
mod send_rules;
mod send_window;
mod standing;

use std::collections::VecDeque;

use rocelab_units::SimTime;

use self::ack_timer::AckTimer;
use self::read_limit::ReadLimit;
pub(super) use self::resend::{NotReady, Refused, TimedOut};
use self::resumption::Resumption;
use self::retries::Retries;
use self::send_rules::SendRules;
use self::send_window::SendWindow;
use super::message::Message;
use crate::recovery::{Arrivals, Reliability};
use crate::sequence::{MAX_OUTSTANDING, Sequence, expand, first_sequence};
use crate::{Packet, QueuePairConfig, WorkRequest};

/// The requester's state.
///
/// The fields stand so that the window fills one cache line of a [`QueuePair`](super::QueuePair); what an
/// ordinary packet does not touch is at the beginning.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Requester {
    resumption: Resumption,
    timer: AckTimer,
    /// Posted and not completed, oldest first.
    messages: VecDeque<Message>,
    reliability: Box<dyn Reliability>,
    window: SendWindow,
    rules: SendRules,
    /// Only where nothing is repeated but what is missing.
    arrivals: Option<Box<Arrivals>>,
    reads: ReadLimit,
    dest_qp: u32,
    retries: Retries,
}

rocelab_state::state!(Requester {
    values: messages, window, resumption;
    states: timer, reads, retries, arrivals;
    kept: rules, dest_qp, reliability
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
    /// Where its window is within it (bytes).
    #[cfg(test)]
    pub(super) const WINDOW_OFFSET: usize = core::mem::offset_of!(Self, window);

    pub(super) fn new(config: &QueuePairConfig) -> Self {
        let first = first_sequence(config.initial_psn);
        let reliability = config.profile.recovery.reliability();
        let profile = &config.profile;
        Self {
            resumption: Resumption::new(first),
            timer: AckTimer::new(profile.ack_timeout.duration()),
            messages: VecDeque::new(),
            window: SendWindow::new(first),
            rules: SendRules::new(profile, &*reliability),
            arrivals: reliability.arrivals(first, profile.timeouts),
            reliability,
            reads: ReadLimit::new(profile.max_rd_atomic),
            dest_qp: config.dest_qp,
            retries: Retries::new(profile.retry_count, profile.rnr_retry),
        }
    }

    pub(super) fn post(&mut self, work: &WorkRequest) {
        let message = Message::new(
            work,
            self.window.posted_end,
            self.window.posted_byte,
            self.rules.segmentation,
        );
        self.window.posted_end = message.end();
        self.window.posted_byte += u64::from(message.length);
        self.messages.push_back(message);
    }

    /// Whether a packet may leave with `window` bytes of unacknowledged payload allowed.
    #[inline]
    pub(super) fn can_send(&self, window: u64) -> bool {
        let Some(message) = self.messages.get(self.window.cursor) else { return false };
        self.bytes_in_flight() < window
            && self.window.packets_in_flight() < self.rules.max_outstanding
            && (self.rules.keeps_partial_messages
                || self.window.next - self.oldest_needed() < MAX_OUTSTANDING)
            && (!message.operation.awaits_response() || self.may_request(message))
    }

    /// Whether one more READ or atomic operation may be in flight. The sequence numbers of a READ's
    /// response must not get mixed up with those of what is in flight already.
    fn may_request(&self, message: &Message) -> bool {
        let is_counted = self.is_selective() && self.window.repeats();
        is_counted
            || self.reads.has_room()
                && message.after(self.window.next) - self.oldest_needed() <= MAX_OUTSTANDING
    }

    /// The next packet; only if [`can_send`](Self::can_send). With a `window` every packet asks for
    /// an acknowledgement: if the last one that was sent before the window was full did not, or the
    /// window shrank behind it, nothing would open it again.
    #[inline]
    pub(super) fn take(&mut self, now: SimTime, window: u64) -> Option<Request> {
        if self.is_selective() {
            return self.take_selectively(now);
        }
        let message = self.messages.get(self.window.cursor)?;
        let sequence = self.window.next;
        let after = message.after(sequence);
        let packet = message.packet(sequence, self.dest_qp, self.rules.segmentation);
        let ack_req = window != u64::MAX
            || after == message.end()
            || self.rules.is_ack_due(message.index(sequence))
            || self.rules.asks_when_full
                && after - self.window.acknowledged >= self.rules.max_outstanding;

        self.window.next = after;
        self.window.next_byte = message.byte_at(after, self.rules.segmentation);
        if after == message.end() {
            self.window.cursor += 1;
        }
        self.reads.count(message.operation.awaits_response());
        let repeated = sequence < self.window.sent_end;
        self.window.sent_end = self.window.sent_end.max(after);
        if !self.timer.is_running() {
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
        let end = expand(psn, self.window.acknowledged) + 1;
        if self.is_selective() {
            return self.acknowledge_selectively(now, end, None, complete);
        }
        if end <= self.window.acknowledged || end > self.window.sent_end {
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
        let sequence = expand(packet.psn(), self.window.acknowledged);
        let stale = Progress { stale: true, ..Progress::default() };
        if sequence < self.window.acknowledged || sequence >= self.window.next {
            return stale;
        }
        let mut progress = self.acknowledge_before(now, sequence, &mut complete);
        if progress.loss || self.window.acknowledged != sequence {
            return progress;
        }
        let Some(oldest) = self.messages.front() else { return stale };
        let offset = self.rules.segmentation.offset(oldest.index(sequence));
        if !self.is_answer(oldest, packet, oldest.length - offset) {
            return stale;
        }
        accept(oldest.local_address.wrapping_add(u64::from(offset)));
        let end = oldest.end();
        self.window.acknowledged = sequence + 1;
        self.window.acknowledged_byte =
            oldest.byte_at(self.window.acknowledged, self.rules.segmentation);
        if self.window.acknowledged == end {
            complete(oldest, packet.atomic_ack_eth().map_or(0, |ack| ack.original_remote_data));
            // After going back to it, it is not counted until it is requested again.
            self.reads.answer(u32::from(self.window.cursor > 0));
            self.drop_completed(1);
        }
        self.note_progress(now);
        progress.advanced_to = Some(self.window.acknowledged);
        progress
    }

    /// Whether a response is what `message` waits for, of which `remaining` bytes are to come.
    fn is_answer(&self, message: &Message, packet: &Packet, remaining: u32) -> bool {
        if message.operation.is_read() {
            packet.opcode().is_rdma_read_response()
                && packet.payload_len() == self.rules.segmentation.payload(remaining)
        } else {
            message.operation.is_atomic() && packet.opcode().has_atomic_ack_eth()
        }
    }

    /// Everything that was sent is done with: nobody will acknowledge it.
    pub(super) fn settle_sent(&mut self, now: SimTime, complete: impl FnMut(&Message, u64)) {
        self.acknowledge_before(now, self.window.next, complete);
        self.timer.stop();
    }

    /// The message whose packet at `sequence` was just [taken](Self::take).
    pub(super) fn message_of(&self, sequence: Sequence) -> Option<&Message> {
        let holds = |message: &&Message| message.first <= sequence && sequence < message.end();
        let newest = self.window.cursor.min(self.messages.len().saturating_sub(1));
        self.messages.range(..=newest).rev().find(holds)
    }

    /// How far into its message the payload of a packet is (bytes).
    pub(super) const fn offset_of(&self, message: &Message, sequence: Sequence) -> u64 {
        self.rules.segmentation.offset(message.index(sequence)) as u64
    }

    /// Takes out all messages, oldest first: the queue pair has failed.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Message> {
        self.timer.stop();
        self.window.give_up();
        self.messages.drain(..)
    }

    /// When the local ACK timeout expires.
    #[inline]
    pub(super) const fn deadline(&self) -> SimTime {
        self.timer.deadline()
    }

    /// Payload sent and not acknowledged; that of READs counts from the request on (bytes).
    #[inline]
    pub(super) const fn bytes_in_flight(&self) -> u64 {
        self.window.bytes_in_flight()
    }

    /// Payload before the oldest packet that is not acknowledged, and before the next to send
    /// (bytes).
    pub(super) const fn positions(&self) -> (u64, u64) {
        (self.window.acknowledged_byte, self.window.next_byte)
    }

    /// Payload posted and not acknowledged (bytes).
    pub(super) const fn bytes_outstanding(&self) -> u64 {
        self.window.bytes_outstanding()
    }

    /// Messages posted and not completed.
    pub(super) fn messages_outstanding(&self) -> usize {
        self.messages.len()
    }

    /// Timeouts in a row.
    pub(super) const fn retries(&self) -> u8 {
        self.retries.timeouts()
    }

    /// PSNs of the oldest packet that is not acknowledged and of the next to send.
    pub(super) const fn window_edges(&self) -> (Sequence, Sequence) {
        (self.window.acknowledged, self.window.next)
    }

    /// The oldest packet that may have to be sent again.
    #[inline]
    fn oldest_needed(&self) -> Sequence {
        if self.rules.keeps_partial_messages {
            return self.window.acknowledged;
        }
        self.messages.front().map_or(self.window.acknowledged, |front| front.first)
    }

    /// Everything before `end` arrived, but for READ responses that did not.
    fn acknowledge_before(
        &mut self,
        now: SimTime,
        end: Sequence,
        mut complete: impl FnMut(&Message, u64),
    ) -> Progress {
        let bytes_before = self.window.acknowledged_byte;
        let mut reached = end;
        let mut missing_response = None;
        let mut completed = 0;
        for message in &self.messages {
            if message.operation.awaits_response() {
                let expected = self.window.acknowledged.max(message.first);
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
            bytes: self.window.acknowledged_byte.saturating_sub(bytes_before),
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
        self.retries.forget();
        if !self.window.is_parked() {
            self.window.cursor = self.window.cursor.saturating_sub(count);
        }
        let (first, first_byte) = self
            .messages
            .front()
            .map_or((self.window.posted_end, self.window.posted_byte), |front| {
                (front.first, front.first_byte)
            });
        if self.window.next < first {
            self.window.next = first;
            self.window.next_byte = first_byte;
            self.window.cursor = 0;
        }
    }

    /// Moves `acknowledged` to `reached`, which is in the oldest message or at its start.
    fn advance(&mut self, mut reached: Sequence) -> Option<Sequence> {
        if reached > self.window.next {
            if self.rules.keeps_partial_messages {
                // It arrived before it was sent again.
                self.window.next = reached;
                self.window.next_byte = self.byte_at(reached);
                self.window.cursor = 0;
            } else {
                reached = self.window.next;
            }
        }
        if reached <= self.window.acknowledged {
            return None;
        }
        self.window.acknowledged = reached;
        self.window.acknowledged_byte = self.byte_at(reached);
        Some(reached)
    }

    /// Payload before `sequence`, which is in the oldest message or at its start (bytes).
    fn byte_at(&self, sequence: Sequence) -> u64 {
        self.messages.front().map_or(self.window.posted_byte, |front| {
            front.byte_at(sequence, self.rules.segmentation)
        })
    }

    /// What there is progress with has all its retries again. With a scheme that forgets partial
    /// messages only whole ones are progress, or retries would never run out.
    fn note_progress(&mut self, now: SimTime) {
        if self.rules.keeps_partial_messages {
            self.retries.forget();
        }
        self.resumption.note_acknowledged(self.window.acknowledged);
        if self.window.is_parked() {
            return;
        }
        if self.window.acknowledged < self.window.next {
            self.restart_timer(now);
        } else {
            self.timer.stop();
        }
    }
}

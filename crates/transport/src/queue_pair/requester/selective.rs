//! A requester that repeats only what is missing.

use rocelab_units::SimTime;
use rocelab_wire::Sack;

use super::{Message, Packet, Progress, Request, Requester};
use crate::recovery::Arrivals;
use crate::sequence::{Sequence, expand};

impl Requester {
    /// Whether only what is missing is repeated.
    #[inline]
    pub(super) const fn is_selective(&self) -> bool {
        self.arrivals.is_some()
    }

    /// The next packet: what is lost first, then what is new. A READ is requested up to the next
    /// response that is here already.
    #[cold]
    pub(super) fn take_selectively(&mut self, now: SimTime) -> Option<Request> {
        let message = self.messages.get(self.window.cursor)?;
        let arrivals = self.arrivals.as_ref()?;
        let sequence = self.window.next;
        let repeated = self.window.repeats();
        let until = if message.operation.is_read() && repeated {
            let awaiting = self.awaiting(message);
            let is_missing = |&packet: &Sequence| !arrivals.is_settled(packet, awaiting);
            sequence + (sequence..message.end()).take_while(is_missing).count().max(1) as u64
        } else {
            message.after(sequence)
        };
        let packet = message.packet_before(sequence, until, self.dest_qp, self.rules.segmentation);
        self.reads
            .count(message.operation.awaits_response() && sequence == message.first && !repeated);
        if !self.timer.is_running() {
            self.restart_timer(now);
        }
        self.window.sent_end = self.window.sent_end.max(until);
        if let Some(arrivals) = self.arrivals.as_mut().filter(|_| repeated) {
            arrivals.note_resent(until);
        }
        self.seek(until);
        self.skip_settled();
        Some(Request { packet: packet.with_ack_req(true), sequence, repeated })
    }

    /// An ACK of everything up to and including `psn`, with what arrived behind it.
    pub(in crate::queue_pair) fn on_selective_ack(
        &mut self,
        now: SimTime,
        psn: u32,
        sack: &Sack,
        complete: impl FnMut(&Message, u64),
    ) -> Progress {
        let end = expand(psn, self.window.acknowledged) + 1;
        self.acknowledge_selectively(now, end, Some(sack), complete)
    }

    /// An acknowledgement of everything before `end`, with what arrived behind it.
    pub(super) fn acknowledge_selectively(
        &mut self,
        now: SimTime,
        end: Sequence,
        sack: Option<&Sack>,
        complete: impl FnMut(&Message, u64),
    ) -> Progress {
        let Some(arrivals) = self.arrivals.as_mut() else { return Progress::default() };
        if end > self.window.sent_end || end <= self.window.acknowledged && sack.is_none() {
            return Progress { stale: true, ..Progress::default() };
        }
        arrivals.note_executed(end);
        if let Some(sack) = sack {
            arrivals.note_sack(sack, self.window.sent_end);
        }
        self.settle(now, complete)
    }

    /// A READ response or the result of an atomic operation; in any order.
    pub(super) fn on_response_selectively(
        &mut self,
        now: SimTime,
        packet: &Packet,
        complete: impl FnMut(&Message, u64),
        accept: impl FnOnce(u64),
    ) -> Progress {
        let stale = Progress { stale: true, ..Progress::default() };
        let sequence = expand(packet.psn(), self.window.acknowledged);
        if sequence < self.window.acknowledged || sequence >= self.window.sent_end {
            return stale;
        }
        let place = self.messages.partition_point(|message| message.end() <= sequence);
        let Some(message) = self.messages.get(place) else { return stale };
        let offset = self.rules.segmentation.offset(message.index(sequence));
        let is_answer = self.is_answer(message, packet, message.length - offset);
        let Some(arrivals) = self.arrivals.as_mut().filter(|_| is_answer) else { return stale };
        if arrivals.is_answered(sequence) {
            return stale;
        }
        accept(message.local_address.wrapping_add(u64::from(offset)));
        arrivals.note_executed(sequence);
        let result = packet.atomic_ack_eth().map(|ack| ack.original_remote_data);
        arrivals.note_response(sequence, result);
        // The READ goes on, though what is before it may be missing for long.
        self.note_progress(now);
        self.settle(now, complete)
    }

    /// The timer expired, or the wait that an RNR NAK asked for, for `lost`: goes back to it.
    pub(super) fn go_back_selectively(&mut self, lost: Sequence, timeout: bool) {
        let Some(arrivals) = self.arrivals.as_mut() else { return };
        if timeout {
            arrivals.lose_all(self.window.acknowledged, self.window.sent_end);
        }
        arrivals.lose(lost);
        self.timer.stop();
        self.seek(lost);
        self.skip_settled();
    }

    /// Completes what is done with, and goes back to what is lost.
    fn settle(&mut self, now: SimTime, mut complete: impl FnMut(&Message, u64)) -> Progress {
        let Some(arrivals) = self.arrivals.as_ref() else { return Progress::default() };
        let bytes_before = self.window.acknowledged_byte;
        let mut reached = self.window.acknowledged;
        let mut completed = 0;
        let mut answered = 0;
        for message in &self.messages {
            reached = end_of_settled(message, reached, arrivals);
            if reached < message.end() {
                break;
            }
            complete(message, arrivals.result(message.first));
            completed += 1;
            answered += u32::from(message.operation.awaits_response());
        }
        let advanced = reached > self.window.acknowledged;
        self.reads.answer(answered);
        self.drop_completed(completed);
        self.window.acknowledged = reached;
        self.window.acknowledged_byte = self.byte_at(reached);
        let goes_on = self
            .messages
            .front()
            .is_some_and(|message| message.operation.awaits_response() && message.first < reached);
        if let Some(arrivals) = self.arrivals.as_mut().filter(|_| advanced) {
            arrivals.forget_before(reached);
            if goes_on {
                arrivals.note_held(reached);
            }
        }
        if !self.window.is_parked() {
            if self.window.next < reached {
                self.seek(reached);
            }
            // What was to be repeated next may be known by now to have arrived.
            self.skip_settled();
        }
        if advanced {
            self.note_progress(now);
        }
        Progress {
            bytes: self.window.acknowledged_byte.saturating_sub(bytes_before),
            advanced_to: advanced.then_some(reached),
            loss: self.recover(),
            stale: false,
        }
    }

    /// Goes back to the first packet that is lost and was not sent again; whether that begins a
    /// recovery.
    fn recover(&mut self) -> bool {
        let Some(arrivals) = self.arrivals.as_ref().filter(|_| !self.window.is_parked()) else {
            return false;
        };
        let first = arrivals.resent_below().max(self.window.acknowledged);
        let before = arrivals.lost_below().min(self.window.next);
        let Some(lost) = self.first_missing(first, before) else { return false };
        self.seek(lost);
        let (acknowledged, sent_end) = (self.window.acknowledged, self.window.sent_end);
        self.arrivals.as_mut().is_some_and(|all| all.begin_recovery(acknowledged, sent_end))
    }

    /// Moves `next` over what arrived, and, where nothing more is lost, to what is new.
    fn skip_settled(&mut self) {
        if !self.window.repeats() {
            return;
        }
        let Some(arrivals) = self.arrivals.as_ref() else { return };
        let missing =
            self.first_missing(self.window.next, arrivals.lost_below().min(self.window.sent_end));
        self.seek(missing.unwrap_or(self.window.sent_end));
    }

    /// The first packet from `first` to before `before` that is not known to have arrived.
    fn first_missing(&self, first: Sequence, before: Sequence) -> Option<Sequence> {
        let arrivals = self.arrivals.as_ref()?;
        let mut place = self.messages.partition_point(|message| message.end() <= first);
        (first..before).find(|&sequence| {
            while self.messages.get(place).is_some_and(|message| message.end() <= sequence) {
                place += 1;
            }
            let message = self.messages.get(place);
            message.is_some_and(|message| !arrivals.is_settled(sequence, self.awaiting(message)))
        })
    }

    /// The first response that a message still awaits, if it awaits any.
    fn awaiting(&self, message: &Message) -> Option<Sequence> {
        let first = message.first.max(self.window.acknowledged);
        message.operation.awaits_response().then_some(first)
    }

    /// Puts `next` to a packet of a posted message, or after the last.
    fn seek(&mut self, sequence: Sequence) {
        self.window.cursor = self.messages.partition_point(|message| message.end() <= sequence);
        self.window.next = sequence;
        self.window.next_byte =
            self.messages.get(self.window.cursor).map_or(self.window.posted_byte, |message| {
                message.byte_at(sequence, self.rules.segmentation)
            });
    }
}

/// How far a message is done with that is the oldest, `from` before: responses come one by one,
/// acknowledgements are for all before them.
fn end_of_settled(message: &Message, from: Sequence, arrivals: &Arrivals) -> Sequence {
    let from = from.max(message.first);
    if !message.operation.awaits_response() {
        return arrivals.executed().clamp(from, message.end());
    }
    let answered = (from..message.end()).take_while(|&packet| arrivals.is_answered(packet));
    from + answered.count() as u64
}

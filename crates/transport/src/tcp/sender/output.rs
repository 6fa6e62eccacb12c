//! What is sent next (RFC 6675, NextSeg).

use rocelab_units::SimTime;
use rocelab_wire::Ecn;

use super::TcpSender;
use super::loss_recovery::Phase;
use crate::tcp::ranges::Range;
use crate::tcp::{TcpFlags, TcpSegment};

/// A segment, and whether any of it was sent before.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Outgoing {
    pub(in crate::tcp) segment: TcpSegment,
    pub(in crate::tcp) again: bool,
}

/// Why a part of the stream is sent, in the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It is the first that is missing as fast recovery begins.
    First,
    /// It is lost.
    Lost,
    /// It was never sent.
    New,
    /// It might be lost, and there is nothing else to send in fast recovery.
    Suspect,
    /// It is the end of the data, which else would be left to the timer: once a fast recovery.
    Rescue,
}

impl TcpSender {
    /// The next segment that the windows allow.
    pub(in crate::tcp) fn poll_transmit(&mut self, now: SimTime) -> Option<Outgoing> {
        if self.sequence.una == self.sequence.posted {
            return None;
        }
        let (reason, part) = self.next_part()?;
        // Only the first segment of a fast recovery goes whatever the window says.
        let in_flight = self.in_flight();
        let fits = in_flight == 0 || in_flight + part.len() <= self.control.window();
        (fits || reason == Reason::First).then(|| self.send(now, reason, part))
    }

    /// Whether the receive window leaves it something to send.
    pub(in crate::tcp) fn has_part(&self) -> bool {
        self.next_part().is_some()
    }

    fn next_part(&self) -> Option<(Reason, Range)> {
        let Phase::Recovery { first_due, rescued, .. } = self.recovery.phase else {
            let lost = if self.recovery.is_open() { None } else { self.lost_part() };
            return lost.or_else(|| self.new_part());
        };
        if first_due {
            let hole = self.recovery.scoreboard.first_hole(self.sequence.una, self.sequence.nxt);
            return Some((Reason::First, self.start_of(hole)));
        }
        self.lost_part()
            .or_else(|| self.new_part())
            .or_else(|| self.suspect_part())
            .or_else(|| if rescued { None } else { self.last_part() })
    }

    fn lost_part(&self) -> Option<(Reason, Range)> {
        let hole = self.recovery.scoreboard.next_lost(self.sequence.una, self.sequence.nxt)?;
        Some((Reason::Lost, self.start_of(hole)))
    }

    /// As far as the receive window goes. A short segment that is not the last waits for more
    /// room, unless nothing is in flight that could make it.
    fn new_part(&self) -> Option<(Reason, Range)> {
        let end = self.sequence.sendable_end().min(self.sequence.nxt + self.mss);
        let full = end == self.sequence.posted || end == self.sequence.nxt + self.mss;
        let sends = self.sequence.nxt < end && (full || self.sequence.una == self.sequence.nxt);
        sends.then_some((Reason::New, Range::new(self.sequence.nxt, end)))
    }

    fn suspect_part(&self) -> Option<(Reason, Range)> {
        let hole = self.recovery.scoreboard.next_suspect(self.sequence.una, self.sequence.nxt)?;
        Some((Reason::Suspect, self.start_of(hole)))
    }

    fn last_part(&self) -> Option<(Reason, Range)> {
        let tail = self.recovery.scoreboard.tail(self.sequence.una, self.sequence.nxt)?;
        let start = tail.start.max(tail.end.saturating_sub(self.mss));
        Some((Reason::Rescue, Range::new(start, tail.end)))
    }

    fn start_of(&self, hole: Range) -> Range {
        Range::new(hole.start, hole.end.min(hole.start + self.mss))
    }

    fn send(&mut self, now: SimTime, reason: Reason, part: Range) -> Outgoing {
        if reason == Reason::New {
            let segment = self.send_new(now, part);
            return Outgoing { segment, again: false };
        }
        self.recovery.note_resent(reason == Reason::Rescue);
        if reason == Reason::First {
            self.timer.stop(); // The timer starts anew with it.
        }
        if reason != Reason::Rescue {
            self.recovery.scoreboard.resent(part.end);
        }
        // RFC 3168: what is sent again is not ECN-capable.
        Outgoing { segment: self.segment(now, part, Ecn::NotEct), again: true }
    }

    fn send_new(&mut self, now: SimTime, part: Range) -> TcpSegment {
        if self.sequence.una == self.sequence.nxt && self.sequence.nxt > 0 {
            // RFC 5681: after a pause longer than the timeout the window is no clue any more.
            let long = self.idle.since_sent(now) > self.rtt.timeout();
            self.control.on_restart(self.idle.duration(now), long);
        }
        self.sequence.nxt = part.end;
        if self.recovery.is_open() {
            self.timer.measure(part.end, now);
        }
        if !self.ecn {
            return self.segment(now, part, Ecn::NotEct);
        }
        let cwr = self.reduction.take_cwr();
        self.segment(now, part, Ecn::Ect0).with_flags(TcpFlags::CWR, cwr)
    }

    fn segment(&mut self, now: SimTime, part: Range, codepoint: Ecn) -> TcpSegment {
        self.idle.note_sent(now);
        if !self.timer.is_running() {
            self.timer.restart(now, self.rtt.timeout());
        }
        // Nothing comes the other way: the number of its first byte is awaited for ever.
        self.template
            .segment(part.start, 0, codepoint)
            .with_payload_len(u16::try_from(part.len()).unwrap_or(u16::MAX))
            .with_flags(TcpFlags::PSH, part.end == self.sequence.posted)
    }
}

//! The end that receives data.

use std::collections::VecDeque;

use rocelab_units::{Duration, SimTime};
use rocelab_wire::Ecn;

use super::congestion_control::EcnEcho;
use super::ranges::{Range, Ranges};
use super::recent::Recent;
use super::sequence::{Numbering, Position};
use super::{SackBlocks, TcpConnectionConfig, TcpCounters, TcpFlags, TcpHostConfig, TcpSegment};

/// The receiving end of a connection. Positions count payload from the start.
#[derive(Debug)]
pub struct TcpReceiver {
    numbering: Numbering,
    peer: u32,
    priority: u8,
    window: u32,
    /// RCV.NXT: all before it was delivered.
    next: Position,
    /// What arrived behind it.
    arrived: Ranges,
    recent: Recent,
    /// How marks are echoed; none without ECN.
    echo: Option<EcnEcho>,
    /// Whether acknowledgements carry ECE now.
    ece: bool,
    delay: Duration,
    /// An acknowledgement goes at once for this much unacknowledged payload (bytes).
    ack_bytes: u64,
    /// Segments that are still to be acknowledged each.
    quick_acks: u16,
    /// Payload delivered since the last acknowledgement (bytes).
    unacknowledged: u64,
    /// When it must be acknowledged.
    deadline: SimTime,
    /// An acknowledgement goes now.
    due: bool,
    /// Before it those for what came before changes of marks: their positions, ascending, and ECE.
    /// More than one only where the host has too much waiting to make them.
    due_before: VecDeque<(Position, bool)>,
    /// What the application waits for: id, length and end.
    expected: VecDeque<(u64, u64, Position)>,
    expected_end: Position,
}

rocelab_state::state!(TcpReceiver {
    values: next, arrived, recent, ece, quick_acks, unacknowledged, deadline, due, due_before,
        expected, expected_end;
    kept: numbering, peer, priority, window, echo, delay, ack_bytes
});

impl TcpReceiver {
    pub(super) fn new(config: &TcpConnectionConfig, host: &TcpHostConfig) -> Self {
        let parameters = &host.parameters;
        let mss = u64::from(parameters.mss(host.ip_header_len).max(1));
        Self {
            numbering: Numbering::new(config.initial_sequence),
            peer: config.peer,
            priority: host.parameters.priority,
            window: parameters.window(),
            next: 0,
            arrived: Ranges::default(),
            recent: Recent::default(),
            echo: parameters.uses_ecn().then(|| parameters.congestion_control.echo()),
            ece: false,
            delay: parameters.delayed_ack,
            ack_bytes: u64::from(parameters.segments_per_ack) * mss,
            quick_acks: parameters.quick_acks,
            unacknowledged: 0,
            deadline: SimTime::NEVER,
            due: false,
            due_before: VecDeque::new(),
            expected: VecDeque::new(),
            expected_end: 0,
        }
    }

    /// One to which all of `delivered` bytes came before, and which only answers what comes again,
    /// without marks.
    pub(super) fn after(
        config: &TcpConnectionConfig,
        host: &TcpHostConfig,
        delivered: Position,
    ) -> Self {
        // Nobody reduces a window any more, and what was echoed before is forgotten.
        Self { next: delivered, expected_end: delivered, echo: None, ..Self::new(config, host) }
    }

    /// Whether it may tell of marks.
    pub(super) const fn echoes(&self) -> bool {
        self.echo.is_some()
    }

    /// Whether all that arrived has been acknowledged.
    pub(super) fn has_answered(&self) -> bool {
        !self.due && self.due_before.is_empty() && self.unacknowledged == 0
    }

    /// Payload delivered to the application, in order (bytes).
    pub const fn delivered(&self) -> u64 {
        self.next
    }

    /// Whether a part of the stream is here, in order or not (bytes from its start).
    pub fn has(&self, from: u64, to: u64) -> bool {
        to <= self.next || self.arrived.at(from.max(self.next)).is_some_and(|range| range.end >= to)
    }

    /// Payload that waits for an earlier byte (bytes).
    pub const fn waiting(&self) -> u64 {
        self.arrived.bytes()
    }

    /// The application waits for so many further bytes.
    pub(super) fn expect(&mut self, id: u64, bytes: u64) {
        self.expected_end = self.expected_end.saturating_add(bytes);
        self.expected.push_back((id, bytes, self.expected_end));
    }

    /// The next bytes that were waited for and are all there: id and length.
    pub(super) fn poll_done(&mut self) -> Option<(u64, u64)> {
        let (id, bytes, _) = self.expected.pop_front_if(|&mut (.., end)| end <= self.next)?;
        Some((id, bytes))
    }

    /// A segment with payload arrived.
    pub(super) fn receive(
        &mut self,
        now: SimTime,
        segment: &TcpSegment,
        counters: &mut TcpCounters,
    ) {
        let Some(start) = self.numbering.position(segment.seq, self.next) else {
            counters.discarded += 1;
            return;
        };
        let part = Range::new(start, start + u64::from(segment.payload_len));
        if part.end > self.next + u64::from(self.window) {
            counters.discarded += 1;
            self.due = true; // What is outside of the window is answered: see RFC 9293.
            return;
        }
        self.hear_marks(segment, counters);
        if part.end <= self.next {
            counters.duplicates += 1;
            self.due = true;
        } else if part.start > self.next {
            self.keep(part, counters);
        } else {
            self.deliver(now, part.end, counters);
        }
    }

    /// When the delayed acknowledgement is due.
    pub(super) const fn poll_timeout(&self) -> SimTime {
        self.deadline
    }

    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        if now >= self.deadline {
            self.deadline = SimTime::NEVER;
            self.due = true;
        }
    }

    /// The next acknowledgement that is due, with its SACK blocks.
    pub(super) fn poll_transmit(&mut self) -> Option<(TcpSegment, SackBlocks)> {
        if let Some((position, ece)) = self.due_before.pop_front() {
            self.unacknowledged = self.next - position;
            return Some((self.acknowledgement(position, ece), SackBlocks::default()));
        }
        if !core::mem::take(&mut self.due) {
            return None;
        }
        self.unacknowledged = 0;
        self.deadline = SimTime::NEVER;
        let blocks = self.recent.blocks(&self.arrived, self.numbering);
        let segment = self.acknowledgement(self.next, self.ece).with_sack_count(blocks.count());
        Some((segment, blocks))
    }

    fn acknowledgement(&self, position: Position, ece: bool) -> TcpSegment {
        let (seq, ack) = (self.numbering.wire(0), self.numbering.wire(position));
        // RFC 3168: acknowledgements without data are not ECN-capable.
        TcpSegment::new(self.peer, seq, ack, self.window)
            .with_class(self.priority, Ecn::NotEct)
            .with_flags(TcpFlags::ECE, ece)
    }

    fn hear_marks(&mut self, segment: &TcpSegment, counters: &mut TcpCounters) {
        let ce = segment.is_ce();
        counters.ce_received += u64::from(ce);
        match self.echo {
            None => {}
            Some(EcnEcho::UntilCwr) => {
                self.ece &= !segment.flags.has(TcpFlags::CWR);
                self.ece |= ce;
            }
            // RFC 8257 section 3.2: a change is told at once, and what came before it apart.
            Some(EcnEcho::EachSegment) if ce != self.ece => {
                if self.next > self.told_apart() {
                    self.due_before.push_back((self.next, self.ece));
                }
                self.ece = ce;
                self.due = true;
            }
            Some(EcnEcho::EachSegment) => {}
        }
    }

    /// All before it is acknowledged, or will be by what is [due before](Self::due_before).
    fn told_apart(&self) -> Position {
        let acknowledged = self.next - self.unacknowledged;
        self.due_before.back().map_or(acknowledged, |&(position, _)| position)
    }

    /// Out of order: kept, and told at once (RFC 5681).
    fn keep(&mut self, part: Range, counters: &mut TcpCounters) {
        let new = self.arrived.insert(part);
        counters.payload_accepted += new;
        if new > 0 {
            counters.out_of_order += 1;
        } else {
            counters.duplicates += 1;
        }
        self.recent.add(part.start, &self.arrived);
        self.due = true;
    }

    /// In order: with what waited for it.
    fn deliver(&mut self, now: SimTime, end: Position, counters: &mut TcpCounters) {
        let before = self.next;
        let fills = !self.arrived.is_empty();
        let waited = self.arrived.bytes();
        self.next = end;
        // What came may cover several ranges: messages are cut otherwise when they are sent again.
        while let Some(end) = self.arrived.take_first_through(self.next) {
            self.next = self.next.max(end);
        }
        let new = self.next - before;
        counters.payload_delivered += new;
        // Of what is delivered, that which waited counted when it came.
        counters.payload_accepted += new - (waited - self.arrived.bytes());
        self.unacknowledged += new;
        let quick = self.quick_acks > 0;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        if fills || quick || self.unacknowledged >= self.ack_bytes || self.delay == Duration::ZERO {
            self.due = true;
        } else if self.deadline == SimTime::NEVER {
            self.deadline = now.saturating_add(self.delay);
        }
    }
}

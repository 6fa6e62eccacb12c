//! The end that receives data.

mod delayed_ack;
mod expected;
mod mark_echo;
mod reassembly;

use rocelab_units::SimTime;
use rocelab_wire::Ecn;

use self::delayed_ack::DelayedAck;
use self::expected::Expected;
use self::mark_echo::MarkEcho;
use self::reassembly::Reassembly;
use super::ranges::Range;
use super::segment_template::SegmentTemplate;
use super::sequence::Position;
use super::{SackBlocks, TcpConnectionConfig, TcpCounters, TcpFlags, TcpHostConfig, TcpSegment};

/// The receiving end of a connection. Positions count payload from the start.
#[derive(Debug)]
pub struct TcpReceiver {
    template: SegmentTemplate,
    reassembly: Reassembly,
    echo: MarkEcho,
    acks: DelayedAck,
    expected: Expected,
}

rocelab_state::state!(TcpReceiver {
    values: reassembly;
    states: echo, acks, expected;
    kept: template
});

impl TcpReceiver {
    pub(super) fn new(config: &TcpConnectionConfig, host: &TcpHostConfig) -> Self {
        let parameters = &host.parameters;
        let rule = parameters.uses_ecn().then(|| parameters.congestion_control.echo());
        Self {
            template: SegmentTemplate::new(config, host),
            reassembly: Reassembly::new(0),
            echo: MarkEcho::new(rule),
            acks: DelayedAck::new(host),
            expected: Expected::default(),
        }
    }

    /// One to which all of `delivered` bytes came before, and which only answers what comes again,
    /// without marks.
    pub(super) fn after(
        config: &TcpConnectionConfig,
        host: &TcpHostConfig,
        delivered: Position,
    ) -> Self {
        Self {
            reassembly: Reassembly::new(delivered),
            expected: Expected::from(delivered),
            // Nobody reduces a window any more, and what was echoed before is forgotten.
            echo: MarkEcho::new(None),
            ..Self::new(config, host)
        }
    }

    /// Whether it may tell of marks.
    pub(super) const fn echoes(&self) -> bool {
        self.echo.echoes()
    }

    /// Whether all that arrived has been acknowledged.
    pub(super) fn has_answered(&self) -> bool {
        self.acks.is_settled()
    }

    /// Payload delivered to the application, in order (bytes).
    pub const fn delivered(&self) -> u64 {
        self.reassembly.next()
    }

    /// Whether a part of the stream is here, in order or not (bytes from its start).
    pub fn has(&self, from: u64, to: u64) -> bool {
        self.reassembly.has(from, to)
    }

    /// Payload that waits for an earlier byte (bytes).
    pub const fn waiting(&self) -> u64 {
        self.reassembly.waiting()
    }

    /// The application waits for so many further bytes.
    pub(super) fn expect(&mut self, id: u64, bytes: u64) {
        self.expected.add(id, bytes);
    }

    /// The next bytes that were waited for and are all there: id and length.
    pub(super) fn poll_done(&mut self) -> Option<(u64, u64)> {
        self.expected.poll_done(self.reassembly.next())
    }

    /// A segment with payload arrived.
    pub(super) fn receive(
        &mut self,
        now: SimTime,
        segment: &TcpSegment,
        counters: &mut TcpCounters,
    ) {
        let next = self.reassembly.next();
        let Some(start) = self.template.numbering.position(segment.seq, next) else {
            counters.discarded += 1;
            return;
        };
        let part = Range::new(start, start + u64::from(segment.payload_len));
        if part.end > next + u64::from(self.template.window) {
            counters.discarded += 1;
            self.acks.owe_now(); // What is outside of the window is answered: see RFC 9293.
            return;
        }
        self.hear_marks(segment, counters);
        if part.end <= next {
            counters.duplicates += 1;
            self.acks.owe_now();
        } else if part.start > next {
            self.keep(part, counters);
        } else {
            self.deliver(now, part.end, counters);
        }
    }

    /// When the delayed acknowledgement is due.
    pub(super) const fn poll_timeout(&self) -> SimTime {
        self.acks.deadline()
    }

    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        self.acks.handle_timeout(now);
    }

    /// The next acknowledgement that is due, with its SACK blocks.
    pub(super) fn poll_transmit(&mut self) -> Option<(TcpSegment, SackBlocks)> {
        let next = self.reassembly.next();
        if let Some((position, ece)) = self.acks.take_apart(next) {
            return Some((self.acknowledgement(position, ece), SackBlocks::default()));
        }
        if !self.acks.take() {
            return None;
        }
        let blocks = self.reassembly.blocks(self.template.numbering);
        let segment = self.acknowledgement(next, self.echo.ece()).with_sack_count(blocks.count());
        Some((segment, blocks))
    }

    fn acknowledgement(&self, position: Position, ece: bool) -> TcpSegment {
        // RFC 3168: acknowledgements without data are not ECN-capable.
        self.template.segment(0, position, Ecn::NotEct).with_flags(TcpFlags::ECE, ece)
    }

    fn hear_marks(&mut self, segment: &TcpSegment, counters: &mut TcpCounters) {
        counters.ce_received += u64::from(segment.is_ce());
        if let Some(ece) = self.echo.hear(segment) {
            self.acks.owe_apart(self.reassembly.next(), ece);
        }
    }

    /// Out of order: kept, and told at once (RFC 5681).
    fn keep(&mut self, part: Range, counters: &mut TcpCounters) {
        let new = self.reassembly.keep(part);
        counters.payload_accepted += new;
        if new > 0 {
            counters.out_of_order += 1;
        } else {
            counters.duplicates += 1;
        }
        self.acks.owe_now();
    }

    /// In order: with what waited for it.
    fn deliver(&mut self, now: SimTime, end: Position, counters: &mut TcpCounters) {
        let delivered = self.reassembly.deliver(end);
        counters.payload_delivered += delivered.new;
        counters.payload_accepted += delivered.accepted;
        self.acks.owe_for(now, delivered.new, delivered.fills);
    }
}

//! What an acknowledgement does.

use rocelab_units::SimTime;

use super::TcpSender;
use super::loss_recovery::Phase;
use crate::tcp::congestion_control::{TcpAck, TcpCongestionKind};
use crate::tcp::ranges::Range;
use crate::tcp::sequence::Position;
use crate::tcp::{SackBlocks, TcpCounters, TcpFlags, TcpSegment};

impl TcpSender {
    /// An acknowledgement arrived.
    pub(in crate::tcp) fn receive(
        &mut self,
        now: SimTime,
        segment: &TcpSegment,
        sack: &SackBlocks,
        counters: &mut TcpCounters,
    ) {
        let acknowledged = self.template.numbering.position(segment.ack, self.sequence.una);
        let Some(acknowledged) = acknowledged.filter(|&position| position <= self.sequence.nxt)
        else {
            counters.discarded += 1;
            return;
        };
        if acknowledged < self.sequence.una {
            return; // It was overtaken, and says nothing new.
        }
        self.sequence.open_window(acknowledged, segment.window);
        let limited = self.is_limited_by_window();
        let acked_bytes = acknowledged - self.sequence.una;
        let sacked_bytes = self.take_in(acknowledged, sack);
        let ece = self.ecn && segment.flags.has(TcpFlags::ECE);
        if acked_bytes > 0 {
            self.advance(now, acknowledged);
            let ack = self.describe(now, acked_bytes, ece, limited);
            self.control.on_ack(&ack);
        } else if sacked_bytes > 0 {
            self.recovery.count_duplicate();
        }
        if ece {
            counters.ece_received += 1;
            self.on_ece(now, counters);
        }
        self.judge(now, counters);
    }

    /// The scoreboard learns of it; returns what was newly acknowledged selectively (bytes).
    fn take_in(&mut self, acknowledged: Position, sack: &SackBlocks) -> u64 {
        let numbering = self.template.numbering;
        let blocks = sack.as_slice().iter().filter_map(|&(left, right)| {
            let start = numbering.position(left, acknowledged)?;
            Some(Range::new(start, numbering.position(right, acknowledged)?))
        });
        self.recovery.scoreboard.update(acknowledged, self.sequence.nxt, blocks, self.mss)
    }

    /// The window's start moves.
    fn advance(&mut self, now: SimTime, acknowledged: Position) {
        self.sequence.una = acknowledged;
        self.recovery.forget_duplicates();
        if let Some(rtt) = self.timer.measured(acknowledged, now) {
            self.rtt.sample(rtt);
        }
        self.restart_timer(now);
        if self.sequence.is_idle() {
            self.idle.begin(now);
        }
    }

    fn describe(&self, now: SimTime, acked_bytes: u64, ece: bool, limited: bool) -> TcpAck {
        let in_recovery = matches!(self.recovery.phase, Phase::Recovery { .. });
        TcpAck {
            now,
            acked_bytes,
            acknowledged: self.sequence.una,
            sent: self.sequence.nxt,
            ece,
            rtt: self.rtt.smoothed(),
            // RFC 3168: an acknowledgement with ECE does not make the window grow.
            grows: limited && !in_recovery && !ece,
            after_timeout: matches!(self.recovery.phase, Phase::Loss { .. }),
        }
    }

    /// Whether the congestion window, and not the lack of data, bounds what is in flight. In slow
    /// start half a window counts as full, as the other half may just have been acknowledged.
    fn is_limited_by_window(&self) -> bool {
        let (window, in_flight) = (self.control.window(), self.in_flight());
        if window < self.control.threshold() {
            2 * in_flight >= window
        } else {
            in_flight + self.mss > window
        }
    }

    /// Congestion was met. Once for a window of data (RFC 3168, RFC 8257), and not
    /// where losses have lowered the window already.
    fn on_ece(&mut self, now: SimTime, counters: &mut TcpCounters) {
        if self.recovery.is_open() && self.sequence.una > self.reduction.end() {
            counters.ecn_reductions += 1;
            self.congested(now, TcpCongestionKind::Ecn);
        }
    }

    /// Whether recovery begins or ends.
    fn judge(&mut self, now: SimTime, counters: &mut TcpCounters) {
        if self.recovery.judge(self.sequence.una) && !self.sequence.is_idle() {
            self.begin_recovery(now, counters);
        }
    }

    /// Fast retransmit. Marks may have lowered the window for the same window of data, and where they
    /// count as losses do, that was it. (Another loss cannot have lowered it: recovery goes on until
    /// the end of the window of data.)
    fn begin_recovery(&mut self, now: SimTime, counters: &mut TcpCounters) {
        counters.fast_retransmits += 1;
        self.losses.fast_retransmits = self.losses.fast_retransmits.wrapping_add(1);
        if self.sequence.una >= self.reduction.end() || self.control.answers_loss_after_marks() {
            self.congested(now, TcpCongestionKind::Loss);
        }
        self.timer.stop_measuring();
        self.recovery.begin(self.sequence.una, self.sequence.nxt);
    }
}

//! The sending end of a flow.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::{TelemetryHeader, TelemetryUnits};

use super::config::Config;
use super::flow::Flow;
use super::packet::{Kind, Packet};
use super::receiver::chunk_start;
use crate::congestion_control::{Ack, CongestionControl, Feedback, Path, arithmetic};

/// A queue pair that sends one flow.
#[derive(Debug)]
pub struct Sender<T> {
    /// The flow, as it started.
    pub(super) flow: Flow,
    /// All before was acknowledged.
    acknowledged: u32,
    /// The first byte of the next packet.
    next: u32,
    /// The largest that `next` has been: what is before is sent again.
    farthest: u32,
    retransmissions: u64,
    /// When the next packet may leave.
    pub(super) next_available: SimTime,
    /// Bytes of the frame that left last.
    last_frame_len: u32,
    rate: Bandwidth,
    line_rate: Bandwidth,
    /// The whole window (bytes); 0 for none.
    full_window: u64,
    /// The window at the present rate; `u64::MAX` for none.
    window: u64,
    pub(super) control: Box<dyn CongestionControl>,
    /// The places of the controller's timers in the order of events.
    pub(super) timer_ties: [Option<T>; 3],
}

// The NIC, which knows the algorithm, sees to the controller.
rocelab_state::state!([T: BorshSerialize + BorshDeserialize] Sender<T> {
    values: acknowledged, next, farthest, retransmissions, next_available, last_frame_len, rate,
        window, timer_ties;
    kept: flow, line_rate, full_window, control
});

/// What an ACK or NACK did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// Whether it covers the last byte.
    pub(super) finishes: bool,
    /// The release of the packet that waits may have moved.
    pub(super) repaced: bool,
}

impl<T: Copy> Sender<T> {
    /// A flow of `size` bytes that starts `now` at the line rate; `window` is 0 for none.
    pub(super) fn new(
        flow: &Flow,
        path: &Path,
        window: u64,
        now: SimTime,
        config: &Config,
    ) -> Self {
        Self {
            flow: *flow,
            acknowledged: 0,
            next: 0,
            farthest: 0,
            retransmissions: 0,
            next_available: now,
            last_frame_len: 0,
            rate: path.line_rate,
            line_rate: path.line_rate,
            full_window: window,
            window: if window == 0 { u64::MAX } else { window },
            control: config.algorithm.build(path),
            timer_ties: [None; 3],
        }
    }

    #[inline]
    pub(super) const fn has_bytes_left(&self) -> bool {
        self.next < self.flow.size
    }

    #[inline]
    pub(super) const fn is_finished(&self) -> bool {
        self.acknowledged >= self.flow.size
    }

    /// Payload under way fills the window. What is sent again after it was acknowledged counts
    /// as more than any window, as in the simulator.
    #[inline]
    pub(super) const fn is_window_bound(&self) -> bool {
        (self.next as u64).wrapping_sub(self.acknowledged as u64) >= self.window
    }

    /// Packets sent again.
    pub const fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    /// Payload that is acknowledged (bytes).
    pub const fn acknowledged(&self) -> u64 {
        self.acknowledged as u64
    }

    /// Payload sent and not acknowledged; none while what was acknowledged is sent again (bytes).
    pub const fn in_flight(&self) -> u64 {
        (self.next as u64).saturating_sub(self.acknowledged as u64)
    }

    /// The window at the present rate (bytes), if there is one.
    pub const fn window(&self) -> Option<u64> {
        match self.window {
            u64::MAX => None,
            window => Some(window),
        }
    }

    /// The present rate.
    pub const fn rate(&self) -> Bandwidth {
        self.rate
    }

    /// The next packet, which begins to leave now.
    #[inline]
    pub(super) fn transmit(
        &mut self,
        now: SimTime,
        queue_pair: u32,
        overhead: u32,
        feedback: Feedback,
        config: &Config,
    ) -> Packet {
        let payload = config.payload_bytes.min(self.flow.size - self.next);
        let mut packet = Packet::new(Kind::Data, self.flow.number, queue_pair, self.next)
            .with_priority(self.flow.priority)
            .with_telemetry(feedback);
        packet.payload_len = u16::try_from(payload).unwrap_or(u16::MAX);
        if feedback == Feedback::Rtt {
            packet.carry(now.ps());
        }
        if self.next < self.farthest {
            self.retransmissions += 1;
        }
        self.next += payload;
        self.farthest = self.farthest.max(self.next);
        self.last_frame_len = payload + overhead;
        let rate = if config.pace_at_rate { self.rate } else { self.line_rate };
        self.next_available = now + (config.serialisation)(self.last_frame_len, rate);
        packet
    }

    /// An ACK or NACK for this flow arrived; `sampled` says whether its telemetry is looked at.
    pub(super) fn acknowledge(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: &TelemetryHeader,
        sampled: bool,
        feedback: Feedback,
        config: &Config,
    ) -> Acknowledged {
        let before = self.acknowledged;
        let reached = if config.back_to_chunk {
            chunk_start(packet.sequence, config.chunk_bytes)
        } else {
            packet.sequence
        };
        self.acknowledged = self.acknowledged.max(reached);
        let finishes = self.is_finished();
        if packet.kind == Kind::Nack {
            self.next = self.acknowledged;
        }
        let acked_bytes = u64::from(self.acknowledged - before);
        let told = self.react(now, packet, telemetry, sampled, feedback, acked_bytes);
        let repaced = told && self.control.repaces();
        if repaced {
            self.repace(config);
        }
        self.adopt_rate(config);
        Acknowledged { finishes, repaced }
    }

    /// Tells the controller. True if it was told of an acknowledgement.
    fn react(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: &TelemetryHeader,
        sampled: bool,
        feedback: Feedback,
        acked_bytes: u64,
    ) -> bool {
        let within;
        let telemetry = match feedback {
            Feedback::Cnp { .. } => {
                if packet.has_echo() {
                    self.control.on_cnp(now);
                }
                return false;
            }
            Feedback::Telemetry(TelemetryUnits::Pint(_)) if !sampled => return false,
            Feedback::Telemetry(TelemetryUnits::Pint(_)) => {
                let value = u16::try_from(packet.carried()).unwrap_or(u16::MAX);
                within = TelemetryHeader::Pint(value);
                Some(&within)
            }
            Feedback::Telemetry(TelemetryUnits::Int(_)) => Some(telemetry),
            _ => None,
        };
        self.control.on_ack(&Ack {
            now,
            acked_bytes,
            acknowledged: u64::from(packet.sequence),
            sent: u64::from(self.next),
            rtt: (feedback == Feedback::Rtt).then(|| now.since(packet.sent_at())),
            ecn_echo: packet.has_echo(),
            telemetry,
        });
        true
    }

    /// A timer of the controller is over.
    pub(super) fn expire(&mut self, timer: u8, now: SimTime, config: &Config) {
        self.control.expire(usize::from(timer), now);
        self.adopt_rate(config);
    }

    /// The latest acknowledgement set the rate anew, be it to the same value: the packet that
    /// waits is paced by the new one.
    fn repace(&mut self, config: &Config) {
        let rate = self.control.rate();
        if rate != self.rate {
            let time = |rate| (config.serialisation)(self.last_frame_len, rate);
            let (old, new) = (time(self.rate), time(rate));
            self.next_available =
                SimTime::from_ps((self.next_available.ps() + new.ps()).saturating_sub(old.ps()));
        }
    }

    /// Takes over the controller's rate.
    #[inline]
    fn adopt_rate(&mut self, config: &Config) {
        let rate = self.control.rate();
        if rate == self.rate {
            return;
        }
        self.rate = rate;
        if config.scale_window {
            let (rate, line) = (rate.bits_per_second(), self.line_rate.bits_per_second());
            self.window = arithmetic::window(self.full_window, rate, line).unwrap_or(u64::MAX);
        }
    }
}

//! What a controller is told, and what it answers.

use core::fmt;

use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{EndpointReport, TelemetryHeader};

use super::Timers;

/// A rate controller of one queue pair. The NIC asks for `rate`, `window` and `timers` after each
/// call that may have changed them, and keeps the answers.
pub trait CongestionControl: fmt::Debug + Send + rocelab_state::State {
    /// How fast data may leave, frame bytes with preamble and gap: at least 1 bit/s. The line rate
    /// or more means no pacing; more only follows from a least rate above the line rate.
    fn rate(&self) -> Bandwidth;

    /// How much payload may be unacknowledged (bytes); none is no limit. The last packet may
    /// exceed it.
    fn window(&self) -> Option<u64> {
        None
    }

    /// The estimate of congestion that it keeps (`alpha`, 0 to 1), as it is at `now`; `None` if it keeps none. Only to
    /// be looked at.
    fn alpha(&self, now: SimTime) -> Option<f64> {
        let _ = now;
        None
    }

    /// Something was acknowledged. Called if the feedback is one that acknowledgements carry: all
    /// but [`Feedback::None`](super::Feedback::None), [`Feedback::Cnp`](super::Feedback::Cnp) and
    /// [`Feedback::Qcn`](super::Feedback::Qcn).
    fn on_ack(&mut self, ack: &Ack<'_>) {
        _ = ack;
    }

    /// A notification of congestion arrived: a CNP, or in a profile that has none an echo on an
    /// acknowledgement. Called if the feedback is [`Feedback::Cnp`](super::Feedback::Cnp).
    fn on_cnp(&mut self, now: SimTime) {
        _ = now;
    }

    /// A congestion notification message of a switch arrived, with its quantized feedback, 0 to
    /// 63. Called if the feedback is [`Feedback::Qcn`](super::Feedback::Qcn).
    fn on_cnm(&mut self, now: SimTime, feedback: u8) {
        _ = (now, feedback);
    }

    /// Whether [`on_sent`](Self::on_sent) is to be called; asked once.
    fn counts_sent_bytes(&self) -> bool {
        false
    }

    /// A data packet begins to leave. Returns whether anything changed.
    fn on_sent(&mut self, sent: &Sent) -> bool {
        _ = sent;
        false
    }

    /// Something is sent again.
    fn on_loss(&mut self, loss: &LossEvent) {
        _ = loss;
    }

    /// Whether the latest acknowledgement set the rate, be it to the same value, in the way of
    /// those algorithms whose rate counts at once: it also moves the release of the packet that is
    /// waiting. The native NIC does not do so: there a new rate counts from the next packet on.
    fn repaces(&self) -> bool {
        false
    }

    /// Its timers, if it has any.
    fn timers(&mut self) -> Option<&mut Timers> {
        None
    }

    /// Serves timer number `timer`, which expired at `now`: after the call it is armed for later,
    /// or stopped. Nothing happens if it is not due.
    fn expire(&mut self, timer: usize, now: SimTime) {
        _ = (timer, now);
    }
}

/// The path of a queue pair, as its controller is told at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The rate of the sender's port.
    pub line_rate: Bandwidth,
    /// Round-trip time of a full packet in the idle network.
    pub base_rtt: Duration,
    /// Payload that fills the path at the line rate (bytes); 0 where windows are off.
    pub bdp: u64,
    /// Payload of a full packet (bytes).
    pub path_mtu: u32,
    /// Other queue pairs of the NIC that have sent and are not done as this one starts.
    pub others: u32,
    /// A number of the queue pair's own, which follows from the run's seed: where random numbers may start.
    pub seed: u64,
    /// When the queue pair starts.
    pub start: SimTime,
}

/// The [seed](Path::seed) of the queue pair with a number, in a NIC with a seed of its own.
pub fn control_seed(nic: u64, qpn: u32) -> u64 {
    /// Odd, so that no two queue pairs of a NIC have the same.
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    (nic ^ u64::from(qpn)).wrapping_mul(MULTIPLIER)
}

impl Path {
    /// An equal share of the sender's port for the queue pair and the others of its NIC, rounded down, at
    /// least 1 bit/s.
    pub fn share(&self) -> Bandwidth {
        let share = self.line_rate.bits_per_second() / (u64::from(self.others) + 1);
        Bandwidth::from_bps(share.max(1))
    }
}

/// An acknowledgement, positive or negative.
///
/// Positions count the payload of a queue pair from its start; they fall back where something is
/// sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack<'a> {
    /// When it arrived.
    pub now: SimTime,
    /// Payload that it newly acknowledges (bytes).
    pub acked_bytes: u64,
    /// Position before which, as it says, all arrived (bytes).
    pub acknowledged: u64,
    /// Position of the next packet to send, after this acknowledgement was taken into account
    /// (bytes).
    pub sent: u64,
    /// From the start of the acknowledged packet's transmission to now; none if that packet was
    /// sent more than once. With [telemetry](super::Feedback::Telemetry) that has a queueing time:
    /// [`Path::base_rtt`] and that time.
    pub rtt: Option<Duration>,
    /// Whether the receiver saw congestion (only with
    /// [`Feedback::EcnEcho`](super::Feedback::EcnEcho)).
    pub ecn_echo: bool,
    /// What the switches wrote into the acknowledged packet.
    pub telemetry: Telemetry<'a>,
}

impl Ack<'_> {
    /// What the ends of the path tell, if the algorithm [asked for it](super::Feedback::ENDPOINT) and the acknowledgement
    /// brings it.
    #[inline]
    pub fn endpoint(&self) -> Option<EndpointReport> {
        self.telemetry.and_then(TelemetryHeader::endpoint)
    }
}

/// What an acknowledgement brings back from the switches: of the kind that the algorithm
/// [asked for](super::Feedback::Telemetry), or nothing.
pub type Telemetry<'a> = Option<&'a TelemetryHeader>;

/// A departing data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The start of its transmission.
    pub now: SimTime,
    /// Its frame with FCS (bytes).
    pub bytes: u64,
}

/// A loss that the requester noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossEvent {
    /// When it was noticed.
    pub now: SimTime,
    /// Whether by the local ACK timeout, and not by a NAK or a gap.
    pub timeout: bool,
}

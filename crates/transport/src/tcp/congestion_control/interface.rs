//! What a controller is told, and what it answers.

use core::fmt;

use rocelab_units::{Duration, SimTime};

/// The congestion window of one connection.
pub trait TcpCongestionControl: fmt::Debug + Send + rocelab_state::State {
    /// The congestion window (bytes): at least one maximum segment.
    fn window(&self) -> u64;

    /// The slow start threshold (bytes); [`u64::MAX`] before the first congestion.
    fn threshold(&self) -> u64;

    /// New data was acknowledged. The window grows here, if [`TcpAck::grows`].
    fn on_ack(&mut self, ack: &TcpAck);

    /// The network was congested. Called at most once for a window of data, but for timeouts, and
    /// for a loss after marks where [it counts](Self::answers_loss_after_marks).
    fn on_congestion(&mut self, congestion: &TcpCongestion);

    /// Whether a loss is congestion of its own in a window of data that marks have made smaller
    /// already. Not where a mark is answered as a loss is (RFC 3168 section 6.1.2).
    fn answers_loss_after_marks(&self) -> bool {
        false
    }

    /// Sending begins again after nothing was in flight for `idle`; `long` says whether that was
    /// longer than the retransmission timeout.
    fn on_restart(&mut self, idle: Duration, long: bool);
}

/// The path of a connection, as its controller is told at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPath {
    /// Payload of a full segment (bytes), above 0.
    pub mss: u64,
    /// The first congestion window (bytes), at least `mss`.
    pub initial_window: u64,
}

/// A cumulative acknowledgement. Positions count the payload of a connection from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpAck {
    /// When it was processed.
    pub now: SimTime,
    /// Payload that it newly acknowledges (bytes); selective acknowledgements do not count.
    pub acked_bytes: u64,
    /// Position of the first byte that is not acknowledged: SND.UNA.
    pub acknowledged: u64,
    /// Position of the first byte that was never sent: SND.NXT.
    pub sent: u64,
    /// Whether ECE was set.
    pub ece: bool,
    /// The smoothed round-trip time; none before the first measurement.
    pub rtt: Option<Duration>,
    /// Whether the window may grow: it limited the sender, and no fast recovery goes on.
    pub grows: bool,
    /// Whether a timeout is being recovered from.
    pub after_timeout: bool,
}

/// Congestion, and what was in flight at the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpCongestion {
    /// When it was noticed.
    pub now: SimTime,
    /// How it was noticed.
    pub kind: TcpCongestionKind,
    /// Sent and not acknowledged (bytes): FlightSize.
    pub in_flight: u64,
}

/// How congestion was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpCongestionKind {
    /// Selective acknowledgements say that a segment is lost.
    Loss,
    /// An acknowledgement carried ECE.
    Ecn,
    /// The retransmission timer expired, first for this data or again.
    Timeout {
        /// Whether it expired before for this data.
        again: bool,
    },
}

/// How a receiver tells of marked segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnEcho {
    /// On all acknowledgements, until the sender says with CWR that it heard (RFC 3168).
    UntilCwr,
    /// Of each segment whether it was marked; a change is told at once (RFC 8257 section 3.2).
    EachSegment,
}

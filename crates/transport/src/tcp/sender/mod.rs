//! The end that sends data.

mod acknowledgement;
mod looking;
mod output;

use std::collections::VecDeque;

use rocelab_units::{Duration, SimTime};

use super::congestion_control::{TcpCongestion, TcpCongestionControl, TcpCongestionKind, TcpPath};
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::sequence::{Numbering, Position};
use super::{TcpConnectionConfig, TcpCounters, TcpHostConfig, TcpLosses};

/// The sending end of a connection. Positions count payload from the start.
#[derive(Debug)]
pub struct TcpSender {
    control: Box<dyn TcpCongestionControl>,
    numbering: Numbering,
    peer: u32,
    priority: u8,
    /// The receive window that its own segments advertise (bytes).
    window: u32,
    mss: u64,
    /// SND.UNA: all before it was acknowledged.
    una: Position,
    /// SND.NXT: nothing from it on was ever sent.
    nxt: Position,
    /// Where the data that the application posted ends.
    posted: Position,
    /// Where the receive window ends.
    window_end: Position,
    scoreboard: Scoreboard,
    state: State,
    /// Acknowledgements in a row that only brought selective ones.
    dup_acks: u64,
    rtt: RttEstimator,
    /// The segment whose round trip is measured: its end, and when it was sent.
    timed: Option<(Position, SimTime)>,
    /// When the retransmission timer expires.
    deadline: SimTime,
    /// Where the timer expired last.
    timed_out_at: Option<Position>,
    ecn: bool,
    /// The next segment with new data is to say that the window was reduced.
    cwr_due: bool,
    /// All sent before this is of the window of data that was reduced last.
    reduced_end: Position,
    last_sent: SimTime,
    /// Since when nothing is in flight.
    idle_since: SimTime,
    losses: TcpLosses,
    messages: VecDeque<Message>,
}

rocelab_state::state!(TcpSender {
    values: una, nxt, posted, window_end, scoreboard, state, dup_acks, timed, deadline,
        timed_out_at, cwr_due, reduced_end, last_sent, idle_since, losses, messages;
    states: control, rtt;
    kept: numbering, peer, priority, window, mss, ecn
});

/// What is being done about losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
enum State {
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery, until all before `point` is acknowledged.
    Recovery {
        point: Position,
        /// The first segment is still to be sent again, whatever the window says.
        first_due: bool,
        /// The last segment was sent again to bring an acknowledgement: RFC 6675's RescueRxt.
        rescued: bool,
    },
    /// The timer expired: slow start, until all before `point` is acknowledged.
    Loss { point: Position },
}

#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct Message {
    id: u64,
    bytes: u64,
    end: Position,
}

impl TcpSender {
    pub(super) fn new(config: &TcpConnectionConfig, host: &TcpHostConfig) -> Self {
        let parameters = &host.parameters;
        let mss = u64::from(parameters.mss(host.ip_header_len).max(1));
        let initial_window = u64::from(parameters.initial_window) * mss;
        let algorithm = &parameters.congestion_control;
        Self {
            control: algorithm.build(&TcpPath { mss, initial_window }),
            numbering: Numbering::new(config.initial_sequence),
            peer: config.peer,
            priority: host.parameters.priority,
            window: parameters.window(),
            mss,
            una: 0,
            nxt: 0,
            posted: 0,
            window_end: parameters.receive_window.get(),
            scoreboard: Scoreboard::default(),
            state: State::Open,
            dup_acks: 0,
            rtt: RttEstimator::new(parameters.initial_rto, parameters.min_rto, parameters.max_rto),
            timed: None,
            deadline: SimTime::NEVER,
            timed_out_at: None,
            ecn: parameters.uses_ecn(),
            cwr_due: false,
            reduced_end: 0,
            last_sent: SimTime::ZERO,
            idle_since: SimTime::ZERO,
            losses: TcpLosses::default(),
            messages: VecDeque::new(),
        }
    }

    /// The congestion window (bytes).
    pub fn congestion_window(&self) -> u64 {
        self.control.window()
    }

    /// The slow start threshold (bytes); [`u64::MAX`] before the first congestion.
    pub fn slow_start_threshold(&self) -> u64 {
        self.control.threshold()
    }

    /// Payload that is taken to be on its way (bytes).
    pub fn in_flight(&self) -> u64 {
        self.scoreboard.in_flight(self.una, self.nxt)
    }

    /// Payload acknowledged from the start on, without a gap (bytes).
    pub const fn acknowledged(&self) -> u64 {
        self.una
    }

    /// Payload sent at least once (bytes).
    pub const fn sent(&self) -> u64 {
        self.nxt
    }

    /// Payload posted (bytes).
    pub const fn posted(&self) -> u64 {
        self.posted
    }

    /// The smoothed round-trip time; none before the first measurement.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// How long the retransmission timer runs from now on.
    pub fn retransmission_timeout(&self) -> Duration {
        self.rtt.timeout()
    }

    /// How often it noticed losses so far.
    pub const fn losses(&self) -> TcpLosses {
        self.losses
    }

    /// Adds data to the stream. It is [done](Self::poll_done) when all of it is acknowledged.
    pub(super) fn post(&mut self, id: u64, bytes: u64) {
        self.posted = self.posted.saturating_add(bytes);
        self.messages.push_back(Message { id, bytes, end: self.posted });
    }

    /// The next message of which everything is acknowledged: its id and length.
    pub(super) fn poll_done(&mut self) -> Option<(u64, u64)> {
        let done = self.messages.pop_front_if(|message| message.end <= self.una)?;
        Some((done.id, done.bytes))
    }

    pub(super) const fn poll_timeout(&self) -> SimTime {
        self.deadline
    }

    /// The retransmission timer, if it is due: all in flight is lost, and goes again from the
    /// start, in slow start.
    pub(super) fn handle_timeout(&mut self, now: SimTime, counters: &mut TcpCounters) {
        if now < self.deadline {
            return;
        }
        if self.una == self.nxt {
            self.deadline = SimTime::NEVER;
            return;
        }
        counters.timeouts += 1;
        self.losses.timeouts = self.losses.timeouts.wrapping_add(1);
        let again = self.timed_out_at == Some(self.una);
        self.congested(now, TcpCongestionKind::Timeout { again });
        self.timed_out_at = Some(self.una);
        self.rtt.back_off();
        self.timed = None;
        self.dup_acks = 0;
        self.scoreboard.lose_all(self.una, self.nxt);
        self.state = State::Loss { point: self.nxt };
        self.restart_timer(now);
    }

    /// Tells the congestion control; what was sent until now is of the reduced window.
    fn congested(&mut self, now: SimTime, kind: TcpCongestionKind) {
        let in_flight = self.nxt - self.una;
        self.control.on_congestion(&TcpCongestion { now, kind, in_flight });
        self.reduced_end = self.nxt;
        self.cwr_due = self.ecn;
    }

    fn restart_timer(&mut self, now: SimTime) {
        self.deadline = if self.una == self.nxt {
            SimTime::NEVER
        } else {
            now.saturating_add(self.rtt.timeout())
        };
    }
}

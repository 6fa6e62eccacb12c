//! The end that sends data.

mod acknowledgement;
mod idle_time;
mod looking;
mod loss_recovery;
mod output;
mod retransmission_timer;
mod send_sequence;
mod window_reduction;

use std::collections::VecDeque;

use rocelab_units::{Duration, SimTime};

use self::idle_time::IdleTime;
use self::loss_recovery::LossRecovery;
use self::retransmission_timer::RetransmissionTimer;
use self::send_sequence::SendSequence;
use self::window_reduction::WindowReduction;
use super::congestion_control::{TcpCongestion, TcpCongestionControl, TcpCongestionKind, TcpPath};
use super::rtt::RttEstimator;
use super::segment_template::SegmentTemplate;
use super::sequence::Position;
use super::{TcpConnectionConfig, TcpCounters, TcpHostConfig, TcpLosses};

/// The sending end of a connection. Positions count payload from the start.
#[derive(Debug)]
pub struct TcpSender {
    control: Box<dyn TcpCongestionControl>,
    template: SegmentTemplate,
    mss: u64,
    sequence: SendSequence,
    recovery: LossRecovery,
    rtt: RttEstimator,
    timer: RetransmissionTimer,
    ecn: bool,
    reduction: WindowReduction,
    idle: IdleTime,
    losses: TcpLosses,
    messages: VecDeque<Message>,
}

rocelab_state::state!(TcpSender {
    values: sequence, recovery, timer, reduction, idle, losses, messages;
    states: control, rtt;
    kept: template, mss, ecn
});

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
            template: SegmentTemplate::new(config, host),
            mss,
            sequence: SendSequence::new(parameters.receive_window.get()),
            recovery: LossRecovery::new(),
            rtt: RttEstimator::new(parameters.initial_rto, parameters.min_rto, parameters.max_rto),
            timer: RetransmissionTimer::new(),
            ecn: parameters.uses_ecn(),
            reduction: WindowReduction::default(),
            idle: IdleTime::new(),
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
        self.recovery.scoreboard.in_flight(self.sequence.una, self.sequence.nxt)
    }

    /// Payload acknowledged from the start on, without a gap (bytes).
    pub const fn acknowledged(&self) -> u64 {
        self.sequence.una
    }

    /// Payload sent at least once (bytes).
    pub const fn sent(&self) -> u64 {
        self.sequence.nxt
    }

    /// Payload posted (bytes).
    pub const fn posted(&self) -> u64 {
        self.sequence.posted
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
        self.sequence.posted = self.sequence.posted.saturating_add(bytes);
        self.messages.push_back(Message { id, bytes, end: self.sequence.posted });
    }

    /// The next message of which everything is acknowledged: its id and length.
    pub(super) fn poll_done(&mut self) -> Option<(u64, u64)> {
        let done = self.messages.pop_front_if(|message| message.end <= self.sequence.una)?;
        Some((done.id, done.bytes))
    }

    pub(super) const fn poll_timeout(&self) -> SimTime {
        self.timer.deadline()
    }

    /// The retransmission timer, if it is due: all in flight is lost, and goes again from the
    /// start, in slow start.
    pub(super) fn handle_timeout(&mut self, now: SimTime, counters: &mut TcpCounters) {
        if now < self.timer.deadline() {
            return;
        }
        if self.sequence.is_idle() {
            self.timer.stop();
            return;
        }
        counters.timeouts += 1;
        self.losses.timeouts = self.losses.timeouts.wrapping_add(1);
        let SendSequence { una, nxt, .. } = self.sequence;
        let again = self.timer.expire(una);
        self.congested(now, TcpCongestionKind::Timeout { again });
        self.rtt.back_off();
        self.timer.stop_measuring();
        self.recovery.lose_all(una, nxt);
        self.restart_timer(now);
    }

    /// Tells the congestion control; what was sent until now is of the reduced window.
    fn congested(&mut self, now: SimTime, kind: TcpCongestionKind) {
        let in_flight = self.sequence.outstanding();
        self.control.on_congestion(&TcpCongestion { now, kind, in_flight });
        self.reduction.note(self.sequence.nxt, self.ecn);
    }

    fn restart_timer(&mut self, now: SimTime) {
        if self.sequence.is_idle() {
            self.timer.stop();
        } else {
            self.timer.restart(now, self.rtt.timeout());
        }
    }
}

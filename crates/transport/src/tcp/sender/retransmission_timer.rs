//! The retransmission timer, and the round trip that is measured for it (RFC 6298).

use rocelab_units::{Duration, SimTime};

use crate::tcp::sequence::Position;

/// The retransmission timer of a sender.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct RetransmissionTimer {
    /// The segment whose round trip is measured: its end, and when it was sent.
    timed: Option<(Position, SimTime)>,
    /// When it expires.
    deadline: SimTime,
    /// Where it expired last.
    timed_out_at: Option<Position>,
}

impl RetransmissionTimer {
    pub(super) const fn new() -> Self {
        Self { timed: None, deadline: SimTime::NEVER, timed_out_at: None }
    }

    /// When it expires; [`SimTime::NEVER`] if it does not run.
    pub(super) const fn deadline(&self) -> SimTime {
        self.deadline
    }

    /// It runs anew from now on.
    pub(super) fn restart(&mut self, now: SimTime, timeout: Duration) {
        self.deadline = now.saturating_add(timeout);
    }

    /// Whether it runs.
    pub(super) fn is_running(&self) -> bool {
        self.deadline != SimTime::NEVER
    }

    /// It expires no more.
    pub(super) const fn stop(&mut self) {
        self.deadline = SimTime::NEVER;
    }

    /// It expired with everything before `una` acknowledged; whether it did so there the last time too.
    pub(super) fn expire(&mut self, una: Position) -> bool {
        self.timed_out_at.replace(una) == Some(una)
    }

    /// Measures the round trip of a new segment that ends at `end`, unless one is being measured.
    pub(super) fn measure(&mut self, end: Position, now: SimTime) {
        self.timed.get_or_insert((end, now));
    }

    /// The round trip that was measured, if all before `acknowledged` ends it.
    pub(super) fn measured(&mut self, acknowledged: Position, now: SimTime) -> Option<Duration> {
        let (_, sent) = self.timed.take_if(|(end, _)| *end <= acknowledged)?;
        Some(now.since(sent))
    }

    /// Something is sent again: what is being measured cannot be told from it (Karn's algorithm).
    pub(super) const fn stop_measuring(&mut self) {
        self.timed = None;
    }
}

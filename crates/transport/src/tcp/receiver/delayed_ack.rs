//! When a receiver acknowledges (RFC 5681).

use std::collections::VecDeque;

use rocelab_units::{Duration, SimTime};

use crate::tcp::TcpHostConfig;
use crate::tcp::sequence::Position;

/// What a receiver owes of acknowledgements.
#[derive(Debug)]
pub(super) struct DelayedAck {
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
}

rocelab_state::state!(DelayedAck {
    values: quick_acks, unacknowledged, deadline, due, due_before;
    kept: delay, ack_bytes
});

impl DelayedAck {
    pub(super) fn new(host: &TcpHostConfig) -> Self {
        let parameters = &host.parameters;
        let mss = u64::from(parameters.mss(host.ip_header_len).max(1));
        Self {
            delay: parameters.delayed_ack,
            ack_bytes: u64::from(parameters.segments_per_ack) * mss,
            quick_acks: parameters.quick_acks,
            unacknowledged: 0,
            deadline: SimTime::NEVER,
            due: false,
            due_before: VecDeque::new(),
        }
    }

    /// Whether nothing is owed.
    pub(super) fn is_settled(&self) -> bool {
        !self.due && self.due_before.is_empty() && self.unacknowledged == 0
    }

    /// When the delayed acknowledgement is due.
    pub(super) const fn deadline(&self) -> SimTime {
        self.deadline
    }

    /// The delayed acknowledgement may be due.
    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        if now >= self.deadline {
            self.deadline = SimTime::NEVER;
            self.due = true;
        }
    }

    /// An acknowledgement goes now.
    pub(super) const fn owe_now(&mut self) {
        self.due = true;
    }

    /// Payload was delivered; `fills` says whether something waited for it.
    pub(super) fn owe_for(&mut self, now: SimTime, payload: u64, fills: bool) {
        self.unacknowledged += payload;
        let quick = self.quick_acks > 0;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        if fills || quick || self.unacknowledged >= self.ack_bytes || self.delay == Duration::ZERO {
            self.due = true;
        } else if self.deadline == SimTime::NEVER {
            self.deadline = now.saturating_add(self.delay);
        }
    }

    /// What came before `next` is acknowledged with this `ece`, apart from what comes from there on, and
    /// at once.
    pub(super) fn owe_apart(&mut self, next: Position, ece: bool) {
        if next > self.told_apart(next) {
            self.due_before.push_back((next, ece));
        }
        self.due = true;
    }

    /// All before it is acknowledged, or will be by what is [due before](Self::due_before).
    fn told_apart(&self, next: Position) -> Position {
        let acknowledged = next - self.unacknowledged;
        self.due_before.back().map_or(acknowledged, |&(position, _)| position)
    }

    /// The next acknowledgement that was to go apart: of which position, and with which ECE. RCV.NXT is
    /// `next`.
    pub(super) fn take_apart(&mut self, next: Position) -> Option<(Position, bool)> {
        let (position, ece) = self.due_before.pop_front()?;
        self.unacknowledged = next - position;
        Some((position, ece))
    }

    /// Whether an acknowledgement of all goes now, which is then owed no longer.
    pub(super) fn take(&mut self) -> bool {
        if !core::mem::take(&mut self.due) {
            return false;
        }
        self.unacknowledged = 0;
        self.deadline = SimTime::NEVER;
        true
    }
}

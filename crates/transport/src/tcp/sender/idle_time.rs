//! For how long a sender has been silent (RFC 5681).

use rocelab_units::{Duration, SimTime};

/// When a sender was active last.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct IdleTime {
    last_sent: SimTime,
    /// Since when nothing is in flight.
    idle_since: SimTime,
}

impl IdleTime {
    pub(super) const fn new() -> Self {
        Self { last_sent: SimTime::ZERO, idle_since: SimTime::ZERO }
    }

    /// A segment leaves.
    pub(super) const fn note_sent(&mut self, now: SimTime) {
        self.last_sent = now;
    }

    /// All that was sent is acknowledged.
    pub(super) const fn begin(&mut self, now: SimTime) {
        self.idle_since = now;
    }

    /// Since the last segment left.
    pub(super) fn since_sent(&self, now: SimTime) -> Duration {
        now.since(self.last_sent)
    }

    /// Since nothing is in flight.
    pub(super) fn duration(&self, now: SimTime) -> Duration {
        now.since(self.idle_since)
    }
}

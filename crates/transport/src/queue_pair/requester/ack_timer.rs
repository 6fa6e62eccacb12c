//! The local ACK timeout, and the waits that RNR NAKs ask for.

use rocelab_units::{Duration, SimTime};

/// A requester's timer. It runs while something is unacknowledged, or while it waits because of an RNR NAK.
#[derive(Debug)]
#[repr(C)]
pub(super) struct AckTimer {
    timeout: Option<Duration>,
    deadline: SimTime,
}

rocelab_state::state!(AckTimer { values: deadline; kept: timeout });

impl AckTimer {
    /// A timer that does not run; without a `timeout` only RNR NAKs make it.
    pub(super) const fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, deadline: SimTime::NEVER }
    }

    /// When it expires; [`SimTime::NEVER`] if it does not run.
    #[inline]
    pub(super) const fn deadline(&self) -> SimTime {
        self.deadline
    }

    /// Whether it runs.
    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.deadline != SimTime::NEVER
    }

    /// It runs anew from now on, with a `special` timeout if there is one.
    #[inline]
    pub(super) fn restart(&mut self, now: SimTime, special: Option<Duration>) {
        let timeout = special.or(self.timeout);
        self.deadline = timeout.map_or(SimTime::NEVER, |timeout| now.saturating_add(timeout));
    }

    /// An RNR NAK asks to wait.
    pub(super) fn wait(&mut self, now: SimTime, wait: Duration) {
        self.deadline = now.saturating_add(wait);
    }

    /// It expires no more.
    #[inline]
    pub(super) const fn stop(&mut self) {
        self.deadline = SimTime::NEVER;
    }
}

//! The timers of one controller.

use rocelab_units::SimTime;

/// Up to [`MAX`](Self::MAX) timers. Their owner serves the earliest first and of equal ones the
/// lowest number, each by [`expire`](super::CongestionControl::expire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Timers {
    deadlines: [SimTime; Self::MAX],
    /// Bit n: timer n was armed since the owner last asked.
    armed: u8,
}

impl Timers {
    /// How many there are; they are numbered from 0.
    pub const MAX: usize = 3;

    /// None of them runs.
    pub const fn new() -> Self {
        Self { deadlines: [SimTime::NEVER; Self::MAX], armed: 0 }
    }

    /// Starts timer number `timer`, or moves it if it runs. A number from [`MAX`](Self::MAX) on
    /// has no timer, and nothing happens.
    pub fn arm(&mut self, timer: usize, at: SimTime) {
        if let Some(deadline) = self.deadlines.get_mut(timer) {
            *deadline = at;
            self.armed |= 1 << timer;
        }
    }

    /// Stops a timer. Harmless if it does not run.
    pub fn stop(&mut self, timer: usize) {
        if let Some(deadline) = self.deadlines.get_mut(timer) {
            *deadline = SimTime::NEVER;
            self.armed &= !(1 << timer);
        }
    }

    /// When the first one expires; [`SimTime::NEVER`] if none runs.
    pub fn next(&self) -> SimTime {
        self.deadlines.into_iter().min().unwrap_or(SimTime::NEVER)
    }

    /// When this one expires; [`SimTime::NEVER`] if it does not run.
    pub fn deadline(&self, timer: usize) -> SimTime {
        self.deadlines.get(timer).copied().unwrap_or(SimTime::NEVER)
    }

    /// The timer to serve first of those that have expired by `now`. It stays expired until it is
    /// armed anew or stopped.
    pub fn due(&self, now: SimTime) -> Option<usize> {
        let running = (0..Self::MAX).filter(|&timer| self.deadline(timer) != SimTime::NEVER);
        running.filter(|&timer| self.deadline(timer) <= now).min_by_key(|&t| self.deadline(t))
    }

    /// Which timers were armed since this was last called, also those whose deadline is as before:
    /// bit n for timer n. For owners that keep events in the order of their scheduling: of timers
    /// that are armed in one call the lowest number comes first.
    pub const fn take_armed(&mut self) -> u8 {
        core::mem::replace(&mut self.armed, 0)
    }
}

impl Default for Timers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    #[test]
    fn the_earliest_is_served_first_and_of_equal_ones_the_lowest_number() {
        let mut timers = Timers::new();
        assert_eq!((timers.next(), timers.due(SimTime::NEVER)), (SimTime::NEVER, None));
        timers.arm(2, at(5));
        timers.arm(0, at(7));
        timers.arm(1, at(5));
        assert_eq!(timers.next(), at(5));
        assert_eq!(timers.due(at(4)), None);
        assert_eq!(timers.due(at(9)), Some(1));
        timers.stop(1);
        assert_eq!(timers.due(at(9)), Some(2));
        timers.arm(2, at(10));
        assert_eq!(timers.due(at(9)), Some(0));
        assert_eq!(timers.deadline(1), SimTime::NEVER);
    }

    #[test]
    fn the_owner_hears_of_timers_that_were_armed_again() {
        let mut timers = Timers::new();
        timers.arm(0, at(1));
        timers.arm(2, at(1));
        assert_eq!(timers.take_armed(), 0b101);
        assert_eq!(timers.take_armed(), 0);
        timers.arm(2, at(1));
        timers.arm(1, at(1));
        timers.stop(1);
        assert_eq!(timers.take_armed(), 0b100, "the same deadline counts, a stopped one does not");
    }

    #[test]
    fn numbers_without_a_timer_are_ignored() {
        let mut timers = Timers::new();
        timers.arm(3, at(1));
        timers.stop(3);
        assert_eq!((timers, timers.deadline(3)), (Timers::new(), SimTime::NEVER));
    }
}

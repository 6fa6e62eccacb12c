//! The time between two samples.

use rocelab_units::Duration;
use serde::{Deserialize, Serialize};

/// The time between two samples of one quantity: the same for the whole run, or one that doubles so that long runs
/// do not have many more samples than short ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleInterval {
    /// The first interval, above zero (ps).
    pub first_ps: u64,
    /// After so many samples the interval doubles, after as many more again, and so on; `None` if it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub double_after: Option<u64>,
}

impl SampleInterval {
    /// An interval that stays.
    pub const fn fixed(interval: Duration) -> Self {
        Self { first_ps: interval.ps(), double_after: None }
    }

    /// The interval that begins at a sample, in picoseconds.
    pub fn from(&self, time_ps: u64) -> u64 {
        self.phase(time_ps).1
    }

    /// The start of the interval that ends at a sample, or at the end of the run; both in picoseconds.
    pub fn start_of(&self, end_ps: u64) -> u64 {
        let before = end_ps.saturating_sub(1);
        let (begin, interval) = self.phase(before);
        begin + (before - begin) / interval * interval
    }

    /// How many samples there are until a time (ps), roughly: of the last interval all that fit.
    pub fn samples_until(&self, time_ps: u64) -> u64 {
        let (begin, interval) = self.phase(time_ps);
        let before = self.double_after.unwrap_or(0);
        let doubled = (interval / self.first_ps.max(1)).max(1).ilog2();
        before.saturating_mul(doubled.into()).saturating_add((time_ps - begin) / interval)
    }

    /// When the interval was last doubled before a time, and what it is then (ps).
    fn phase(&self, time_ps: u64) -> (u64, u64) {
        let first = self.first_ps.max(1);
        let Some(length) = self.double_after.and_then(|after| first.checked_mul(after.max(1)))
        else {
            return (0, first);
        };
        // Phase k has 2^k times the length of the first, and so begins at 2^k - 1 of them.
        let doubled = (time_ps / length).saturating_add(1).ilog2();
        let begin = length.saturating_mul((1 << doubled) - 1);
        (begin, first.saturating_mul(1 << doubled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_may_stay() {
        let interval = SampleInterval::fixed(Duration::from_ps(10));
        assert_eq!((interval.from(0), interval.from(1_000)), (10, 10));
        assert_eq!(
            (interval.start_of(10), interval.start_of(15), interval.start_of(0)),
            (0, 10, 0)
        );
    }

    /// 0, 10, 20, 30 | 50, 70, 90 | 130, 170, 210 | 290.
    #[test]
    fn or_double_after_some_samples() {
        let interval = SampleInterval { first_ps: 10, double_after: Some(3) };
        let mut times = vec![0];
        while times.len() < 11 {
            let last = times[times.len() - 1];
            times.push(last + interval.from(last));
        }
        assert_eq!(times, [0, 10, 20, 30, 50, 70, 90, 130, 170, 210, 290]);
        for pair in times.windows(2) {
            assert_eq!(interval.start_of(pair[1]), pair[0]);
            assert_eq!(interval.start_of(pair[1] - 1), pair[0], "the run may end before");
        }
        for (number, time) in (0..).zip(times) {
            assert_eq!(interval.samples_until(time), number);
        }
    }

    #[test]
    fn no_time_is_too_late() {
        let interval = SampleInterval { first_ps: 1, double_after: Some(1) };
        assert!(interval.from(u64::MAX) > 1 << 60);
        assert!(interval.start_of(u64::MAX) < u64::MAX);
        let long = SampleInterval { first_ps: u64::MAX / 2, double_after: Some(9) };
        assert_eq!(long.from(5), u64::MAX / 2);
    }
}

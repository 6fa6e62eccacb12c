//! The branch `timely`: TIMELY in the applications.

/// Bytes of a burst.
const BURST_BYTES: u32 = 16_000;
/// The rate (bit/s) that is built in.
const BUILT_IN: f64 = 1e10;
/// Bounds of the rate.
const BOUNDS: (f64, f64) = (0.01 * BUILT_IN, 0.96 * BUILT_IN);
/// What the rate rises by.
const INCREASE: f64 = 1e7;
/// Weight of the latest round-trip time, and of the gradient.
const WEIGHT: f64 = 0.875;
const BETA: f64 = 0.8;
/// Round-trip times (s): the least one, and the thresholds.
const LEAST: f64 = 20.0 / 1e6;
const LOW: f64 = 50.0 / 1e6;
const HIGH: f64 = 500.0 / 1e6;

/// The rate of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimelyRate {
    /// In bit/s.
    pub(crate) rate: f64,
    /// Round-trip times (s): the last one, and the smoothed difference of two.
    last: f64,
    difference: f64,
}

impl TimelyRate {
    /// Begins with `rate` (bit/s), for packets of `size` bytes.
    pub(crate) fn new(rate: f64, size: u32) -> Self {
        Self { rate, last: own_time(size), difference: 0.0 }
    }

    /// Packets of a burst.
    pub(crate) const fn burst(size: u32) -> u32 {
        BURST_BYTES / size
    }

    /// The time (s) between two bursts.
    pub(crate) fn time_of_burst(&self, size: u32) -> f64 {
        f64::from(Self::burst(size) * size) * 8.0 / self.rate
    }

    /// Reacts to a round-trip time (s) of a packet of `size` bytes.
    pub(crate) fn react(&mut self, round_trip: f64, size: u32) {
        let round_trip = round_trip - own_time(size);
        let latest = round_trip - self.last;
        self.difference = (1.0 - WEIGHT) * self.difference + WEIGHT * latest;
        self.last = round_trip;
        let gradient = self.difference / LEAST;
        let rate = if round_trip < LOW {
            self.rate + INCREASE
        } else if round_trip > HIGH {
            self.rate * (1.0 - BETA * (1.0 - HIGH / round_trip))
        } else if gradient < 0.0 {
            self.rate + INCREASE
        } else {
            self.rate * (1.0 - BETA * gradient)
        };
        self.rate = rate.max(BOUNDS.0).min(BOUNDS.1);
    }
}

/// The time (s) that a packet of `size` bytes takes at the rate that is built in.
fn own_time(size: u32) -> f64 {
    f64::from(size) * 8.0 / BUILT_IN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_follows_round_trip_times() {
        let mut rate = TimelyRate::new(5e9, 1_000);
        assert_eq!(TimelyRate::burst(1_000), 16);
        assert_eq!(rate.time_of_burst(1_000), 128_000.0 / 5e9);
        rate.react(20e-6, 1_000);
        assert_eq!(rate.rate, 5.01e9);
        // Far too long: 1 - 0.8 (1 - 500/1000) of it are left, about.
        rate.react(1_000e-6 + 0.8e-6, 1_000);
        assert!((rate.rate / (5.01e9 * 0.6) - 1.0).abs() < 1e-9, "{}", rate.rate);
        (0..50).for_each(|_| rate.react(1.0, 1_000));
        assert_eq!(rate.rate, BOUNDS.0);
        // Between the thresholds the gradient decides, which is negative now.
        rate.react(400e-6, 1_000);
        assert_eq!(rate.rate, BOUNDS.0 + INCREASE);
    }
}

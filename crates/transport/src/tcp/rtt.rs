//! The retransmission timeout (RFC 6298).

use rocelab_units::Duration;

/// Smoothed round-trip time, its variation, and the timeout that follows. Times in picoseconds.
#[derive(Clone, Debug)]
pub(super) struct RttEstimator {
    /// Smoothed round-trip time and variation, from the first sample on.
    smoothed: Option<(u64, u64)>,
    /// The timeout before backing off.
    base: u64,
    /// How often it doubled since the last sample.
    doublings: u32,
    min: u64,
    max: u64,
}

rocelab_state::state!(RttEstimator { values: smoothed, base, doublings; kept: min, max });

impl RttEstimator {
    pub(super) fn new(initial: Duration, min: Duration, max: Duration) -> Self {
        let (min, max) = (min.ps(), max.ps());
        Self { smoothed: None, base: initial.ps(), doublings: 0, min, max }
    }

    /// Takes a measurement into account; it ends backing off. The caller leaves out segments that
    /// were sent twice (Karn's algorithm).
    pub(super) fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.ps();
        // alpha = 1/8, beta = 1/4; the variation first, from the old smoothed time.
        let (smoothed, variation) = match self.smoothed {
            None => (rtt, rtt / 2),
            Some((smoothed, variation)) => (
                smoothed - smoothed / 8 + rtt / 8,
                variation - variation / 4 + rtt.abs_diff(smoothed) / 4,
            ),
        };
        self.smoothed = Some((smoothed, variation));
        // K = 4. The clock's granularity is a picosecond.
        self.base = smoothed.saturating_add(variation.saturating_mul(4).max(1));
        self.doublings = 0;
    }

    /// The timer expired: the next timeout is twice as long.
    pub(super) const fn back_off(&mut self) {
        self.doublings = self.doublings.saturating_add(1);
    }

    /// The smoothed round-trip time; none before the first sample.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.smoothed.map(|(smoothed, _)| Duration::from_ps(smoothed))
    }

    /// How long to wait for an acknowledgement.
    pub(super) fn timeout(&self) -> Duration {
        let base = self.base.max(self.min);
        let factor = 1_u64.checked_shl(self.doublings).unwrap_or(u64::MAX);
        Duration::from_ps(base.saturating_mul(factor).min(self.max.max(self.min)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(min: u64) -> RttEstimator {
        let (initial, max) = (Duration::from_ms(1_000), Duration::from_ms(60_000));
        RttEstimator::new(initial, Duration::from_us(min), max)
    }

    #[test]
    fn by_hand() {
        // SRTT 800 us, RTTVAR 400: 2400. Then RTTVAR = 3/4 400 + 1/4 |800 - 1600| = 500,
        // SRTT = 7/8 800 + 1/8 1600 = 900: 2900.
        let mut rtt = estimator(0);
        assert_eq!(rtt.timeout(), Duration::from_ms(1_000));
        rtt.sample(Duration::from_us(800));
        assert_eq!(rtt.timeout(), Duration::from_us(2_400));
        rtt.sample(Duration::from_us(1_600));
        assert_eq!(rtt.timeout(), Duration::from_us(2_900));
        assert_eq!(rtt.smoothed(), Some(Duration::from_us(900)));
    }

    #[test]
    fn doubling_up_to_the_most_until_a_sample() {
        let mut rtt = estimator(200_000);
        rtt.sample(Duration::from_us(10));
        let mut timeouts = Vec::new();
        for _ in 0..12 {
            timeouts.push(rtt.timeout().ps() / 1_000_000_000);
            rtt.back_off();
        }
        assert_eq!(timeouts[..5], [200, 400, 800, 1_600, 3_200]);
        assert_eq!(timeouts[11], 60_000);
        rtt.sample(Duration::from_us(10));
        assert_eq!(rtt.timeout(), Duration::from_ms(200));
    }
}

//! Rates in whole bits per second, as HPCC's ns-3 simulator computes them: a product or quotient
//! with a fraction is made in `f64` and cut off, all else is in integers.

use rocelab_units::Bandwidth;

/// `rate` times `factor`, in `f64`, the fraction of a bit cut off. Saturates; NaN gives 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
pub(super) const fn times(rate: u64, factor: f64) -> u64 {
    (rate as f64 * factor) as u64
}

/// `rate` divided by `divisor`, in `f64`, the fraction of a bit cut off. Saturates; NaN gives 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
pub(super) const fn divided(rate: u64, divisor: f64) -> u64 {
    (rate as f64 / divisor) as u64
}

/// `rate` without its fraction of a bit, at least 1 bit/s and at most `line`.
pub(super) fn whole(rate: f64, line: Bandwidth) -> Bandwidth {
    Bandwidth::from_bps(times(1, rate).clamp(1, line.bits_per_second().max(1)))
}

/// The window (bytes) of a queue pair that may fill the path at the line rate with `full`, at
/// `rate` of `line` [bit/s]: rounded down, at least 1. None if `full` is 0: no window.
pub(super) fn window(full: u64, rate: u64, line: u64) -> Option<u64> {
    let part = u128::from(full) * u128::from(rate) / u128::from(line.max(1));
    (full > 0).then(|| u64::try_from(part).unwrap_or(u64::MAX).max(1))
}

/// `step` for each `per` of the line rate, rounded down.
pub(super) fn scaled(step: Bandwidth, per: Bandwidth, line: Bandwidth) -> Bandwidth {
    let bits = u128::from(step.bits_per_second()) * u128::from(line.bits_per_second());
    let scaled = bits / u128::from(per.bits_per_second().max(1));
    Bandwidth::from_bps(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_cut_off() {
        // 10 x 0.29 is 2.9 (in binary 2.8999...), 10 / 3 is 3.33.
        assert_eq!((times(10, 0.29), divided(10, 3.0)), (2, 3));
        assert_eq!((times(10, -1.0), divided(10, 0.0), divided(0, 0.0)), (0, u64::MAX, 0));
        assert_eq!(divided(10, f64::INFINITY), 0);
        let line = Bandwidth::from_bps(100);
        assert_eq!([0.3, 7.9, 1e9].map(|rate| whole(rate, line).bits_per_second()), [1, 7, 100]);
    }

    #[test]
    fn windows_follow_the_rate() {
        assert_eq!(window(153_000, 33_333_333_333, 100_000_000_000), Some(50_999));
        assert_eq!(window(153_000, 1, 100_000_000_000), Some(1));
        assert_eq!(window(0, 5, 10), None);
    }

    #[test]
    fn steps_follow_the_line_rate() {
        let (step, per) = (Bandwidth::from_mbps(5), Bandwidth::from_gbps(25));
        assert_eq!(scaled(step, per, Bandwidth::from_gbps(100)), Bandwidth::from_mbps(20));
        assert_eq!(scaled(step, per, Bandwidth::from_gbps(1)), Bandwidth::from_bps(200_000));
    }
}

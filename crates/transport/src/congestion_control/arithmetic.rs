//! Rates in whole bits per second, as HPCC's ns-3 simulator computes them: a product or quotient
//! with a fraction is made in `f64` and cut off, all else is in integers.

use rocelab_units::Bandwidth;

/// The first number that is too large for 64 bits.
const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;

/// `rate` times `factor`, in `f64`, the fraction of a bit cut off; what is no number of 64 bits as
/// in [`cut_off_as_compiled`].
pub(super) const fn times(rate: u64, factor: f64) -> u64 {
    cut_off_as_compiled(rate as f64 * factor)
}

/// `rate` divided by `divisor`, in `f64`, the fraction of a bit cut off; what is no number of 64
/// bits as in [`cut_off_as_compiled`].
pub(super) const fn divided(rate: u64, divisor: f64) -> u64 {
    cut_off_as_compiled(rate as f64 / divisor)
}

/// `value` without its fraction: 2^63 for NaN, 0 from 2^64 on and for infinity, 0 below 0.
///
/// C++ leaves open what a conversion gives that does not fit. HPCC's ns-3 simulator has some, those
/// of HPCC without a window, whose utilization is divided by 0. Its numbers are those of compilers
/// for x86-64: they convert with the signed instruction, which answers -2^63 to all it cannot
/// convert, and what is 2^63 or more they first lower by 2^63 and then raise again. NaN compares as
/// less, so that it keeps its 2^63; to what is too large 2^63 is added a second time, which is 0.
const fn cut_off_as_compiled(value: f64) -> u64 {
    if value.is_nan() {
        1 << 63
    } else if value >= TWO_TO_THE_64 {
        0
    } else {
        cut_off(value)
    }
}

/// `value` without its fraction. Saturates; NaN gives 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
pub(super) const fn cut_off(value: f64) -> u64 {
    value as u64
}

/// `rate` without its fraction of a bit, at least 1 bit/s and at most `line`.
pub(super) fn whole(rate: f64, line: Bandwidth) -> Bandwidth {
    Bandwidth::from_bps(cut_off(rate).clamp(1, line.bits_per_second().max(1)))
}

/// The window (bytes) of a queue pair that may fill the path at the line rate with `full`, at
/// `rate` of `line` [bit/s]: rounded down, at least 1. None if `full` is 0: no window.
pub(crate) fn window(full: u64, rate: u64, line: u64) -> Option<u64> {
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
        assert_eq!((times(10, -1.0), divided(10, f64::INFINITY)), (0, 0));
        let line = Bandwidth::from_bps(100);
        let rates = [0.3, 7.9, 1e9, f64::INFINITY, f64::NAN];
        assert_eq!(rates.map(|rate| whole(rate, line).bits_per_second()), [1, 7, 100, 100, 1]);
    }

    #[test]
    fn what_does_not_fit_is_as_compiled() {
        // As `(uint64_t)` of gcc -O2 gives it. 2^64 - 2048 is the last double below 2^64.
        assert_eq!((divided(0, 0.0), divided(10, 0.0)), (9_223_372_036_854_775_808, 0));
        assert_eq!((times(1, f64::NAN), times(1, f64::INFINITY)), (1 << 63, 0));
        assert_eq!((times(1 << 63, 1.0), times(1 << 63, 2.0)), (1 << 63, 0));
        assert_eq!(times(18_446_744_073_709_549_568, 1.0), 18_446_744_073_709_549_568);
        assert_eq!([1.9e19, f64::INFINITY].map(cut_off), [u64::MAX; 2], "others saturate");
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

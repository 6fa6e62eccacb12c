//! The two time arithmetics: how the simulator converts seconds to whole nanoseconds and back.
//!
//! Its Linux build calculates with 64.64 fixed-point numbers, its Windows build with doubles. They
//! differ by a nanosecond here and there, so the two have different results.

use rocelab_fabric::truncated_nanoseconds_of;

/// Nanoseconds in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;
/// Nanoseconds in a microsecond.
pub(crate) const MICROSECOND: u64 = 1_000;

/// How times are converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// In 64.64 fixed-point numbers, as the Linux build does.
    #[default]
    Linux,
    /// In doubles, as the Windows build does.
    Double,
}

impl Arithmetic {
    /// Whole nanoseconds of a time in seconds, which is not negative.
    #[inline]
    pub(crate) fn nanoseconds(self, seconds: f64) -> u64 {
        self.nanoseconds_of(seconds, SECOND)
    }

    /// Whole nanoseconds of `value` units of `unit` nanoseconds; `value` is not negative.
    #[inline]
    pub(crate) fn nanoseconds_of(self, value: f64, unit: u64) -> u64 {
        match self {
            Self::Linux => truncated_nanoseconds_of(value, unit),
            Self::Double => truncated(value * unit as f64),
        }
    }

    /// A time of `nanoseconds` in seconds.
    pub(crate) fn seconds(self, nanoseconds: u64) -> f64 {
        match self {
            Self::Linux => {
                /// 2^128 nanoseconds in seconds, rounded up.
                const INVERSE: u128 = u128::MAX / SECOND as u128 + 1;
                const LOW: u128 = u64::MAX as u128;
                let time = u128::from(nanoseconds);
                let fixed = time * (INVERSE >> 64) + ((time * (INVERSE & LOW)) >> 64);
                (fixed >> 64) as f64 + (fixed & LOW) as f64 / (1u128 << 64) as f64
            }
            Self::Double => nanoseconds as f64 * (1.0 / SECOND as f64),
        }
    }

    /// The time that `bytes` take at `rate` (bit/s, not zero), in whole nanoseconds. The order of
    /// the operations must not change: both round.
    #[inline]
    pub(crate) fn serialisation(self, bytes: u32, rate: u64) -> u64 {
        self.nanoseconds(f64::from(bytes) * 8.0 / rate as f64)
    }
}

/// A number that is not negative, without its fraction.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate")]
pub(crate) const fn truncated(value: f64) -> u64 {
    value as u64
}

/// The same for 32 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate")]
pub(crate) const fn truncated_u32(value: f64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const GBPS_40: u64 = 40_000_000_000;

    #[test]
    fn a_frame_takes_a_nanosecond_less_in_fixed_point() {
        assert_eq!(Arithmetic::Linux.serialisation(1_020, GBPS_40), 203);
        assert_eq!(Arithmetic::Double.serialisation(1_020, GBPS_40), 204);
    }

    #[test]
    fn seconds_are_rounded_down_to_a_multiple_of_2_to_minus_64() {
        assert_eq!(Arithmetic::Linux.seconds(249), 2.489_999_999_999_632e-7);
        assert_eq!(Arithmetic::Double.seconds(249), 249.0 * 1e-9);
        assert_eq!(Arithmetic::Linux.seconds(2_000_000_000), 2.0);
        assert_eq!(Arithmetic::Linux.nanoseconds(2.5e-7), 249);
    }
}

//! Links as HPCC's ns-3 simulator has them: whole nanoseconds, truncated.
//!
//! That simulator converts a time in seconds to integer nanoseconds through a fixed-point number
//! with 64 fraction bits, and drops the rest. Therefore a time that should be a whole number of
//! nanoseconds often comes out one less: 1,000 bytes at 100 Gbit/s take 79 ns.

use rocelab_state::{State, save_value};
use rocelab_units::{Bandwidth, Duration, SimTime};

use super::{QUANTUM_BITS, Serialisation, Transmission, load_rate};

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// One direction of a link in HPCC's ns-3 simulator: no preamble and no gap; a frame takes the
/// whole nanoseconds of [`serialisation_ns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatingLink {
    rate: Bandwidth,
    delay: Duration,
}

impl TruncatingLink {
    /// A link of `rate`, which is not zero, and propagation `delay`; fractions of a nanosecond are
    /// ignored.
    pub const fn new(rate: Bandwidth, delay: Duration) -> Self {
        Self { rate, delay: Duration::from_ns(delay.ps() / 1_000) }
    }
}

impl State for TruncatingLink {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&self.rate, to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        self.rate = load_rate(from)?;
        Ok(())
    }
}

impl Serialisation for TruncatingLink {
    #[inline]
    fn transmit(&self, now: SimTime, frame_len: u32) -> Transmission {
        let free_at = now + Duration::from_ns(serialisation_ns(frame_len, self.rate));
        Transmission { free_at, arrival: free_at + self.delay }
    }

    fn rate(&self) -> Bandwidth {
        self.rate
    }

    fn set_rate(&mut self, rate: Bandwidth) {
        self.rate = rate;
    }

    fn delay(&self) -> Duration {
        self.delay
    }

    fn quantum(&self) -> Duration {
        Duration::from_ns(serialisation_ns(QUANTUM_BITS / 8, self.rate))
    }
}

/// The whole nanoseconds that `bytes` take at `rate` in HPCC's ns-3 simulator: the seconds as a
/// double, truncated by [`truncated_nanoseconds`].
///
/// The rate must not be zero, which the plan ensures; the result would be meaningless.
#[inline]
pub fn serialisation_ns(bytes: u32, rate: Bandwidth) -> u64 {
    // The order of these operations must not change: both round.
    truncated_nanoseconds(f64::from(bytes) * 8.0 / rate.bits_per_second() as f64)
}

/// A time of `seconds`, not negative, as HPCC's ns-3 simulator reads it: whole nanoseconds.
#[inline]
pub fn truncated_nanoseconds(seconds: f64) -> u64 {
    truncated_nanoseconds_of(seconds, SECOND)
}

/// A time of `value` units of `nanoseconds` each, as HPCC's ns-3 simulator reads it, in whole
/// nanoseconds; `value` is not negative. The unit of `0.6us` is 1,000 ns, that of `1ms` is
/// 1,000,000 ns.
///
/// The integer part counts exactly. The fraction is truncated twice: to a multiple of 2^-64, and
/// after the multiplication to whole nanoseconds.
#[inline]
pub fn truncated_nanoseconds_of(value: f64, nanoseconds: u64) -> u64 {
    let (whole, fraction) = fixed_point(value);
    whole.saturating_mul(nanoseconds).saturating_add(high_half(fraction, nanoseconds))
}

/// The integer part of a number that is not negative, and its fraction in units of 2^-64,
/// truncated.
#[inline]
fn fixed_point(value: f64) -> (u64, u64) {
    /// Bits of a significand that are stored; the first bit is implicit.
    const STORED: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = value.to_bits();
    // A number of 2^-12 to 1 has an exponent of 1011 to 1022; most frames take less than that.
    let exponent = bits >> STORED;
    if exponent <= 1_011 {
        let significand = bits & ((1 << STORED) - 1) | u64::from(exponent > 0) << STORED;
        return (0, significand.checked_shr(1_011 - low_half(exponent)).unwrap_or(0));
    }
    above_a_4096th(value)
}

#[cold]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts from floating point saturate"
)]
fn above_a_4096th(value: f64) -> (u64, u64) {
    const TWO_TO_64: f64 = (1u128 << 64) as f64;
    let whole = value as u64;
    // The fraction is below 1 and is scaled by a power of two, so this is exact.
    (whole, ((value - whole as f64) * TWO_TO_64) as u64)
}

#[inline]
const fn high_half(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

#[inline]
const fn low_half(value: u64) -> u32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes, and the time they take at 25, 40, 50, 100, 200 and 400 Gbit/s (ns), as measured in
    /// HPCC's ns-3 simulator.
    const SERIALISATION: [(u32, [u64; 6]); 9] = [
        (43, [13, 8, 6, 3, 1, 0]),
        (60, [19, 11, 9, 4, 2, 1]),
        (88, [28, 17, 14, 7, 3, 1]),
        (1048, [335, 209, 167, 83, 41, 20]),
        (1050, [335, 209, 167, 83, 41, 20]),
        (1056, [337, 211, 168, 84, 42, 21]),
        (1090, [348, 217, 174, 87, 43, 21]),
        (4048, [1295, 809, 647, 323, 161, 80]),
        (4090, [1308, 817, 654, 327, 163, 81]),
    ];

    #[test]
    fn both_ways_to_cut_off_agree() {
        let mut value = 3.3e-13;
        while value < 40.0 {
            for value in [value, value / 8.0, 1.0 / value] {
                assert_eq!(fixed_point(value), above_a_4096th(value), "{value}");
            }
            value *= 1.007;
        }
        assert_eq!(fixed_point(0.0), (0, 0));
        assert_eq!(fixed_point(1.0 / 4_096.0), (0, 1 << 52));
    }

    #[test]
    fn frames_take_the_whole_nanoseconds_of_the_reference() {
        for (bytes, times) in SERIALISATION {
            for (gbps, ns) in [25, 40, 50, 100, 200, 400].into_iter().zip(times) {
                let rate = Bandwidth::from_gbps(gbps);
                assert_eq!(serialisation_ns(bytes, rate), ns, "{bytes} bytes at {rate}");
            }
        }
    }

    #[test]
    fn an_exact_time_comes_out_one_short() {
        assert_eq!(serialisation_ns(1_000, Bandwidth::from_gbps(100)), 79);
        assert_eq!(serialisation_ns(1_048, Bandwidth::from_gbps(1)), 8_383);
    }

    #[test]
    fn a_unit_is_cut_off_like_seconds() {
        assert_eq!(truncated_nanoseconds_of(0.001, 1_000_000), 1_000);
        assert_eq!(truncated_nanoseconds_of(0.6, 1_000), 599);
        assert_eq!(truncated_nanoseconds_of(1_000.0, 1), 1_000);
        assert_eq!(truncated_nanoseconds(2.0), 2_000_000_000);
        assert_eq!(truncated_nanoseconds(2.5), 2_500_000_000);
    }

    #[test]
    fn a_frame_has_neither_preamble_nor_gap() {
        let delay = Duration::from_ps(1_000_999);
        let link = TruncatingLink::new(Bandwidth::from_gbps(100), delay);
        let sent = link.transmit(SimTime::from_ps(7_000), 1_048);
        assert_eq!(sent.free_at.ps(), (7 + 83) * 1_000);
        assert_eq!(sent.arrival.ps(), (7 + 83 + 1_000) * 1_000);
        assert_eq!(link.quantum().ps(), 5_000);
    }
}

//! Link and sending rates.

use crate::decimal::{Grammar, Unit};
use crate::quantity::quantity_text;
use crate::{Bytes, Duration};

const GRAMMAR: Grammar = Grammar {
    quantity: "bandwidth",
    example: "100Gbps",
    resolution: "1 bit/s",
    units: &[
        Unit { names: &["Tbps", "Tb/s", "Tbit/s"], scale: 1_000_000_000_000, print: true },
        Unit { names: &["Gbps", "Gb/s", "Gbit/s"], scale: 1_000_000_000, print: true },
        Unit { names: &["Mbps", "Mb/s", "Mbit/s"], scale: 1_000_000, print: true },
        Unit { names: &["kbps", "Kbps", "kb/s", "Kb/s", "kbit/s"], scale: 1_000, print: true },
        Unit { names: &["bps", "b/s", "bit/s"], scale: 1, print: true },
    ],
    most: u64::MAX,
};

/// A rate in bits per second.
#[derive(
    Clone,
    Copy,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
)]
#[repr(transparent)]
pub struct Bandwidth(u64);

quantity_text!(
    Bandwidth,
    GRAMMAR,
    r"^[0-9_]+(\.[0-9_]+)? ?[TGMkK]?(bps|b/s|bit/s)$",
    "A rate in bits per second, with a unit."
);

impl Bandwidth {
    /// A rate of `bits` bits per second.
    #[inline]
    pub const fn from_bps(bits: u64) -> Self {
        Self(bits)
    }

    /// A rate of `megabits` times 10^6 bits per second.
    pub const fn from_mbps(megabits: u64) -> Self {
        Self(megabits * 1_000_000)
    }

    /// A rate of `gigabits` times 10^9 bits per second.
    pub const fn from_gbps(gigabits: u64) -> Self {
        Self(gigabits * 1_000_000_000)
    }

    /// Bits per second.
    #[inline]
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// The time that `bytes` take at this rate. It is rounded up to whole picoseconds, so that
    /// nothing arrives before its last bit.
    ///
    /// # Panics If the rate is zero, which the scenario's plan refuses.
    #[inline]
    pub const fn transmission_time(self, bytes: Bytes) -> Duration {
        const PS_BITS: u64 = 8 * 1_000_000_000_000;
        match bytes.get().checked_mul(PS_BITS) {
            Some(scaled) => Duration::from_ps(scaled.div_ceil(self.0)),
            None => {
                let scaled = bytes.get() as u128 * PS_BITS as u128;
                Duration::from_ps(saturate(scaled.div_ceil(self.0 as u128)))
            }
        }
    }

    /// The bytes that fit into `span` at this rate, rounded down.
    #[inline]
    pub const fn bytes_in(self, span: Duration) -> Bytes {
        Bytes::new(saturate(self.0 as u128 * span.ps() as u128 / 8_000_000_000_000))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "clamped to the target's range just before")]
const fn saturate(value: u128) -> u64 {
    if value > u64::MAX as u128 { u64::MAX } else { value as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_time_is_exact_at_every_ethernet_rate() {
        for (gbps, ps) in
            [(10, 800), (25, 320), (40, 200), (50, 160), (100, 80), (400, 20), (800, 10), (1600, 5)]
        {
            let rate = Bandwidth::from_gbps(gbps);
            assert_eq!(rate.transmission_time(Bytes::new(1)), Duration::from_ps(ps));
        }
    }

    #[test]
    fn part_of_a_picosecond_rounds_up() {
        let third = Bandwidth::from_bps(3_000_000_000_000);
        assert_eq!(third.transmission_time(Bytes::new(1)).ps(), 3);
        assert_eq!(third.transmission_time(Bytes::new(3)).ps(), 8);
    }

    #[test]
    fn large_transfers_do_not_overflow() {
        let rate = Bandwidth::from_gbps(100);
        assert_eq!(rate.transmission_time(Bytes::new(10_000_000_000)).ps(), 800_000_000_000);
        assert_eq!(rate.bytes_in(Duration::from_us(1)), Bytes::new(12_500));
    }
}

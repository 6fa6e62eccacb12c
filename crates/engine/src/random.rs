//! Random streams.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rocelab_state::{BorshDeserialize, BorshSerialize};

/// One component's random numbers.
///
/// Every stream is seeded from the run's seed and the component's own name, so that adding a host
/// or a link does not move another's dice. The generator is xoshiro256++, whose output is the same
/// on every platform; the distributions use `libm` for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RngStream {
    generator: Xoshiro256PlusPlus,
}

impl RngStream {
    /// The stream of the component `name` in the run `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut state = seed ^ 0xcbf2_9ce4_8422_2325;
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(state) }
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..bound`, without bias (Lemire's multiply-and-reject).
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a random choice among nothing");
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let (high, low) = ((product >> 64) as u64, low_half(product));
            if low >= threshold {
                return high;
            }
        }
    }

    /// Exponential with the given mean, in the mean's unit.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Brings `items` into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1);
            items.swap(last, usize::try_from(chosen).unwrap_or(last));
        }
    }
}

/// The generator's 256 bits.
impl BorshSerialize for RngStream {
    fn serialize<W: std::io::Write>(&self, to: &mut W) -> std::io::Result<()> {
        self.generator.state().serialize(to)
    }
}

impl BorshDeserialize for RngStream {
    fn deserialize_reader<R: std::io::Read>(from: &mut R) -> std::io::Result<Self> {
        let state = <[u8; 32]>::deserialize_reader(from)?;
        Ok(Self { generator: Xoshiro256PlusPlus::from_seed(state) })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
const fn low_half(product: u128) -> u64 {
    product as u64
}

/// One step of SplitMix64: every input bit moves every output bit, and zero is no fixed point.
#[inline]
pub const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let mut one = RngStream::new(1, "host-0");
        let mut same = RngStream::new(1, "host-0");
        let mut other_name = RngStream::new(1, "host-1");
        let mut other_seed = RngStream::new(2, "host-0");
        let first = one.bits();
        assert_eq!(first, same.bits());
        assert_ne!(first, other_name.bits());
        assert_ne!(first, other_seed.bits());
    }

    #[test]
    fn output_is_pinned() {
        let mut stream = RngStream::new(1, "pinned");
        let drawn = [stream.bits(), stream.below(1000), stream.bits()];
        let again = RngStream::new(1, "pinned").bits();
        assert_eq!(drawn[0], again);
        assert_eq!(drawn, PINNED);
    }

    const PINNED: [u64; 3] = [611584651325270489, 140, 14692160251208987428];

    #[test]
    fn a_stream_that_was_saved_goes_on_where_it_was() {
        let mut stream = RngStream::new(5, "saved");
        for _ in 0..100 {
            let mut saved = Vec::new();
            stream.serialize(&mut saved).unwrap();
            assert_eq!(RngStream::deserialize(&mut &saved[..]).unwrap(), stream);
            stream.bits();
        }
    }

    #[test]
    fn means_are_right() {
        let mut stream = RngStream::new(7, "means");
        let n = 100_000;
        let uniform: f64 = (0..n).map(|_| stream.uniform()).sum::<f64>() / f64::from(n);
        let exponential: f64 = (0..n).map(|_| stream.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((uniform - 0.5).abs() < 0.005, "{uniform}");
        assert!((exponential - 3.0).abs() < 0.05, "{exponential}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        RngStream::new(3, "shuffle").shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}

//! Random numbers from a seed: the same on every machine.

use std::ops::RangeInclusive;

/// A generator of random numbers (`SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The generator for one scenario of a seed.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut first = Self { state: seed };
        let state = first.next() ^ index.wrapping_mul(0xd134_2543_de82_ef95);
        let mut own = Self { state };
        own.next();
        own
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number in a range.
    pub(crate) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (start, end) = range.into_inner();
        let count = u128::from(end.saturating_sub(start)) + 1;
        let share = (u128::from(self.next()) * count) >> 64;
        start + u64::try_from(share).unwrap_or(0)
    }

    /// A number in a range; every power of two is equally likely.
    pub(crate) fn magnitude(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (least, most) = (*range.start(), *range.end());
        let bits = |number: u64| u64::from(number.max(1).ilog2());
        let scale = 1 << self.within(bits(least)..=bits(most));
        self.within(scale..=2 * scale - 1).clamp(least, most)
    }

    /// True with a probability of one in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.within(1..=times) == 1
    }

    /// One of several items.
    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        let last = all.len().saturating_sub(1) as u64;
        all[usize::try_from(self.within(0..=last)).unwrap_or(0)].clone()
    }

    /// At least one and at most `most` of several items, each once, in random order.
    pub(crate) fn some<T: Clone>(&mut self, all: &[T], most: usize) -> Vec<T> {
        let mut left = all.to_vec();
        let most = most.min(left.len()) as u64;
        (0..self.within(1..=most.max(1)))
            .map(|_| {
                let last = left.len() as u64 - 1;
                left.swap_remove(usize::try_from(self.within(0..=last)).unwrap_or(0))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range_and_reach_both_ends() {
        let mut random = Random::new(1, 2);
        let thrown: Vec<u64> = (0..1_000).map(|_| random.within(3..=6)).collect();
        assert_eq!((thrown.iter().min(), thrown.iter().max()), (Some(&3), Some(&6)));
        let thrown: Vec<u64> = (0..1_000).map(|_| random.magnitude(5..=70_000)).collect();
        assert!(thrown.iter().all(|number| (5..=70_000).contains(number)));
        assert!(thrown.iter().filter(|&&number| number < 100).count() > 150);
        let some = random.some(&[1, 2, 3], 2);
        assert!((1..=2).contains(&some.len()));
    }

    #[test]
    fn scenarios_of_a_seed_differ() {
        let first = |seed, index| Random::new(seed, index).next();
        assert_eq!(first(7, 1), first(7, 1));
        assert_ne!(first(7, 1), first(7, 2));
        assert_ne!(first(7, 1), first(8, 1));
    }
}

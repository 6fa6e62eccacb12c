//! The generator behind `rand()` of the GNU C library, from which HPCC-PINT draws in HPCC's ns-3
//! simulator.

/// The sequence of `rand()` in a program that has not seeded it, which is that of the seed 1.
///
/// It is an additive feedback generator: each value is the sum of those 3 and 31 places before, and
/// a draw is such a value without its lowest bit. The first 31 values come from the "minimal
/// standard" generator of Park and Miller (1988), and the 310 that follow are thrown away.
#[derive(Clone, Debug)]
pub(crate) struct GlibcRandom {
    /// The last 31 values, in a ring.
    values: [u32; DEGREE],
    /// Where the oldest value stands, which the next one replaces.
    oldest: usize,
}

const DEGREE: usize = 31;
const SEPARATION: usize = 3;
const THROWN_AWAY: usize = 10 * DEGREE;

impl GlibcRandom {
    /// The sequence from its start.
    pub(crate) fn new() -> Self {
        let mut values = [1; DEGREE];
        for place in 1..DEGREE {
            values[place] = minimal_standard(values[place - 1]);
        }
        // The first three of these count as the latest values.
        let mut random = Self { values, oldest: SEPARATION };
        for _ in 0..THROWN_AWAY {
            random.next();
        }
        random
    }

    /// The next number, from 0 to 2^31 - 1.
    pub(crate) fn next(&mut self) -> u32 {
        // The value 3 places before stands 28 behind the oldest, which is 31 places before.
        let recent = (self.oldest + DEGREE - SEPARATION) % DEGREE;
        let value = self.values[self.oldest].wrapping_add(self.values[recent]);
        self.values[self.oldest] = value;
        self.oldest = (self.oldest + 1) % DEGREE;
        value >> 1
    }
}

/// The next value after one from 1 to 2^31 - 2, in the same range.
const fn minimal_standard(value: u32) -> u32 {
    (value as u64 * 16_807 % 0x7fff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_as_rand_does() {
        let mut random = GlibcRandom::new();
        let first = [0; 5].map(|_| random.next());
        let expected = [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793];
        assert_eq!(first, expected);
    }

    /// From a C program on a machine with that library.
    #[test]
    fn it_goes_on_as_rand_does() {
        let mut random = GlibcRandom::new();
        let mut at = 0;
        let mut number = |place| {
            let skipped = place - 1 - std::mem::replace(&mut at, place);
            (0..skipped).for_each(|_| _ = random.next());
            random.next()
        };
        assert_eq!(number(100), 1_956_297_539);
        assert_eq!(number(1_000), 1_143_565_421);
        assert_eq!(number(1_000_000), 429_357_853);
    }
}

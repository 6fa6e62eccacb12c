//! A distribution of round-trip times in little memory.

use std::time::Duration;

/// Precision of the narrowest buckets in bits: times are stored within 1/128.
const PRECISION: u32 = 7;

/// Most buckets of a distribution: 1 KiB. With the widest possible buckets, one for each octave,
/// there are at most 58, so widening always suffices.
const MAX_BUCKETS: usize = 128;

/// A distribution of round-trip times.
///
/// Minimum and maximum are exact. Percentiles are at most 0.8 % too low if all times are in 128
/// buckets of that width, that is, within a factor of 1.9. Otherwise all buckets become twice as
/// wide, and so does the largest error: 1.6 % within a factor of 3.8, 3.2 % within a factor of 15,
/// 6.3 % within a factor of 200.
///
/// Memory: at most 1 KiB.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    count: u64,
    min_ns: u64,
    max_ns: u64,
    /// How many times the width of the buckets was doubled.
    coarseness: u32,
    /// The buckets that are not empty, in order.
    buckets: Vec<Bucket>,
}

/// Times of similar length.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Its number, which depends on the distribution's coarseness.
    number: u16,
    weight: u32,
}

impl RoundTrips {
    pub(crate) fn add(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.min_ns = if self.count == 0 { ns } else { self.min_ns.min(ns) };
        self.max_ns = self.max_ns.max(ns);
        self.count += 1;
        self.count_in(ns);
    }

    fn count_in(&mut self, ns: u64) {
        let number = bucket(ns) >> self.coarseness;
        match self.buckets.binary_search_by_key(&number, |bucket| bucket.number) {
            Ok(place) => self.add_to(place),
            Err(place) if self.buckets.len() < MAX_BUCKETS => {
                self.buckets.insert(place, Bucket { number, weight: 1 });
            }
            Err(_) => {
                self.coarsen();
                self.count_in(ns);
            }
        }
    }

    fn add_to(&mut self, place: usize) {
        if self.buckets[place].weight == u32::MAX {
            // Percentiles depend on the proportions of the weights only, so all may be halved.
            self.buckets.iter_mut().for_each(|bucket| bucket.weight = bucket.weight.div_ceil(2));
        }
        self.buckets[place].weight += 1;
    }

    /// Doubles the width of all buckets.
    #[cold]
    fn coarsen(&mut self) {
        self.coarseness += 1;
        self.buckets.iter_mut().for_each(|bucket| bucket.number >>= 1);
        self.buckets.dedup_by(|next, kept| {
            let same = next.number == kept.number;
            if same {
                kept.weight = kept.weight.saturating_add(next.weight);
            }
            same
        });
    }

    /// The number of times.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The minimum in ns; `None` if there are no times.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// The maximum in ns; `None` if there are no times.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// The time in ns that `per_mille` thousandths of all times do not exceed (nearest rank);
    /// `None` if there are no times.
    #[must_use]
    pub fn percentile_ns(&self, per_mille: u32) -> Option<u64> {
        let all: u64 = self.buckets.iter().map(|bucket| u64::from(bucket.weight)).sum();
        let rank = (all * u64::from(per_mille.min(1_000))).div_ceil(1_000).max(1);
        let mut before = 0;
        for bucket in &self.buckets {
            before += u64::from(bucket.weight);
            if before >= rank {
                let least = least_in(bucket.number << self.coarseness);
                return Some(least.clamp(self.min_ns, self.max_ns));
            }
        }
        None
    }
}

#[expect(clippy::cast_possible_truncation, reason = "64 octaves of 128 buckets")]
fn bucket(ns: u64) -> u16 {
    let octave = (u64::BITS - ns.leading_zeros()).saturating_sub(PRECISION + 1);
    (octave << PRECISION) as u16 + (ns >> octave) as u16
}

fn least_in(bucket: u16) -> u64 {
    let octave = (bucket >> PRECISION).saturating_sub(1);
    u64::from(bucket - (octave << PRECISION)) << octave
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_begin_with_their_least() {
        let mut last = 0;
        for ns in (0..5_000).chain([1 << 20, 123_456_789, u64::MAX / 2, u64::MAX]) {
            let this = bucket(ns);
            assert!(this >= last, "{ns}");
            last = this;
            let least = least_in(this);
            assert!(least <= ns && ns - least <= ns / 128, "{ns} in a bucket from {least}");
            assert_eq!(bucket(least), this, "{ns}");
        }
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut times = RoundTrips::default();
        assert_eq!((times.min_ns(), times.percentile_ns(500), times.max_ns()), (None, None, None));
        (1..=100).for_each(|ns| times.add(Duration::from_nanos(ns)));
        assert_eq!((times.min_ns(), times.max_ns(), times.count()), (Some(1), Some(100), 100));
        assert_eq!(times.percentile_ns(500), Some(50));
        assert_eq!(times.percentile_ns(990), Some(99));
        assert_eq!(times.percentile_ns(0), Some(1));
    }

    #[test]
    fn however_spread_the_times_are_the_buckets_are_few() {
        let mut times = RoundTrips::default();
        let mut all = Vec::new();
        let mut ns: u64 = 1;
        while ns < u64::MAX / 2 {
            all.push(ns);
            times.add(Duration::from_nanos(ns));
            assert!(times.buckets.len() <= MAX_BUCKETS && times.buckets.capacity() <= MAX_BUCKETS);
            ns += ns / 97 + 1;
        }
        assert_eq!(times.count(), all.len() as u64);
        // 63 octaves, with two buckets for each.
        let median = all[all.len().div_ceil(2) - 1];
        let found = times.percentile_ns(500).unwrap();
        assert!(found <= median && median - found <= median / 2, "{found} for {median}");
    }

    #[test]
    fn the_error_is_what_the_documentation_says() {
        let promises = [(19, 128), (38, 64), (150, 32), (2_000, 16)];
        let starts = [1_000, 1_023, 1_024, 1_300, 1_700, 2_047];
        for (start, (tenfold, error)) in starts.iter().flat_map(|at| promises.map(|one| (*at, one)))
        {
            let mut times = RoundTrips::default();
            let next = |ns: &u64| Some(ns + ns / 1_000);
            let end = start * tenfold / 10;
            let all: Vec<u64> =
                std::iter::successors(Some(start), next).take_while(|ns| *ns < end).collect();
            all.iter().for_each(|ns| times.add(Duration::from_nanos(*ns)));
            for per_mille in 1..=1_000 {
                let rank = (all.len() * per_mille as usize).div_ceil(1_000);
                let exact = all[rank - 1];
                let found = times.percentile_ns(per_mille).unwrap();
                assert!(found <= exact, "{found} for {exact}");
                assert!(exact - found <= exact / error, "{found} for {exact} of {start}..{end}");
            }
        }
    }

    #[test]
    fn weights_do_not_overflow() {
        let mut times = RoundTrips::default();
        [5, 5, 9].iter().for_each(|ns| times.add(Duration::from_nanos(*ns)));
        times.buckets[0].weight = u32::MAX;
        times.add(Duration::from_nanos(5));
        assert_eq!(times.buckets[0].weight, (1 << 31) + 1);
        assert_eq!((times.percentile_ns(999), times.percentile_ns(1_000)), (Some(5), Some(9)));
    }
}

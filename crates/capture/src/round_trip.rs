//! Round-trip times, in little memory.

use std::collections::BTreeMap;
use std::time::Duration;

/// Bits of precision of a bucket: times are kept to within 1/128.
const PRECISION: u32 = 7;

/// A distribution of round-trip times.
///
/// Least and greatest are exact; percentiles are at most 0.8 % too low.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    count: u64,
    min_ns: u64,
    max_ns: u64,
    buckets: BTreeMap<u16, u64>,
}

impl RoundTrips {
    pub(crate) fn add(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.min_ns = if self.count == 0 { ns } else { self.min_ns.min(ns) };
        self.max_ns = self.max_ns.max(ns);
        self.count += 1;
        *self.buckets.entry(bucket(ns)).or_default() += 1;
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The least, in ns; none if there are none.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// The greatest, in ns; none if there are none.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// The time in ns that `per_mille` thousandths of all do not exceed (nearest rank); none if
    /// there are none.
    #[must_use]
    pub fn percentile_ns(&self, per_mille: u32) -> Option<u64> {
        let rank = (self.count * u64::from(per_mille.min(1_000))).div_ceil(1_000).max(1);
        let mut before = 0;
        for (bucket, count) in &self.buckets {
            before += count;
            if before >= rank {
                return Some(least_in(*bucket).clamp(self.min_ns, self.max_ns));
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
}

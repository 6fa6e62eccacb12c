//! Exact percentiles.

use serde::{Deserialize, Serialize};

use crate::Millionths;

/// Least, mean, greatest and percentiles of a set of values.
///
/// Percentiles are exact, by the nearest-rank definition: the p-th percentile of n values is the
/// one at rank ceil(p / 100 x n) of them in ascending order, so always a value that occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution<T> {
    /// Least.
    pub min: T,
    /// Arithmetic mean, rounded half up to the value's resolution.
    pub mean: T,
    /// Median.
    pub p50: T,
    /// 95th percentile.
    pub p95: T,
    /// 99th percentile.
    pub p99: T,
    /// 99.9th percentile.
    pub p999: T,
    /// Greatest.
    pub max: T,
}

impl Distribution<u64> {
    /// The distribution of `values`, which it sorts; `None` of no values.
    pub fn of(values: &mut [u64]) -> Option<Self> {
        values.sort_unstable();
        let (min, max) = (*values.first()?, *values.last()?);
        let count = values.len() as u128;
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        let mean = (sum + count / 2) / count;
        Some(Self {
            min,
            mean: u64::try_from(mean).unwrap_or(max),
            p50: nearest_rank(values, 500),
            p95: nearest_rank(values, 950),
            p99: nearest_rank(values, 990),
            p999: nearest_rank(values, 999),
            max,
        })
    }

    /// The same numbers as millionths.
    pub fn into_millionths(self) -> Distribution<Millionths> {
        Distribution {
            min: Millionths(self.min),
            mean: Millionths(self.mean),
            p50: Millionths(self.p50),
            p95: Millionths(self.p95),
            p99: Millionths(self.p99),
            p999: Millionths(self.p999),
            max: Millionths(self.max),
        }
    }
}

/// The value at rank ceil(per mille / 1000 x n) of `sorted`, which is not empty.
fn nearest_rank(sorted: &[u64], per_mille: usize) -> u64 {
    let rank = (sorted.len() * per_mille).div_ceil(1_000);
    sorted[rank.max(1) - 1]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, word for word: the least value such that at least this share of all
    /// values is not greater.
    fn naive(values: &[u64], per_mille: usize) -> u64 {
        let covers = |candidate: u64| {
            let covered = values.iter().filter(|value| **value <= candidate).count();
            covered * 1_000 >= values.len() * per_mille
        };
        values.iter().copied().filter(|value| covers(*value)).min().unwrap()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(mut values in prop::collection::vec(0_u64..50, 1..300)) {
            let distribution = Distribution::of(&mut values.clone()).unwrap();
            values.reverse();
            prop_assert_eq!(distribution.p50, naive(&values, 500));
            prop_assert_eq!(distribution.p95, naive(&values, 950));
            prop_assert_eq!(distribution.p99, naive(&values, 990));
            prop_assert_eq!(distribution.p999, naive(&values, 999));
            prop_assert_eq!(distribution.min, *values.iter().min().unwrap());
            prop_assert_eq!(distribution.max, *values.iter().max().unwrap());
        }
    }

    #[test]
    fn of_one_to_a_thousand() {
        let mut values: Vec<u64> = (1..=1_000).rev().collect();
        let expected =
            Distribution { min: 1, mean: 501, p50: 500, p95: 950, p99: 990, p999: 999, max: 1_000 };
        assert_eq!(Distribution::of(&mut values), Some(expected));
    }

    #[test]
    fn of_one_value_and_of_none() {
        let seven = Distribution { min: 7, mean: 7, p50: 7, p95: 7, p99: 7, p999: 7, max: 7 };
        assert_eq!(Distribution::of(&mut [7]), Some(seven));
        assert_eq!(Distribution::of(&mut []), None);
    }

    #[test]
    fn the_mean_of_large_values_does_not_overflow() {
        let mut values = [u64::MAX, u64::MAX, u64::MAX];
        assert_eq!(Distribution::of(&mut values).unwrap().mean, u64::MAX);
    }
}

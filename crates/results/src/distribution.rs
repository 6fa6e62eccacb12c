//! Exact percentiles, and how reliable they are.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Millionths;

/// Minimum, mean, maximum and percentiles of a set of values, some of which may be missing.
///
/// Percentiles use the nearest-rank definition: the p-th percentile of n values is the one at rank
/// ceil(p / 100 x n) in ascending order. [`Missing`] values count too: each is at least its bound,
/// or greater than all others. A percentile is exact if it is the same for the smallest and the
/// largest possible missing values. Otherwise it is a [lower bound](Self::is_lower_bound): its
/// value for the smallest possible ones.
///
/// A percentile of few values says little. The p-th needs 1 / (1 - p / 100) values
/// ([`Statistic::needs`]); with fewer it is [unsupported](Self::unsupported).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution<T> {
    /// Number of known values; 0 in results of older builds, which do not contain it.
    #[serde(default)]
    pub values: u64,
    /// Number of missing values: of flows or operations that started and did not complete.
    #[serde(default)]
    pub missing: u64,
    /// Minimum of the known values and of the bounds of missing ones that have a bound.
    pub min: T,
    /// Arithmetic mean of the same values, rounded half up to the value's resolution.
    pub mean: T,
    /// Median.
    pub p50: T,
    /// 95th percentile.
    pub p95: T,
    /// 99th percentile.
    pub p99: T,
    /// 99.9th percentile.
    pub p999: T,
    /// Maximum of the same values.
    pub max: T,
    /// The statistics that are only lower bounds.
    #[serde(default, skip_serializing_if = "Statistics::is_empty")]
    pub at_least: Statistics,
    /// The statistics that have too few values.
    #[serde(default, skip_serializing_if = "Statistics::is_empty")]
    pub unsupported: Statistics,
}

/// What is known about missing values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// A lower bound for each value that may still come: the time since an open flow started.
    pub at_least: Vec<u64>,
    /// Number of values that will never come, and so are greater than all others.
    pub never: u64,
}

impl Missing {
    /// `count` values about which nothing is known.
    pub const fn never(count: u64) -> Self {
        Self { at_least: Vec::new(), never: count }
    }

    /// The number of missing values.
    pub const fn count(&self) -> u64 {
        self.never.saturating_add(self.at_least.len() as u64)
    }
}

/// One of the statistics that missing values change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Least value.
    Min,
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Greatest value.
    Max,
}

impl Statistic {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Min, Self::Mean, Self::P50, Self::P95, Self::P99, Self::P999, Self::Max];

    /// Its key in `summary.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
        }
    }

    /// The least number of values that support it: with this number, one value is at or above a
    /// high percentile.
    pub const fn needs(self) -> u64 {
        match self {
            Self::Min | Self::Mean | Self::P50 | Self::Max => 1,
            Self::P95 => 20,
            Self::P99 => 100,
            Self::P999 => 1_000,
        }
    }

    /// The rank of a percentile among `values` values, from 1. The mean has the rank of the
    /// maximum, because it needs all values.
    const fn rank(self, values: u64) -> u64 {
        let per_mille = match self {
            Self::Min => return 1,
            Self::P50 => 500,
            Self::P95 => 950,
            Self::P99 => 990,
            Self::P999 => 999,
            Self::Mean | Self::Max => 1_000,
        };
        // Whole thousands and the remainder are computed apart, so that no product overflows.
        values / 1_000 * per_mille + (values % 1_000 * per_mille).div_ceil(1_000)
    }
}

/// A set of statistics; in JSON the list of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics(u8);

impl Statistics {
    /// The statistics that this number of values does not support.
    fn unsupported_by(values: u64) -> Self {
        Statistic::ALL.into_iter().filter(|one| values < one.needs()).collect()
    }

    /// Whether the set is empty.
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains one.
    pub const fn has(self, one: Statistic) -> bool {
        self.0 & 1 << one as u8 != 0
    }

    /// The names of those that it has, in their order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Statistic::ALL.into_iter().filter(move |one| self.has(*one)).map(Statistic::name)
    }
}

impl FromIterator<Statistic> for Statistics {
    fn from_iter<I: IntoIterator<Item = Statistic>>(all: I) -> Self {
        Self(all.into_iter().fold(0, |set, one| set | 1 << one as u8))
    }
}

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl<'de> Deserialize<'de> for Statistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        let known = |name: &String| {
            let known = Statistic::ALL.into_iter().find(|one| one.name() == name);
            known.ok_or_else(|| {
                D::Error::custom(format!("{name} is neither min, mean, max nor percentile"))
            })
        };
        names.iter().map(known).collect()
    }
}

impl<T: Copy> Distribution<T> {
    /// The value of a statistic, if there are enough values for it.
    pub fn supported(&self, one: Statistic) -> Option<T> {
        let value = match one {
            Statistic::Min => self.min,
            Statistic::Mean => self.mean,
            Statistic::P50 => self.p50,
            Statistic::P95 => self.p95,
            Statistic::P99 => self.p99,
            Statistic::P999 => self.p999,
            Statistic::Max => self.max,
        };
        (!self.unsupported.has(one)).then_some(value)
    }

    /// Whether a statistic is only a lower bound of that of all values, including missing ones.
    pub const fn is_lower_bound(&self, one: Statistic) -> bool {
        self.at_least.has(one)
    }

    /// The number of known and missing values.
    pub const fn total(&self) -> u64 {
        self.values.saturating_add(self.missing)
    }

    /// Completes a distribution of an older build, which had `values` known values and `missing`
    /// others. Older builds ranked the known values only. Among all values, a percentile has the
    /// same rank or a higher one, so it may become a lower bound.
    pub(crate) fn completed(self, values: u64, missing: u64) -> Self {
        if self.values > 0 {
            return self;
        }
        let total = values.saturating_add(missing);
        let of = |one: Statistic, value| if one.rank(total) > values { self.max } else { value };
        let is_higher = |one: &Statistic| one.rank(total) > one.rank(values);
        Self {
            values,
            missing,
            p50: of(Statistic::P50, self.p50),
            p95: of(Statistic::P95, self.p95),
            p99: of(Statistic::P99, self.p99),
            p999: of(Statistic::P999, self.p999),
            at_least: Statistic::ALL.into_iter().filter(is_higher).collect(),
            unsupported: Statistics::unsupported_by(total),
            ..self
        }
    }
}

impl Distribution<u64> {
    /// The distribution of `values`, which are sorted in place; `None` if there are no values.
    pub fn of(values: &mut [u64]) -> Option<Self> {
        Self::with_missing(values, &Missing::default())
    }

    /// The distribution of `values`, which are sorted in place, and of missing values; `None` if
    /// there are no values.
    pub fn with_missing(values: &mut [u64], missing: &Missing) -> Option<Self> {
        values.sort_unstable();
        values.first()?;
        let mut least: Vec<u64> = values.iter().chain(&missing.at_least).copied().collect();
        least.sort_unstable();
        let max = *least.last()?;
        let total = (values.len() as u64).saturating_add(missing.count());
        let at_rank = |of: &[u64], one: Statistic| {
            let place = usize::try_from(one.rank(total).saturating_sub(1)).ok()?;
            of.get(place).copied()
        };
        let value = |one| at_rank(&least, one).unwrap_or(max);
        let is_exact = |one: Statistic| match one {
            Statistic::Mean => missing.count() == 0,
            _ => at_rank(values, one).is_some_and(|most| most == value(one)),
        };
        Some(Self {
            values: values.len() as u64,
            missing: missing.count(),
            min: value(Statistic::Min),
            mean: mean(&least),
            p50: value(Statistic::P50),
            p95: value(Statistic::P95),
            p99: value(Statistic::P99),
            p999: value(Statistic::P999),
            max,
            at_least: Statistic::ALL.into_iter().filter(|one| !is_exact(*one)).collect(),
            unsupported: Statistics::unsupported_by(total),
        })
    }

    /// The same numbers as millionths.
    pub fn into_millionths(self) -> Distribution<Millionths> {
        Distribution {
            values: self.values,
            missing: self.missing,
            min: Millionths(self.min),
            mean: Millionths(self.mean),
            p50: Millionths(self.p50),
            p95: Millionths(self.p95),
            p99: Millionths(self.p99),
            p999: Millionths(self.p999),
            max: Millionths(self.max),
            at_least: self.at_least,
            unsupported: self.unsupported,
        }
    }
}

/// The mean, rounded half up; there must be at least one value.
fn mean(values: &[u64]) -> u64 {
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    let count = (values.len() as u128).max(1);
    u64::try_from((sum + count / 2) / count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PERCENTILES: [(Statistic, usize); 5] = [
        (Statistic::P50, 500),
        (Statistic::P95, 950),
        (Statistic::P99, 990),
        (Statistic::P999, 999),
        (Statistic::Max, 1_000),
    ];

    /// The definition, word for word: the least value such that at least this share of all values
    /// is not greater. Missing values are greater than all others; the result is `None` if it is
    /// one of them.
    fn naive(values: &[u64], missing: u64, per_mille: usize) -> Option<u64> {
        let covers = |candidate: u64| {
            let covered = values.iter().filter(|value| **value <= candidate).count();
            covered * 1_000 >= (values.len() + usize::try_from(missing).unwrap()) * per_mille
        };
        values.iter().copied().filter(|value| covers(*value)).min()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            mut values in prop::collection::vec(0_u64..50, 1..1_200),
            missing in prop_oneof![Just(0_u64), 0_u64..1_200],
        ) {
            let of = Distribution::with_missing(&mut values.clone(), &Missing::never(missing)).unwrap();
            values.reverse();
            let max = *values.iter().max().unwrap();
            prop_assert_eq!((of.min, of.max), (*values.iter().min().unwrap(), max));
            for (one, per_mille) in PERCENTILES {
                let expected = naive(&values, missing, per_mille);
                prop_assert_eq!(of.is_lower_bound(one), expected.is_none());
                let told = (of.total() >= one.needs()).then(|| expected.unwrap_or(max));
                prop_assert_eq!(of.supported(one), told);
            }
            prop_assert_eq!(of.is_lower_bound(Statistic::Mean), missing > 0);
            prop_assert!(!of.is_lower_bound(Statistic::Min));
        }
    }

    proptest! {
        /// The bounds hold for all values, whatever the missing ones turn out to be.
        #[test]
        fn bounds_hold_of_what_comes_in_the_end(
            known in prop::collection::vec(0_u64..50, 1..60),
            open in prop::collection::vec((0_u64..50, 0_u64..50), 0..60),
            never in 0_u64..20,
        ) {
            let at_least = open.iter().map(|(bound, _)| *bound).collect();
            let told = Distribution::with_missing(&mut known.clone(), &Missing { at_least, never });
            let told = told.unwrap();
            let ends = open.iter().map(|(bound, more)| bound + more);
            let mut all: Vec<u64> = known.iter().copied().chain(ends).collect();
            let end = Distribution::with_missing(&mut all, &Missing::never(never)).unwrap();
            prop_assert_eq!(told.total(), end.total());
            for one in Statistic::ALL {
                let (Some(told_value), Some(end_value)) = (told.supported(one), end.supported(one))
                else {
                    continue;
                };
                if told.is_lower_bound(one) {
                    prop_assert!(told_value <= end_value, "{:?}", one);
                } else {
                    prop_assert_eq!(told_value, end_value, "{:?}", one);
                }
            }
        }
    }

    #[test]
    fn of_one_to_a_thousand() {
        let mut values: Vec<u64> = (1..=1_000).rev().collect();
        let of = Distribution::of(&mut values).unwrap();
        assert_eq!((of.values, of.min, of.mean, of.max), (1_000, 1, 501, 1_000));
        assert_eq!([of.p50, of.p95, of.p99, of.p999], [500, 950, 990, 999]);
        assert!(of.unsupported.is_empty() && of.at_least.is_empty());
    }

    #[test]
    fn of_one_value_and_of_none() {
        let seven = Distribution::of(&mut [7]).unwrap();
        assert_eq!((seven.min, seven.mean, seven.max), (7, 7, 7));
        assert_eq!((seven.p50, seven.supported(Statistic::P50)), (7, Some(7)));
        assert_eq!(seven.supported(Statistic::P95), None);
        assert_eq!(Distribution::of(&mut []), None);
    }

    #[test]
    fn few_values_support_few_percentiles() {
        let told = |count: u64| {
            let of = Distribution::of(&mut (0..count).collect::<Vec<_>>()).unwrap();
            PERCENTILES.iter().filter(|(one, _)| of.supported(*one).is_some()).count()
        };
        let counts = [1, 2, 19, 20, 32, 99, 100, 999, 1_000];
        assert_eq!(counts.map(told), [2, 2, 2, 3, 3, 3, 4, 4, 5]);
    }

    /// If five of ten flows did not complete, the median is the fifth value: the slowest flow that
    /// did.
    #[test]
    fn ranks_are_those_among_all_and_missing_ones_are_last() {
        let of = Distribution::with_missing(&mut [5, 1, 4, 2, 3], &Missing::never(5)).unwrap();
        assert_eq!((of.p50, of.is_lower_bound(Statistic::P50)), (5, false));
        let of = Distribution::with_missing(&mut [5, 1, 4, 2, 3], &Missing::never(2)).unwrap();
        assert_eq!((of.p50, of.is_lower_bound(Statistic::P50)), (4, false));
        let of = Distribution::with_missing(&mut [5, 1, 4, 2, 3], &Missing::never(6)).unwrap();
        assert_eq!((of.p50, of.is_lower_bound(Statistic::P50)), (5, true));
        assert!(of.is_lower_bound(Statistic::Mean) && of.is_lower_bound(Statistic::Max));
    }

    #[test]
    fn json_has_every_number_and_names_those_to_be_careful_with() {
        let of = Distribution::with_missing(&mut [1, 2], &Missing::never(2)).unwrap();
        let json = serde_json::to_value(of).unwrap();
        assert_eq!((&json["p50"], &json["p95"]), (&2.into(), &2.into()));
        assert_eq!((&json["values"], &json["missing"]), (&2.into(), &2.into()));
        assert_eq!(json["at_least"], serde_json::json!(["mean", "p95", "p99", "p999", "max"]));
        assert_eq!(json["unsupported"], serde_json::json!(["p95", "p99", "p999"]));
        assert_eq!(serde_json::from_value::<Distribution<u64>>(json).unwrap(), of);
    }

    #[test]
    fn what_older_builds_wrote_is_told_as_far_as_it_is_known() {
        let old = r#"{"min": 1, "mean": 2, "p50": 2, "p95": 3, "p99": 3, "p999": 3, "max": 4}"#;
        let old: Distribution<u64> = serde_json::from_str(old).unwrap();
        let of = old.completed(32, 0);
        assert_eq!((of.supported(Statistic::P95), of.supported(Statistic::P99)), (Some(3), None));
        assert!(of.at_least.is_empty());
        // Among 64 values, the median is at rank 32, not at rank 16 as among the known ones.
        let of = old.completed(32, 32);
        assert_eq!((of.p50, of.is_lower_bound(Statistic::P50)), (2, true));
        assert_eq!((of.p95, of.is_lower_bound(Statistic::P95)), (4, true));
        // One missing value leaves the median of 9,999 values at rank 5,000.
        assert!(!old.completed(9_999, 1).is_lower_bound(Statistic::P50));
    }

    #[test]
    fn damaged_counts_do_no_harm() {
        let of = Distribution::with_missing(&mut [1, 2], &Missing::never(u64::MAX)).unwrap();
        assert_eq!((of.total(), of.p50), (u64::MAX, 2));
        assert_eq!(Distribution { values: 0, ..of }.completed(u64::MAX, u64::MAX).max, 2);
    }

    #[test]
    fn the_mean_of_large_values_does_not_overflow() {
        let mut values = [u64::MAX, u64::MAX, u64::MAX];
        assert_eq!(Distribution::of(&mut values).unwrap().mean, u64::MAX);
    }
}

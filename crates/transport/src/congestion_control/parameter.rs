//! Parameters that cannot work, and what they have in common.

use core::fmt;
use std::borrow::Cow;

use rocelab_units::{Bandwidth, Duration, Ratio};

/// A parameter that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value} {problem}: {fix}")]
pub struct InvalidParameter {
    /// Its key within the algorithm's table.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What is wrong.
    pub problem: Cow<'static, str>,
    /// What to write instead.
    pub fix: Cow<'static, str>,
}

/// Shortest interval that a parameter may be: the resolution of the clocks of adapters and of
/// HPCC's ns-3 simulator. A timer of less would leave a run no time for anything else.
const MIN_INTERVAL: Duration = Duration::from_ns(1);

/// Longest time that a parameter may be: times far in the future still fit.
const MAX_TIME: Duration = Duration::from_ms(3_600_000);

impl InvalidParameter {
    /// Refuses a value unless `holds`.
    pub(crate) fn unless(
        holds: bool,
        key: &'static str,
        value: &dyn fmt::Display,
        problem: &'static str,
        fix: &'static str,
    ) -> Result<(), Self> {
        if holds {
            return Ok(());
        }
        Err(Self { key, value: value.to_string(), problem: problem.into(), fix: fix.into() })
    }

    /// Refuses what is not above 0 and at most 1.
    pub(super) fn unless_share(key: &'static str, ratio: Ratio) -> Result<(), Self> {
        let holds = 0 < ratio.numerator() && ratio.numerator() <= ratio.denominator();
        let fix = "give a fraction above 0 and at most 1, such as \"4/5\"";
        Self::unless(holds, key, &ratio, "is not a share", fix)
    }

    /// Refuses a rate of 0.
    pub(super) fn unless_moving(key: &'static str, rate: Bandwidth) -> Result<(), Self> {
        Self::unless(
            rate.bits_per_second() > 0,
            key,
            &rate,
            "lets a slow queue pair stop for ever",
            "give a rate above 0bps, such as \"40Mbps\"",
        )
    }

    /// Refuses an interval below 1 ns, and one that is longer than any run.
    pub(super) fn unless_interval(key: &'static str, time: Duration) -> Result<(), Self> {
        let fix = "give a time above 0s, such as \"55us\"";
        Self::unless(time > Duration::ZERO, key, &time, "would expire without end", fix)?;
        let problem = "expires more often than any clock of an adapter ticks";
        Self::unless(time >= MIN_INTERVAL, key, &time, problem, "give at least 1ns")?;
        Self::unless(time <= MAX_TIME, key, &time, "is longer than any run", "give at most 3600s")
    }
}

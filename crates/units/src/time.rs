//! Simulated time.

use core::ops::{Add, AddAssign, Mul, Sub};

use crate::decimal::{Grammar, Unit};
use crate::quantity::quantity_text;

const GRAMMAR: Grammar = Grammar {
    quantity: "duration",
    example: "1us",
    resolution: "1 ps",
    units: &[
        Unit { names: &["s"], scale: 1_000_000_000_000, print: true },
        Unit { names: &["ms"], scale: 1_000_000_000, print: true },
        Unit { names: &["us", "µs", "μs"], scale: 1_000_000, print: true },
        Unit { names: &["ns"], scale: 1_000, print: true },
        Unit { names: &["ps"], scale: 1, print: true },
    ],
    most: LATEST_PS,
};

/// The latest instant that a text can have, and the longest span (ps): whole seconds below 2^62 ps.
/// Four of them can be added without overflow.
const LATEST_PS: u64 = 4_611_686 * 1_000_000_000_000;

/// An instant: picoseconds since the start of the run, up to 213 days.
///
/// The unit is a picosecond because the time of one byte is then a whole number at every Ethernet
/// rate from 10G to 1.6T.
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
pub struct SimTime(u64);

/// A span of time in picoseconds.
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
pub struct Duration(u64);

quantity_text!(
    SimTime,
    GRAMMAR,
    r"^[0-9_]+(\.[0-9_]+)? ?(ps|ns|us|µs|ms|s)$",
    "Time since the start of the run, with a unit."
);
quantity_text!(
    Duration,
    GRAMMAR,
    r"^[0-9_]+(\.[0-9_]+)? ?(ps|ns|us|µs|ms|s)$",
    "A span of time, with a unit."
);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The latest instant at which anything can happen: 53 days.
    pub const LATEST: Self = Self(LATEST_PS);
    /// An instant after everything that happens: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    #[inline]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for people and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// The time from `earlier` to this instant; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// This instant plus `span`; [`SimTime::NEVER`] on overflow.
    #[inline]
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The instant `span` before this one, but at least [`SimTime::ZERO`].
    #[inline]
    pub const fn saturating_sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Duration {
    /// A span of length zero.
    pub const ZERO: Self = Self(0);

    /// A span of `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A span of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// A span of `us` microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// A span of `ms` milliseconds.
    #[inline]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// Picoseconds.
    #[inline]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Seconds, for rates, people and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

impl Add<Duration> for SimTime {
    type Output = Self;

    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Duration> for SimTime {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

impl Add for Duration {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;

    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

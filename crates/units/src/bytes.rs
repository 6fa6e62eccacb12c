//! Amounts of data.

use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use crate::decimal::{Grammar, Unit};
use crate::quantity::quantity_text;

const GRAMMAR: Grammar = Grammar {
    quantity: "size",
    example: "12MB",
    resolution: "1 byte",
    units: &[
        Unit { names: &["TiB"], scale: 1 << 40, print: false },
        Unit { names: &["TB"], scale: 1_000_000_000_000, print: true },
        Unit { names: &["GiB"], scale: 1 << 30, print: false },
        Unit { names: &["GB"], scale: 1_000_000_000, print: true },
        Unit { names: &["MB"], scale: 1_000_000, print: true },
        Unit { names: &["MiB"], scale: 1 << 20, print: true },
        Unit { names: &["KB", "kB"], scale: 1_000, print: true },
        Unit { names: &["KiB"], scale: 1 << 10, print: true },
        Unit { names: &["B", "bytes"], scale: 1, print: true },
    ],
    most: u64::MAX,
};

/// An amount of data in bytes. `KB`, `MB` and `GB` are powers of ten, `KiB`, `MiB` and `GiB`
/// powers of two.
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
pub struct Bytes(u64);

quantity_text!(
    Bytes,
    GRAMMAR,
    r"^[0-9_]+(\.[0-9_]+)? ?(B|bytes|[KMGT]B|kB|[KMGT]iB)$",
    "A size with a unit: KB, MB, GB are powers of ten, KiB, MiB, GiB powers of two."
);

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// An amount of `bytes`.
    #[inline]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The difference; zero if `other` is larger.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;

    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl core::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

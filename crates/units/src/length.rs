//! Cable lengths.

use crate::Duration;
use crate::decimal::{Grammar, Unit};
use crate::quantity::quantity_text;

const GRAMMAR: Grammar = Grammar {
    quantity: "cable length",
    example: "3m",
    resolution: "1 mm",
    units: &[
        Unit { names: &["km"], scale: 1_000_000, print: true },
        Unit { names: &["m"], scale: 1_000, print: true },
        Unit { names: &["cm"], scale: 10, print: false },
        Unit { names: &["mm"], scale: 1, print: true },
    ],
    most: u64::MAX,
};

/// A cable length in millimetres.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Length(u64);

quantity_text!(
    Length,
    GRAMMAR,
    r"^[0-9_]+(\.[0-9_]+)? ?(mm|cm|m|km)$",
    "A cable length, with a unit."
);

impl Length {
    /// A length of `mm` millimetres.
    pub const fn from_mm(mm: u64) -> Self {
        Self(mm)
    }

    /// Millimetres.
    pub const fn mm(self) -> u64 {
        self.0
    }

    /// The time that light takes in fibre or a signal in copper, at 5 ns a metre.
    pub const fn propagation_delay(self) -> Duration {
        Duration::from_ps(self.0.saturating_mul(5))
    }
}

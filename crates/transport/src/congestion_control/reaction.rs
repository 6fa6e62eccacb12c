//! How HPCC and HPCC-PINT make a rate of a utilization.

use rocelab_units::Bandwidth;

use super::arithmetic::divided;

/// A rate that reactions start from, and how many additive increases led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Reference {
    /// Bits per second.
    pub(super) rate: u64,
    pub(super) stage: u32,
}

/// What is the same for all reactions of a queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reaction {
    /// Bits per second.
    additive_increase: u64,
    max_stage: u32,
    /// Bits per second.
    min_rate: u64,
    /// Bits per second.
    line_rate: u64,
}

impl Reaction {
    /// Bounds above the line rate mean the line rate.
    pub(super) fn new(
        additive_increase: Bandwidth,
        max_stage: u32,
        min_rate: Bandwidth,
        line_rate: Bandwidth,
    ) -> Self {
        Self {
            additive_increase: additive_increase.bits_per_second(),
            max_stage,
            min_rate: min_rate.min(line_rate).bits_per_second(),
            line_rate: line_rate.bits_per_second(),
        }
    }

    /// Where a queue pair starts.
    pub(super) const fn start(&self) -> Reference {
        Reference { rate: self.line_rate, stage: 0 }
    }

    /// The rate that follows on `reference` at `excess`, the utilization over the wanted one.
    pub(super) fn next(&self, reference: Reference, excess: f64) -> Reference {
        let Reference { rate, stage } = reference;
        let (base, stage) = if excess >= 1.0 || stage >= self.max_stage {
            (divided(rate, excess), 0)
        } else {
            (rate, stage + 1)
        };
        let rate = base.saturating_add(self.additive_increase);
        Reference { rate: rate.max(self.min_rate).min(self.line_rate), stage }
    }
}

//! The numbers in turns, one packet each: what NICs do that spray packets over all paths. They arrive
//! out of order wherever paths are not equally full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PathEntropy, Policy};
use crate::Packet;
use crate::congestion_control::InvalidParameter;

/// `path_entropy = { round-robin = { numbers = 8 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RoundRobinEntropyParameters")]
pub struct Parameters {
    /// How many numbers a queue pair has, 2 to 256: the one drawn for it, and those that follow.
    #[schemars(range(min = 2, max = 256))]
    pub numbers: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { numbers: 8 }
    }
}

/// The number whose turn it is.
#[derive(Debug)]
pub(super) struct Choice {
    next: u32,
    numbers: u32,
}

rocelab_state::state!(Choice { values: next; kept: numbers });

/// Its state in a new queue pair.
pub(super) const fn choice(parameters: Parameters) -> Choice {
    Choice { next: 0, numbers: parameters.numbers }
}

impl Policy for Choice {
    fn validate(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless(
            (2..=PathEntropy::MOST_NUMBERS).contains(&self.numbers),
            "numbers",
            &self.numbers,
            "is no choice of numbers, or more than a queue pair keeps",
            "give 2 to 256, or use `path_entropy = \"queue-pair\"`",
        )
    }

    fn numbers(&self) -> u32 {
        self.numbers
    }

    fn next(&mut self, _: &Packet) -> u32 {
        let this = self.next;
        self.next = this.wrapping_add(1) % self.numbers.max(1);
        this % self.numbers.max(1)
    }
}

//! Which queue of an egress port sends next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The discipline among the eight priorities of an egress port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerConfig {
    /// The highest priority that waits and is not paused goes first (IEEE 802.1Q strict priority).
    #[default]
    Strict,
    /// Deficit weighted round robin: each priority gets bytes in proportion to its weight.
    Dwrr {
        /// Weight of priority 0 to 7, 1 to 100; a priority beyond the list has weight 1.
        weights: Vec<u32>,
    },
}

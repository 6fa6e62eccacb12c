//! The part of a run that its results are about.

use serde::{Deserialize, Serialize};

use crate::FlowCounts;

/// The measuring window of a run in `summary.json`: `[measure]` of the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredWindow {
    /// Its begin, in picoseconds.
    pub from_ps: u64,
    /// Its end, in picoseconds; the same as its begin if the run was over before.
    pub to_ps: u64,
    /// Flows that start before or after it, which are counted nowhere else.
    pub flows_outside: FlowCounts,
    /// Operations that started before or after it; only rates and the mean of open operations look at them.
    pub operations_outside: u64,
    /// Of these, operations that failed.
    pub failed_operations_outside: u64,
    /// Of these, operations that were open when the run ended; 0 in results of older builds.
    #[serde(default)]
    pub unfinished_operations_outside: u64,
}

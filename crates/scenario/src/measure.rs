//! `[measure]`: the part of a run that its results are about.

use rocelab_units::SimTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[measure]`: the part of a run that flows, operations, links and percentiles are counted in. What happens before is
/// warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasureConfig {
    /// Its begin. Default: 0s.
    #[serde(default)]
    pub from: SimTime,
    /// Its end. Default: that of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<SimTime>,
}

//! `[sample]`: what is measured at regular intervals.

use rocelab_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured at regular intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SampleConfig {
    /// Lengths of egress queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueSampling>,
}

/// Lengths of egress queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSampling {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// Ports, written as in `[capture]`.
    pub ports: Vec<String>,
}

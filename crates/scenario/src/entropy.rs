//! `roce.entropy`: what equal-cost multipath tells connections apart by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the UDP source port (v2) or the flow label (v1) of each connection comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionEntropy {
    /// Each connection has a random one.
    #[default]
    Random,
    /// A hash of its two queue pair numbers, which is what Linux takes for connections without a flow label.
    QueuePairs,
    /// These in turn: the first connection that a host begins has the first, its next one the second, and so on from the
    /// beginning again. UDP source ports, or flow labels up to 1048575.
    List(Vec<u32>),
}

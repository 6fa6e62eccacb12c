//! `[layer3]`: bridges and routers in one network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the switches are. Those that are not named are bridges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Layer3Config {
    /// Switches that forward by IP addresses alone: names, ranges, or patterns.
    pub routers: Vec<String>,
    /// Switches that bridge within each VLAN, and route between VLANs and to other routers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub multilayer: Vec<String>,
}

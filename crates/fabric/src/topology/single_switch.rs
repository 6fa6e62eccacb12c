//! Servers around one switch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkConfig;

/// `[topology.single-switch]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of servers, at least 2.
    pub hosts: u32,
    /// The link of every server.
    pub link: LinkConfig,
}

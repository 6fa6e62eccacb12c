//! `[host]`: what all hosts do.

use rocelab_transport::HostSchedulerConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How hosts share their ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// Who sends next of all that a host has to send.
    pub scheduler: HostSchedulerConfig,
}

//! Queue pairs that took their alternate paths.

use serde::{Deserialize, Serialize};

/// A queue pair that took its alternate path (automatic path migration).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathMigrationRecord {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Name of its host.
    pub host: String,
    /// Its number.
    pub qpn: u32,
    /// Its flow, if it belongs to a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u64>,
}

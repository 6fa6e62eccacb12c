//! What a run is a branch of.

use serde::{Deserialize, Serialize};

/// The origin of a run that went on from a checkpoint of another one with other settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchRecord {
    /// The name of the other run's results directory.
    pub of: String,
    /// The time of the checkpoint, in picoseconds. Until then the results are those of the other run.
    pub at_ps: u64,
    /// What was set from then on, as `key=value`.
    pub set: Vec<String>,
}

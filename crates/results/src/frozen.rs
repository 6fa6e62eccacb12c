//! What pauses held when a run ended, and would have gone on to hold.

use serde::{Deserialize, Serialize};

/// Flows and connections that were frozen when a run ended at its `stop`: nothing of them could move,
/// because of pauses that do not end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenRecord {
    /// Flows that had started and not ended.
    pub flows: u64,
    /// Connections of applications with open operations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections: u64,
    /// When the first of the pauses began that held them at the end, in picoseconds.
    pub since_ps: u64,
    /// Where these pauses began, those that held most first.
    pub roots: Vec<FrozenRoot>,
}

/// Where pauses began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenRoot {
    /// The congested egress port as `switch:port`, or a host, or `deadlock N`, by its place in
    /// [`Summary::deadlocks`](crate::Summary::deadlocks).
    pub root: String,
    /// Flows and connections that it held.
    pub held: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

//! What pauses without end held when a run ended.

use serde::{Deserialize, Serialize};

/// Flows and connections that were frozen when a run ended at its `stop`: none of them could make
/// progress, because of pauses that do not end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenRecord {
    /// Flows that had started and not ended.
    pub flows: u64,
    /// Connections of applications with open operations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections: u64,
    /// When the first pause began that held them at the end, in picoseconds.
    pub since_ps: u64,
    /// The root causes of these pauses, those that held most first.
    pub roots: Vec<FrozenRoot>,
}

/// A root cause of pauses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenRoot {
    /// The congested egress port as `switch:port`, or a host, or `deadlock N`, where N is an index
    /// into [`Summary::deadlocks`](crate::Summary::deadlocks).
    pub root: String,
    /// Number of flows and connections that it held.
    pub held: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

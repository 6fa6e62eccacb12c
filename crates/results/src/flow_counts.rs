//! How many flows and messages there were, and how they ended.

use serde::{Deserialize, Serialize};

/// How flows ended.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
)]
pub struct FlowCounts {
    /// All flows of the scenario.
    pub total: u64,
    /// All bytes arrived and were acknowledged.
    pub completed: u64,
    /// The queue pair gave up.
    pub failed: u64,
    /// The run ended first, or before the flow started.
    pub unfinished: u64,
}

/// Messages of the flows of an unreliable service.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
)]
pub struct MessageCounts {
    /// All that the flows consist of.
    pub total: u64,
    /// Those that arrived, each counted once.
    pub delivered: u64,
    /// Those that did not, of flows that failed: nobody waits for them any more.
    pub lost: u64,
}

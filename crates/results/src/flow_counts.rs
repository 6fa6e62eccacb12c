//! Numbers of flows and messages, by how they ended.

use serde::{Deserialize, Serialize};

use crate::FlowStatus;

/// Number of flows, by how they ended.
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
    /// The run ended before the flow completed, or before it started.
    pub unfinished: u64,
}

impl FlowCounts {
    /// Those of both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            completed: self.completed + other.completed,
            failed: self.failed + other.failed,
            unfinished: self.unfinished + other.unfinished,
        }
    }

    /// Adds a flow that ended like this.
    pub fn add(&mut self, status: FlowStatus) {
        self.total += 1;
        match status {
            FlowStatus::Completed => self.completed += 1,
            FlowStatus::Unfinished => self.unfinished += 1,
            _ => self.failed += 1,
        }
    }
}

/// Numbers of messages of the flows of an unreliable service.
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
    /// All messages of the flows.
    pub total: u64,
    /// Messages that arrived, each counted once.
    pub delivered: u64,
    /// Messages of failed flows that did not arrive. They will not be sent again.
    pub lost: u64,
}

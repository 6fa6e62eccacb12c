//! `on_deadlock`: what a deadlock means for a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What follows when queues wait for each other, so that they will never move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDeadlock {
    /// The run ends there, and says where.
    #[default]
    Stop,
    /// The run goes on: what is not in the deadlock moves, and a watchdog or a failure may end it.
    Continue,
}

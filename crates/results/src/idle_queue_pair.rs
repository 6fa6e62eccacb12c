//! Queue pairs that could send and did not.

use serde::{Deserialize, Serialize};

/// A queue pair that sent nothing for more than 20 packet times of the rate that its congestion control
/// allowed, though it had data, an open window, and more than 1 % of its link as its rate, and its port
/// was idle and not paused. No law of congestion control asks for that: it is a fault of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleQueuePairRecord {
    /// Name of its host.
    pub host: String,
    /// Its number.
    pub qpn: u32,
    /// Its flow, if it is a flow's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u64>,
    /// When it was first seen to send nothing, in picoseconds: at most 100 us after it began.
    pub since_ps: u64,
    /// Up to when it is known to have sent nothing, in picoseconds.
    pub until_ps: u64,
    /// The rate that its congestion control allowed then (bit/s).
    pub rate_bps: u64,
}

//! Queue pairs that could send but did not.

use serde::{Deserialize, Serialize};

/// A queue pair that sent nothing for more than 20 packet times of the rate that its congestion
/// control allowed, although it had data, an open window, and a rate of more than 1 % of its link,
/// and its port was idle and not paused. No congestion control behaves like that: it is a fault of
/// the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleQueuePairRecord {
    /// Name of its host.
    pub host: String,
    /// Its number.
    pub qpn: u32,
    /// Its flow, if it belongs to a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u64>,
    /// When this was first noticed, in picoseconds: at most 100 us after it began.
    pub since_ps: u64,
    /// The last time at which it was known to have sent nothing, in picoseconds.
    pub until_ps: u64,
    /// The rate that its congestion control allowed at that time (bit/s).
    pub rate_bps: u64,
}

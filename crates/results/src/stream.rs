//! Traffic of hosts that is of no workload.

use serde::{Deserialize, Serialize};

/// What was counted of a stream of a host's stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamRecord {
    /// The stack, such as `udp`.
    pub stack: String,
    /// The host that sends.
    pub source: String,
    /// The host that receives.
    pub destination: String,
    /// Packets that the hosts of both ends sent.
    pub sent_packets: u64,
    /// Their payload (bytes).
    pub sent_bytes: u64,
    /// Packets among them that arrived.
    pub delivered_packets: u64,
    /// Their payload (bytes).
    pub delivered_bytes: u64,
}

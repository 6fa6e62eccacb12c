//! `roce.connect` and `[roce.cm]`: how the two ends of a connection come to know each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How queue pairs are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connect {
    /// GID, queue pair numbers and PSNs are known at once, at no cost.
    #[default]
    OutOfBand,
    /// By REQ, REP and RTU on queue pair 1, before the data; DREQ and DREP after it.
    Cm,
}

/// `[roce.cm]`: timers and retries of connection management. Times are codes of 5 bits:
/// 4.096 us x 2^n. The defaults are those of Linux's rdma_cm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CmTimersConfig {
    /// Within which time a host answers a message, 0 to 31.
    #[schemars(range(max = 31))]
    pub response_timeout: u8,
    /// How often a message is sent again before the connection is given up, 0 to 15.
    #[schemars(range(max = 15))]
    pub retries: u8,
    /// How long a packet may be on its way, 0 to 31: a REQ waits for two of them and the response
    /// timeout.
    #[schemars(range(max = 31))]
    pub packet_lifetime: u8,
    /// Priority of the messages, 0 to 7. Default: that of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
}

impl Default for CmTimersConfig {
    fn default() -> Self {
        Self { response_timeout: 20, retries: 15, packet_lifetime: 18, priority: None }
    }
}

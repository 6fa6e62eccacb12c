//! `[monitoring]`: a mesh of pings between hosts.

use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts that ping each other all the time, as operators have them do (Guo et al., "Pingmesh", SIGCOMM 2015). A ping is an RDMA
/// datagram (SEND of an unreliable datagram) that the other host answers with another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MonitoringConfig {
    /// The hosts of the mesh: names, or ranges such as `host-0..host-7`. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Who pings whom.
    pub pairs: PingPairs,
    /// How often a host pings each other one of its pairs.
    pub interval: Duration,
    /// Payload of a ping and of its answer, at most the path MTU.
    pub bytes: Bytes,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub priority: Option<u8>,
    /// A ping without an answer after this is lost.
    pub timeout: Duration,
    /// The results have a row for each pair and each time of this length.
    pub window: Duration,
    /// When the first pings are sent.
    pub start: SimTime,
    /// When the last ones are; the run lasts until then. Without it pings end with the flows and applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<SimTime>,
}

/// Who pings whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PingPairs {
    /// Every host all others.
    #[default]
    All,
    /// Every host those at its switch, and of each other switch the one that has the same place there.
    Racks,
    /// Every host so many others, chosen at random.
    Random(u32),
    /// These, each a host and the one that it pings.
    List(Vec<(String, String)>),
}

impl Default for MonitoringConfig {
    fn default() -> Self {
        Self {
            hosts: None,
            pairs: PingPairs::All,
            interval: Duration::from_us(100),
            bytes: Bytes::new(64),
            priority: None,
            timeout: Duration::from_us(500),
            window: Duration::from_ms(1),
            start: SimTime::ZERO,
            until: None,
        }
    }
}

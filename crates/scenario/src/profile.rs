//! `[profile.NAME]`: whose rules hold in place of RoCE's.

use rocelab_units::{Bandwidth, Bytes, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose rules hold in place of RoCE's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum ProfileConfig {
    /// HPCC's ns-3 simulator (Li et al., SIGCOMM 2019), to the byte of its output files. `[roce]`,
    /// `[layer2]`, `[capture]` and `[switch]`, but for its `buffer`, have no meaning then.
    #[serde(rename = "hpcc-ns3")]
    HpccNs3(HpccNs3Config),
}

/// What HPCC's ns-3 simulator calls by the keys in brackets; its defaults are ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HpccNs3Config {
    /// Payload of a full packet, 1 to 65000 bytes (`PACKET_PAYLOAD_SIZE`).
    pub payload: Bytes,
    /// The unit of `back_to_chunk`; whole chunks are acknowledged also below `ack_interval`
    /// (`L2_CHUNK_SIZE`).
    pub chunk: Bytes,
    /// From this position of a flow on every packet is acknowledged; below, only those that end a
    /// chunk (`L2_ACK_INTERVAL`).
    pub ack_interval: Bytes,
    /// Whether a loss sends the whole chunk again, not only from the lost packet on
    /// (`L2_BACK_TO_ZERO`).
    pub back_to_chunk: bool,
    /// Whether the bytes in flight of a queue pair are limited to its path's bandwidth-delay
    /// product (`HAS_WIN`).
    pub window: bool,
    /// Whether that limit shrinks with the rate (`VAR_WIN`).
    pub scale_window: bool,
    /// Whether all queue pairs share the largest base round-trip time and window of all pairs of
    /// hosts, instead of those of their own (`GLOBAL_T`).
    pub common_base_rtt: bool,
    /// Whether packets are spaced by the current rate, instead of the line rate (`RATE_BOUND`).
    pub pace_at_rate: bool,
    /// Whether nothing pauses a host's acknowledgements, instead of pauses of priority 3
    /// (`ACK_HIGH_PRIO`).
    pub ack_high_priority: bool,
    /// Whether switches mark (`ENABLE_QCN`).
    pub mark: bool,
    /// Marking thresholds of each port rate, one for every rate that a switch port has
    /// (`KMIN_MAP`, `KMAX_MAP`, `PMAX_MAP`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ecn: Vec<RateEcnConfig>,
    /// Probability that a packet is lost on a link whose own is 0, from 0 to 1
    /// (`ERROR_RATE_PER_LINK`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: f64,
    /// The share of acknowledgements that `hpcc-pint` looks at, from 0 to 1 (`PINT_PROB`).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pint_probability: f64,
    /// A link that fails; none without it (`LINK_DOWN`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_down: Option<LinkDownConfig>,
    /// When switches look at their queues for `qlen.txt`; not written without it (`QLEN_MON_FILE`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_monitor: Option<QueueMonitorConfig>,
}

impl Default for HpccNs3Config {
    fn default() -> Self {
        Self {
            payload: Bytes::new(1_000),
            chunk: Bytes::ZERO,
            ack_interval: Bytes::ZERO,
            back_to_chunk: false,
            window: true,
            scale_window: false,
            common_base_rtt: true,
            pace_at_rate: true,
            ack_high_priority: false,
            mark: true,
            ecn: Vec::new(),
            loss: 0.0,
            pint_probability: 1.0,
            link_down: None,
            queue_monitor: None,
        }
    }
}

/// Marking thresholds of the ports of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateEcnConfig {
    /// The port's rate.
    pub rate: Bandwidth,
    /// Queue length up to which nothing is marked.
    pub kmin: Bytes,
    /// Queue length above which everything is marked.
    pub kmax: Bytes,
    /// Probability at `kmax`, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pmax: f64,
}

/// A link that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDownConfig {
    /// When.
    pub at: SimTime,
    /// The number of the node at one end.
    pub a: u32,
    /// The number of the node at the other end.
    pub b: u32,
}

/// When switches look at their queues: every 100 ns from one time to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueMonitorConfig {
    /// The first time (`QLEN_MON_START`).
    pub from: SimTime,
    /// Nothing is looked at later (`QLEN_MON_END`).
    pub to: SimTime,
}

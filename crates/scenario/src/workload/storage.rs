//! `[workload.storage]`: blocks that are read and written.

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use super::app::Pairs;
use crate::QueuePairAttributes;

/// `[workload.storage]`: clients read and write blocks of servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StorageParameters")]
pub struct Parameters {
    /// What the results call it. Default: `storage[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The hosts that read and write: names, or ranges such as `host-0..host-7`.
    pub clients: Vec<String>,
    /// The hosts that hold the blocks.
    pub servers: Vec<String>,
    /// Which clients use which servers. Default: `round-robin`.
    #[serde(default)]
    pub pairs: Pairs,
    /// Data of each operation.
    pub block: Bytes,
    /// The share of reads among the operations, 0 to 1; the rest are writes. Default: 1.
    #[serde(default = "all")]
    #[schemars(range(min = 0, max = 1))]
    pub read_fraction: f64,
    /// Operations of each connection that are open at once, 1 to 65535. Default: 1.
    #[serde(default = "super::app::one")]
    #[schemars(range(min = 1))]
    pub queue_depth: u16,
    /// How many operations each connection does: this, or `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub operations: Option<u64>,
    /// From when on no operation starts: this, or `operations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<SimTime>,
    /// How long the server takes to find data, or to store them. Default: no time.
    #[serde(default)]
    pub access_time: Duration,
    /// Bytes of a command. Default: 64B.
    #[serde(default = "command")]
    pub command: Bytes,
    /// Bytes of a response. Default: 16B.
    #[serde(default = "response")]
    pub response: Bytes,
    /// When the first operations start. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// Receive requests that each end of a connection posts. Default: one for each operation that
    /// can be open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub receive_depth: Option<u32>,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How its connections react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
    /// The code points of its RDMA frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// Attributes of its queue pairs.
    #[serde(default, skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
}

const fn all() -> f64 {
    1.0
}

const fn command() -> Bytes {
    Bytes::new(64)
}

const fn response() -> Bytes {
    Bytes::new(16)
}

impl Description for Parameters {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn marking(&self) -> Option<&MarkingConfig> {
        self.marking.as_ref()
    }

    fn queue_pair(&self) -> Option<&QueuePairAttributes> {
        Some(&self.queue_pair)
    }
}

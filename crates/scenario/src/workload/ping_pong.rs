//! `[workload.ping-pong]`: messages there and back.

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Bytes, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use super::app::VerbName;
use crate::QueuePairAttributes;

/// `[workload.ping-pong]`: the client sends a message and the server sends one back; a READ or
/// atomic operation is there and back by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PingPongParameters")]
pub struct Parameters {
    /// What the results call it. Default: `ping-pong[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The hosts that begin: names, or ranges such as `host-0..host-7`.
    pub clients: Vec<String>,
    /// The hosts that answer: the k-th client's is the k-th, and from the first again.
    pub servers: Vec<String>,
    /// What both sides do. A plain `write` is told to nobody: use `write-with-immediate`.
    /// Default: `send`.
    #[serde(default = "send")]
    pub verb: VerbName,
    /// Payload of each message; atomics always have 8 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Round trips, one after the other. Default: 1000.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1))]
    pub iterations: u64,
    /// When the first one starts. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
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

const fn send() -> VerbName {
    VerbName::Send
}

const fn thousand() -> u64 {
    1_000
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

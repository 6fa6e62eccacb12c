//! `[workload.incast]`: many servers answer one at once.

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use crate::{QueuePairAttributes, Transport, Verb};

/// `[workload.incast]`: every round, `senders` distinct hosts send to `receiver` at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "IncastParameters")]
pub struct Parameters {
    /// What the results call it. Default: `incast[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many hosts send in a round, drawn at random from all but the receiver.
    #[schemars(range(min = 1))]
    pub senders: u32,
    /// The host that they send to. Default: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// Payload bytes of each sender.
    pub bytes: Bytes,
    /// When the first round starts. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// How many rounds there are. Default: 1.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub repeat: u32,
    /// Time from the start of one round to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// What carries them: `rdma` or `tcp`.
    #[serde(default, skip_serializing_if = "Transport::is_rdma")]
    pub transport: Transport,
    /// The operation. A READ is posted by the senders and moves bytes to them.
    #[serde(default)]
    pub verb: Verb,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How these flows react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
    /// The code points of its RDMA frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// Attributes of its queue pairs.
    #[serde(default, skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
}

const fn once() -> u32 {
    1
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

    fn transport(&self) -> Transport {
        self.transport
    }
}

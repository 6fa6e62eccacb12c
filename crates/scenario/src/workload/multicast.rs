//! `[workload.multicast]`: datagrams to all members of a group.

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Bytes, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use crate::QueuePairAttributes;

/// `[workload.multicast]`: one host sends datagrams to a group, each once, and the network copies them. For each other
/// member there is a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MulticastParameters")]
pub struct Parameters {
    /// What the results call it. Default: `multicast[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The host that sends. It need not be a member.
    pub from: String,
    /// The name of a `[[multicast_group]]`.
    pub group: String,
    /// Payload bytes.
    pub bytes: Bytes,
    /// Payload bytes of each datagram, at most the path MTU. Default: the path MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Bytes>,
    /// When the work is posted. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How the sender reacts to congestion. Default: as flows of its priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
    /// The code points of its frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// Attributes of its queue pairs.
    #[serde(default, skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
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

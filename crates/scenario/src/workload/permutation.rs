//! `[workload.permutation]`: every server sends to one other and receives from one other.

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Bytes, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use crate::{QueuePairAttributes, Transport, Verb};

/// `[workload.permutation]`: a random permutation of the hosts in which none stays in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PermutationParameters")]
pub struct Parameters {
    /// What the results call it. Default: `permutation[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Payload bytes of each flow.
    pub bytes: Bytes,
    /// When all of them start. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// The hosts that take part: names, or ranges such as `host-0..host-7`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// What carries them: `rdma` or `tcp`.
    #[serde(default, skip_serializing_if = "Transport::is_rdma")]
    pub transport: Transport,
    /// The operation.
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

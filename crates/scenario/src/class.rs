//! `[class.N]`: what the flows and frames of one priority do otherwise than all others.

use rocelab_transport::{Algorithm, MarkingConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::QueuePairAttributes;

/// `[class.N]`: the flows of priority N.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassConfig {
    /// How they react to congestion, if their workload does not say. Default: as all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
    /// The code points of all frames that hosts send in that priority: of RDMA, TCP and streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// Attributes of their queue pairs.
    #[serde(default, skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
}

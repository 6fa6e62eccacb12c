//! `[sample]`: what is measured at regular intervals.

use rocelab_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured at regular intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SampleConfig {
    /// Lengths of egress queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<PortSampling>,
    /// Frames marked CE at egress ports, in each interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<PortSampling>,
    /// What ports send, in each interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<PortSampling>,
    /// What ingress ports hold in the memory of switches, against XOFF and XON, with headroom and shared pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<PortSampling>,
    /// Rates of flows: what congestion control allows, and what arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<FlowSampling>,
    /// What their frames say of flows: round trips, window, bytes in flight, alpha, CNPs, packets out of order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowSampling>,
}

/// Ports that are looked at, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSampling {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// Ports, written as in `[capture]`.
    pub ports: Vec<String>,
}

/// Flows that are looked at, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSampling {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// Numbers of flows, as in `flows.csv`; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<u32>>,
}

//! What is sampled.

use rocelab_fabric::NodeId;
use rocelab_units::Duration;

/// What is sampled at regular intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplingPlan {
    /// Lengths of egress queues. Empty ones are left out.
    pub queues: Option<PortSamplingPlan>,
    /// Frames marked CE.
    pub marks: Option<PortSamplingPlan>,
    /// What ports send.
    pub utilisation: Option<PortSamplingPlan>,
    /// What ingress ports of switches hold. Peaks are kept too.
    pub ingress: Option<PortSamplingPlan>,
    /// Rates of flows.
    pub rates: Option<FlowSamplingPlan>,
    /// Round trips, bytes in flight and more of flows. Counters are kept too.
    pub flows: Option<FlowSamplingPlan>,
}

impl SamplingPlan {
    /// Whether nothing is sampled.
    pub const fn is_empty(&self) -> bool {
        let Self { queues, marks, utilisation, ingress, rates, flows } = self;
        queues.is_none()
            && marks.is_none()
            && utilisation.is_none()
            && ingress.is_none()
            && rates.is_none()
            && flows.is_none()
    }
}

/// Ports that are sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSamplingPlan {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// Node and port number, each once.
    pub ports: Vec<(NodeId, u16)>,
}

/// Flows that are sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSamplingPlan {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// Numbers in the plan, ascending, each once.
    pub flows: Vec<u32>,
}

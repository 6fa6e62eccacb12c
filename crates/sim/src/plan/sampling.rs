//! What is sampled.

use rocelab_fabric::NodeId;
use rocelab_results::SampleInterval;

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
    /// The intervals of what is sampled, by the names of the sections of `[sample]`.
    pub fn intervals(&self) -> impl Iterator<Item = (&'static str, SampleInterval)> {
        let Self { queues, marks, utilisation, ingress, rates, flows } = self;
        let ports = [
            ("queues", queues),
            ("marks", marks),
            ("utilisation", utilisation),
            ("ingress", ingress),
        ];
        let ports = ports.map(|(name, sampled)| (name, sampled.as_ref().map(|one| one.interval)));
        let flows = [("rates", rates), ("flows", flows)]
            .map(|(name, sampled)| (name, sampled.as_ref().map(|one| one.interval)));
        let all = ports.into_iter().chain(flows);
        all.filter_map(|(name, interval)| Some((name, interval?)))
    }

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
    /// Time between two samples.
    pub interval: SampleInterval,
    /// Node and port number, each once.
    pub ports: Vec<(NodeId, u16)>,
}

/// Flows that are sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSamplingPlan {
    /// Time between two samples.
    pub interval: SampleInterval,
    /// Numbers in the plan, ascending, each once.
    pub flows: Vec<u32>,
}

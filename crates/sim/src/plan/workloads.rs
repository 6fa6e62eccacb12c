//! Which workload asks for each flow.

use crate::workload::WorkloadLabels;

/// The workloads of a plan, and the flows that each asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadsPlan {
    /// What the results call them, in the order that numbers flows.
    pub labels: Vec<WorkloadLabels>,
    /// By flow: the place of its workload among these.
    pub of_flows: Vec<u32>,
}

impl WorkloadsPlan {
    /// The workload that asks for a flow; `None` if there is no such flow.
    pub fn of(&self, flow: u32) -> Option<&WorkloadLabels> {
        let place = *self.of_flows.get(flow as usize)?;
        self.labels.get(place as usize)
    }
}

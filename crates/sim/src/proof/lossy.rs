//! RDMA in priorities that switches do not keep from loss.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Plan;

/// A priority of RDMA traffic that is lossy at some switches: a full memory drops its frames there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossyPriority {
    /// The priority with which hosts send it.
    pub priority: u8,
    /// RDMA flows of that priority.
    pub flows: u64,
    /// Connections of applications of that priority.
    pub connections: u64,
    /// The first of these switches.
    pub example: String,
    /// How many there are.
    pub switches: u64,
    /// Whether that is all switches of the network.
    pub everywhere: bool,
}

impl LossyPriority {
    /// Those of a plan, in order of priority. None under the rules of HPCC's ns-3 simulator, whose data is
    /// always lossless.
    pub fn all_of(plan: &Plan) -> Vec<Self> {
        if plan.profile.hpcc_ns3().is_some() {
            return Vec::new();
        }
        let lossless: Vec<_> = plan
            .topology
            .switches()
            .map(|switch| (switch, plan.lossless_as_sent(switch)))
            .collect();
        let finding = |(marking, (flows, connections)): (u8, (u64, u64))| {
            let is_lossless = |all: &[bool]| all.get(usize::from(marking)) == Some(&true);
            let lossy = lossless.iter().filter(|(_, all)| !is_lossless(all));
            let (first, _) = lossy.clone().next()?;
            let switches = lossy.count();
            Some(Self {
                priority: plan.markings.of(marking).priority,
                flows,
                connections,
                example: plan.topology.nodes[*first as usize].name.clone(),
                switches: switches as u64,
                everywhere: switches == lossless.len(),
            })
        };
        of_rdma(plan).into_iter().filter_map(finding).collect()
    }
}

/// By marking of their sources' frames: how many RDMA flows there are, and connections of applications.
fn of_rdma(plan: &Plan) -> BTreeMap<u8, (u64, u64)> {
    let mut counts: BTreeMap<u8, (u64, u64)> = BTreeMap::new();
    for flow in plan.flows.iter().filter(|flow| !flow.is_tcp()) {
        let marking = plan.markings.of_queue_pair(flow.marking, flow.source, flow.priority & 7);
        counts.entry(marking).or_default().0 += 1;
    }
    for (_, connection) in crate::plan::network_connections(plan) {
        let (host, priority) = (connection.ends[0].host, connection.priority & 7);
        let marking = plan.markings.of_queue_pair(connection.marking, host, priority);
        counts.entry(marking).or_default().1 += 1;
    }
    counts
}

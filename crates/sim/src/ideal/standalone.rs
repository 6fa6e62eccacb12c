//! The time alone in the network that HPCC's ns-3 simulator gives a flow: a nominal one.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, PairProperties, PathsTo};
use rocelab_units::Duration;

use crate::plan::{FlowPlan, HpccNs3Plan, Plan};

/// Nominal times; keeps the paths to each destination that was asked for.
#[derive(Debug)]
pub(super) struct StandaloneTimes {
    /// None for a topology without routes, of which no plan is made.
    pairs: Option<PairProperties>,
    payload_bytes: u32,
    paths: BTreeMap<NodeId, PathsTo>,
}

impl StandaloneTimes {
    pub(super) fn new(plan: &Plan, rules: &HpccNs3Plan) -> Self {
        let payload_bytes = rules.payload_bytes;
        let pairs = PairProperties::new(&plan.topology, payload_bytes).ok();
        Self { pairs, payload_bytes, paths: BTreeMap::new() }
    }

    pub(super) fn of(&mut self, flow: &FlowPlan) -> Duration {
        let Some(pairs) = &self.pairs else { return Duration::ZERO };
        let paths =
            self.paths.entry(flow.destination).or_insert_with(|| pairs.paths_to(flow.destination));
        let bytes = u32::try_from(flow.bytes).unwrap_or(u32::MAX);
        let time = |pair: rocelab_fabric::HostPair| {
            pair.standalone_fct_ns(bytes, self.payload_bytes).saturating_mul(1_000)
        };
        Duration::from_ps(paths.from(flow.source).map_or(0, time))
    }
}

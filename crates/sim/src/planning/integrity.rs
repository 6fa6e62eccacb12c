//! What integrity mode asks of a scenario.

use rocelab_units::Bytes;

use crate::plan::FlowPlan;
use crate::scenario::{Fault, Scenario, ensure};

/// The most memory of both ends of all flows together.
const MOST_MEMORY: Bytes = Bytes::new(4 << 30);

/// Refuses what integrity mode cannot hold in memory: every flow's bytes exist at both ends.
pub(super) fn check(scenario: &Scenario, flows: &[FlowPlan]) -> Result<(), Fault> {
    if !scenario.integrity {
        return Ok(());
    }
    ensure(!flows.is_empty(), || {
        Fault::at("integrity", "it compares what flows wrote, and this scenario has no flows")
            .help("add a workload of flows, such as `[workload.flows]`, or leave it out")
    })?;
    let bytes = flows.iter().fold(0u64, |sum, flow| sum.saturating_add(flow.bytes));
    let memory = Bytes::new(bytes.saturating_mul(2));
    ensure(memory <= MOST_MEMORY, || {
        let text = format!("the flows' bytes would take {memory} of memory at both ends");
        let help = format!("at most {MOST_MEMORY} are allowed: send less, or leave it out");
        Fault::at("integrity", text).help(help)
    })
}

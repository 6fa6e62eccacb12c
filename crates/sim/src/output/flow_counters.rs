//! What was counted of flows that were looked at closely.

use rocelab_fabric::NodeId;
use rocelab_results::{FlowCountersRecord, ResultsError, Sink};

use crate::Plan;
use crate::profile::Profile;
use crate::simulation::WholeNetwork;

/// Writes the counters of each flow of `[sample.flows]`, if there are any.
pub(super) fn write<P: Profile>(
    plan: &Plan,
    sink: Sink<'_>,
    network: WholeNetwork<'_, P>,
) -> Result<(), ResultsError> {
    if plan.sampling.flows.is_none() {
        return Ok(());
    }
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.as_str();
    let mut rows = sink.records()?;
    for (number, counted) in network.flow_counters() {
        let flow = &plan.flows[number as usize];
        let measured = |value: u64| (counted.rtt_samples > 0).then_some(value);
        rows.write(&FlowCountersRecord {
            flow: number.into(),
            source: name(flow.source).into(),
            destination: name(flow.destination).into(),
            cnps_sent: counted.cnps_sent,
            cnps_received: counted.cnps_received,
            cnms_received: counted.cnms_received,
            out_of_order: counted.out_of_order,
            duplicates: plan.service().is_reliable().then_some(counted.duplicates),
            rtt_samples: counted.rtt_samples,
            rtt_min_ps: measured(counted.rtt_min_ps),
            rtt_mean_ps: counted.rtt_sum_ps.checked_div(counted.rtt_samples),
            rtt_max_ps: measured(counted.rtt_max_ps),
            max_in_flight_bytes: counted.max_in_flight,
        })?;
    }
    rows.finish()
}

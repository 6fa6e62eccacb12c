//! What links carried.

use rocelab_fabric::{FlowControl, NodeId};
use rocelab_results::{LinkRecord, Millionths, ResultsError, Sink};
use rocelab_units::SimTime;

use crate::Plan;
use crate::network::{CountersThen, LinkUse};
use crate::profile::Profile;
use crate::simulation::WholeNetwork;

/// Writes each direction of each link, from the start of the run to `now`, its end, or in the measuring window.
pub(super) fn write<P: Profile>(
    plan: &Plan,
    sink: Sink<'_>,
    network: WholeNetwork<'_, P>,
    now: SimTime,
) -> Result<(), ResultsError> {
    let name = |node: NodeId| plan.topology.nodes[node as usize].name.as_str();
    let (from, to) = plan.measure.map_or((SimTime::ZERO, now), |window| window.within(now));
    let mut links = sink.records()?;
    for view in network.ports() {
        let LinkUse { rate, mean, unsent } = network.link_use(&view, (from, to), now);
        let capacity = mean.bytes_in(to.since(from)).get();
        let counted = network.link_window(&view, now).unwrap_or_else(|| CountersThen {
            frames: view.counters.frames,
            bytes: view.counters.bytes,
            ecn_marks: view.counters.ecn_marks,
            paused_ps: view.port.flow_control().paused_time(now).ps(),
            max_queue_bytes: view.counters.max_queue_bytes.into(),
        });
        let started = counted.bytes + counted.frames * plan.gap_bytes();
        let unsent = if to == now { unsent } else { 0 };
        // What began before its rate fell may be more than the mean lets through.
        let on_wire = started.saturating_sub(unsent).min(capacity);
        links.write(&LinkRecord {
            from: name(view.node).into(),
            from_port: view.number,
            to: name(view.peer_node).into(),
            to_port: view.peer_number,
            rate_bps: rate.bits_per_second(),
            frames: counted.frames,
            bytes: counted.bytes,
            utilisation: Millionths::ratio(on_wire, capacity).unwrap_or_default(),
            paused_ps: counted.paused_ps,
            max_queue_bytes: counted.max_queue_bytes,
            ecn_marks: counted.ecn_marks,
        })?;
    }
    links.finish()
}

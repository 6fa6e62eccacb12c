//! What results say of a flow, or of an operation of an application.

use rocelab_results::FlowStatus;

use super::explanation::Explanation;
use super::no_answer::NoAnswer;
use super::subject::Subject;
use super::turns::Operated;
use crate::network::watch::View;
use crate::network::{FlowEnd, Overview};
use crate::output::{flow_status, operation_status};
use crate::{Plan, Side};

/// A flow from one time to another (picoseconds), without its parts.
pub(super) fn described_flow(
    plan: &Plan,
    network: View<'_>,
    flow: u32,
    (from, to): (u64, u64),
    end: Option<&FlowEnd>,
) -> Explanation {
    let described = &plan.flows[flow as usize];
    let name = |node: u32| plan.topology.nodes[node as usize].name.clone();
    Explanation {
        what: Subject::Flow { flow, verb: described.verb.name(), bytes: described.bytes },
        source: name(described.source),
        destination: name(described.destination),
        congestion_control: plan.congestion_control_of(described).to_owned(),
        start_ps: from,
        elapsed_ps: to - from,
        status: end.map_or(FlowStatus::Unfinished, flow_status).name(),
        retransmitted_packets: Some(Overview(network.0).retransmitted_packets(flow)),
        lost_for_good: None,
        no_answer: end.and_then(|end| NoAnswer::of(plan, end, to - from)),
        parts: Vec::new(),
    }
}

/// An operation, without its parts.
pub(super) fn described_operation(
    plan: &Plan,
    connection: u32,
    operated: &Operated,
) -> Explanation {
    let described = &plan.connections[connection as usize];
    let app = plan.app_of(connection);
    let name = |side: Side| plan.topology.nodes[described.end(side).host as usize].name.clone();
    let queue_pairs = &plan.queue_pairs[described.queue_pairs as usize];
    Explanation {
        what: Subject::Operation {
            connection,
            operation: operated.operation,
            app: app.name.clone(),
            kind: app.kinds[usize::from(operated.kind)].name.clone(),
        },
        source: name(Side::Client),
        destination: name(Side::Server),
        congestion_control: queue_pairs.congestion_control.label().to_owned(),
        start_ps: operated.start,
        elapsed_ps: operated.time - operated.start,
        status: operated.end.map_or("unfinished", |end| operation_status(end.status).name()),
        retransmitted_packets: None,
        lost_for_good: None,
        no_answer: None,
        parts: Vec::new(),
    }
}

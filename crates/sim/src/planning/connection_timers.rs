//! Whether connections by messages have the time that their messages take.

use rocelab_units::Duration;
use rocelab_wire::cm::timeout_ns;

use crate::ideal::UnloadedNetwork;
use crate::plan::{CmPlan, Plan};
use crate::scenario::Fault;

/// The largest code of a time of connection management.
const MOST: u8 = 31;

/// Times of connection management that are over before an answer can be back, even if nothing else is on
/// the network.
pub(super) fn too_short(plan: &Plan) -> Option<Fault> {
    let cm = plan.roce.connection_manager.as_ref()?;
    let flows = plan.flows.iter().filter(|flow| !flow.is_tcp());
    let (needed, flow) = UnloadedNetwork::new(plan).longest_handshake(flows)?;
    let name = |node: u32| &plan.topology.nodes[node as usize].name;
    let (source, destination) = (name(flow.source), name(flow.destination));
    let round_trip = format!(
        "the round-trip time of a message from {source} to {destination} and its answer is {needed} at the least"
    );
    let (request, reply) = (waits_for_request(cm), time(cm.response_timeout));
    let message = if request * (u64::from(cm.retries) + 1) < needed {
        let tries =
            if cm.retries == 0 { "once".into() } else { format!("{} times", cm.retries + 1) };
        format!(
            "{round_trip}: no connection is made by a REQ that is sent {tries} and waits for {request}"
        )
    } else if request < needed {
        format!(
            "{round_trip}: a REQ waits for {request} and a REP for {reply}, so both are sent again though \
             nothing is lost"
        )
    } else if reply < needed {
        format!("{round_trip}: a REP waits for {reply}, so it is sent again though nothing is lost")
    } else {
        return None;
    };
    let enough = (0..=MOST).find(|&code| time(code) >= needed)?;
    let fault = Fault::at("roce.cm.response_timeout", message).value(cm.response_timeout);
    Some(
        fault.help(format!(
            "give {enough} or more: {}, and more where queues are long",
            time(enough)
        )),
    )
}

/// How long a REQ waits for its answer each time.
fn waits_for_request(cm: &CmPlan) -> Duration {
    time(cm.packet_lifetime) * 2 + time(cm.response_timeout)
}

fn time(code: u8) -> Duration {
    Duration::from_ns(timeout_ns(code))
}

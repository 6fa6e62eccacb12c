//! Congestion controls that users wrote: which they are, and what went wrong in them in a run.

use std::fmt;

use rocelab_fabric::NodeId;
use rocelab_results::UserControl;
use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::{ControlFault, Loaded, control_seed};
use rocelab_units::SimTime;

use super::error::RunError;
use crate::Plan;

/// A congestion control that a user wrote, which went wrong: the earliest of a run.
#[derive(Clone, Debug)]
pub struct FailedControl {
    /// Its name, as results have it.
    module: String,
    /// Whose it was, in words.
    owner: String,
    /// What it was told.
    event: &'static str,
    time: SimTime,
    cause: String,
}

impl fmt::Display for FailedControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, owner, event, time, cause } = self;
        write!(
            f,
            "the congestion control `{module}` failed at {time}, {owner}, told of `{event}`: {cause}"
        )
    }
}

/// The congestion controls of a plan that the user wrote, each once, by name.
pub(super) fn user_controls(plan: &Plan) -> Vec<UserControl> {
    let loaded = plan.algorithms().into_iter().filter_map(Algorithm::loaded);
    let mut all: Vec<_> = loaded
        .map(|Loaded(one)| UserControl {
            name: one.label().to_owned(),
            version: one.version().to_owned(),
            sha256: one.identity().to_owned(),
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Ends a run in which a congestion control went wrong. All parts have come equally far, so that the earliest fault is the same
/// however the run is carried out.
pub(super) fn check(plan: &Plan) -> Result<(), RunError> {
    let faults = plan.algorithms().into_iter().filter_map(|one| {
        let loaded = one.loaded()?;
        Some((loaded.0.fault()?, loaded.0.label().to_owned()))
    });
    match faults.min() {
        None => Ok(()),
        Some((fault, module)) => Err(RunError::Control(described(plan, fault, module))),
    }
}

fn described(plan: &Plan, fault: ControlFault, module: String) -> FailedControl {
    let ControlFault { time, seed, event, cause } = fault;
    FailedControl { module, owner: owner(plan, seed), event, time, cause }
}

/// The queue pair with a seed.
fn owner(plan: &Plan, seed: u64) -> String {
    let is_own = |host: NodeId, qpn: u32| control_seed(plan.control_seed(host), qpn) == seed;
    let name = |host: NodeId| &plan.topology.nodes[host as usize].name;
    let flows = plan.flows.iter().filter(|flow| !flow.is_tcp());
    let flow = (0u32..).zip(flows).find(|(_, flow)| {
        is_own(flow.source, flow.source_qpn) || is_own(flow.destination, flow.destination_qpn)
    });
    if let Some((number, flow)) = flow {
        return format!("flow {number}, {} -> {}", name(flow.source), name(flow.destination));
    }
    let mut ends = crate::plan::network_connections(plan).flat_map(|(_, connection)| {
        let [client, server] = connection.ends;
        [(client, server), (server, client)]
    });
    match ends.find(|(end, _)| is_own(end.host, end.qpn)) {
        Some((end, other)) => {
            format!("queue pair {:#x} of {} to {}", end.qpn, name(end.host), name(other.host))
        }
        None => format!("queue pair with seed {seed:#x}"),
    }
}

//! Where a flow's time went: every picosecond from its post to its completion has one category.
//!
//! The run is deterministic, so it is run again, and looked at from outside: the run itself has no
//! hook for it and costs nothing more. What is followed backwards from the completion is the
//! *critical path*: the answer whose arrival completed the flow, the packet that it answered, and
//! the sender's state until that packet left. See `docs/explain.md`.

mod category;
mod causes;
mod host_log;
mod parts;
mod port_log;
mod probe;
mod text;
mod trail;

use std::ops::ControlFlow;
use std::sync::Arc;

pub use category::{Category, Cause, LossSignal, Stage};
use causes::PauseNames;
use parts::Parts;
use probe::{FlowProbe, Probes};
use rocelab_results::FlowStatus;
use serde::Serialize;
use thiserror::Error;

use crate::network::{BuildError, RecordKind};
use crate::output::flow_status;
use crate::pause_tree::PauseTree;
use crate::simulation::{Ending, Progress, Simulation};
use crate::{Network, Plan, ProfilePlan};

/// Events between two calls of the observer.
const EVENTS_A_STEP: u64 = 200_000;

/// A run that was run again, and looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The digest of the run, as in `summary.json`: equal digests mean equal runs.
    pub digest: String,
    /// The flows that were asked for, in that order.
    pub flows: Vec<Explanation>,
}

/// Where a flow's time went.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Its number.
    pub flow: u32,
    /// Name of the requester's node.
    pub source: String,
    /// Name of the responder's node.
    pub destination: String,
    /// Its operation.
    pub verb: &'static str,
    /// Payload (bytes).
    pub bytes: u64,
    /// Name of the congestion control.
    pub congestion_control: &'static str,
    /// When it was posted (ps).
    pub start_ps: u64,
    /// From the post to the end; if the run ended first, to that (ps).
    pub elapsed_ps: u64,
    /// How it ended, as in `flows.csv`.
    pub status: &'static str,
    /// Packets that the source sent again.
    pub retransmitted_packets: u64,
    /// What its time went to, in the order of the path; their lengths add up to
    /// [`elapsed_ps`](Self::elapsed_ps).
    pub parts: Vec<Part>,
}

/// Some time of a flow, not always in one piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Where on the critical path.
    pub stage: Stage,
    /// A node, or a port as `node:port`.
    pub place: String,
    /// What it went to.
    pub category: Category,
    /// Because of what, where the category leaves that open.
    pub cause: Option<Cause>,
    /// How long (ps).
    pub ps: u64,
}

impl Explanation {
    /// The sum of all parts (ps).
    pub fn sum_ps(&self) -> u64 {
        self.parts.iter().map(|part| part.ps).sum()
    }
}

/// Why there is no explanation.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The plan cannot become a network: bad input.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The rules of another simulator hold.
    #[error("runs by the rules of HPCC's ns-3 simulator cannot be explained")]
    HpccNs3,
    /// There is no such flow.
    #[error("there is no flow {flow}: the run has {count}, numbered from 0")]
    NoSuchFlow {
        /// What was asked for.
        flow: u32,
        /// All flows.
        count: usize,
    },
    /// The run ends before the flow starts.
    #[error("flow {flow} does not start in this run")]
    NotStarted {
        /// The flow.
        flow: u32,
    },
    /// It was broken off.
    #[error("interrupted")]
    Interrupted,
    /// A defect of the simulator: the packet that completed the flow is not known.
    #[error("defect in the simulator: the way of flow {flow} was lost")]
    Untraced {
        /// The flow.
        flow: u32,
    },
    /// A defect of the simulator: the parts do not add up.
    #[error(
        "defect in the simulator: flow {flow} took {elapsed_ps} ps, its parts take {sum_ps} ps"
    )]
    Sum {
        /// The flow.
        flow: u32,
        /// What it took (ps).
        elapsed_ps: u64,
        /// What its parts take (ps).
        sum_ps: u64,
    },
}

impl ExplainError {
    /// Whether the simulator is to blame, and not the input.
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Untraced { .. } | Self::Sum { .. })
    }
}

/// Runs `plan` again and explains some of its flows. The observer is called every now and then and
/// may break the run off.
///
/// # Errors
/// If a flow does not exist or does not start, the plan is not of the native profile, or, which would
/// be a defect, the parts of a flow's time do not add up.
pub fn explain(
    plan: Arc<Plan>,
    flows: &[u32],
    mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Explained, ExplainError> {
    if !matches!(plan.profile, ProfilePlan::Roce) {
        return Err(ExplainError::HpccNs3);
    }
    let count = plan.flows.len();
    if let Some(&flow) = flows.iter().find(|&&flow| flow as usize >= count) {
        return Err(ExplainError::NoSuchFlow { flow, count });
    }
    let mut simulation = Simulation::new(Arc::clone(&plan))?;
    let mut probes = Probes::new(&plan, flows);
    let mut pauses = PauseTree::new(&plan);
    let _: Ending = loop {
        let ending = simulation.advance_watched(EVENTS_A_STEP, &mut probes);
        for record in simulation.network_mut().take_records() {
            match record.kind {
                RecordKind::Pause(change) => pauses.change(record.key.time, &change),
                RecordKind::PauseRequest(request) => pauses.request(request),
                _ => {}
            }
        }
        if let Some(ending) = ending {
            break ending;
        }
        if observe(&simulation.progress()).is_break() {
            return Err(ExplainError::Interrupted);
        }
    };
    probes.stop(simulation.now());
    let pauses = PauseNames::new(&plan, pauses.finish());
    let explain = |probe| explanation(&plan, simulation.network(), &pauses, probe);
    let flows = probes.probes.iter().map(explain).collect::<Result<_, _>>()?;
    Ok(Explained { digest: format!("{:016x}", simulation.network().digest()), flows })
}

fn explanation(
    plan: &Plan,
    network: &Network,
    pauses: &PauseNames<'_>,
    probe: &FlowProbe,
) -> Result<Explanation, ExplainError> {
    let flow = probe.flow;
    let described = &plan.flows[flow as usize];
    let Some(end) = &probe.end else { return Err(ExplainError::NotStarted { flow }) };
    let parts = Parts::new(plan, network, pauses, probe).cut()?;
    let name = |node: u32| plan.topology.nodes[node as usize].name.clone();
    let explanation = Explanation {
        flow,
        source: name(described.source),
        destination: name(described.destination),
        verb: described.verb.name(),
        bytes: described.bytes,
        congestion_control: plan.queue_pairs_of(described).congestion_control.name(),
        start_ps: described.start.ps(),
        elapsed_ps: end.time - described.start.ps(),
        status: end.end.as_ref().map_or(FlowStatus::Unfinished, flow_status).name(),
        retransmitted_packets: network.retransmitted_packets(flow),
        parts,
    };
    let (elapsed_ps, sum_ps) = (explanation.elapsed_ps, explanation.sum_ps());
    if sum_ps != elapsed_ps {
        return Err(ExplainError::Sum { flow, elapsed_ps, sum_ps });
    }
    Ok(explanation)
}

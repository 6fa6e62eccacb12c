//! Where a flow's time went: every picosecond from its post to its completion has one category.
//!
//! The run is deterministic, so it is run again, and looked at from outside: the run itself has no
//! hook for it and costs nothing more. What is followed backwards from the completion is the
//! *critical path*: the answer whose arrival completed the flow, the packet that it answered, and
//! the sender's state until that packet left. See `docs/explain.md`.

mod acknowledgement;
mod blocked;
mod category;
mod course;
mod delivery;
mod end_state;
mod host_log;
mod pair;
mod parts;
mod pauses;
mod port_log;
mod port_logs;
mod probes;
mod sent_frames;
mod stack_log;
mod subject;
mod survey;
mod survey_text;
mod text;
mod traffic;
mod trail;
mod turns;

use std::ops::ControlFlow;
use std::sync::Arc;

pub use category::{Category, Cause, LossSignal, Lost, LostForGood, Stage};
use probes::Probes;
use serde::Serialize;
pub use subject::Subject;
pub use survey::{LongPause, RootCause, StormedQueue, Survey, Victim, survey};
use thiserror::Error;

use crate::Plan;
use crate::network::BuildError;
use crate::simulation::{Progress, Simulation};

/// Events between two calls of the observer.
const EVENTS_A_STEP: u64 = 200_000;

/// What is to be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Flows, by their numbers.
    Flows(Vec<u32>),
    /// An operation of an application.
    Operation {
        /// Its connection, as in `operations.csv`.
        connection: u32,
        /// Its number within the connection, from 0.
        operation: u64,
    },
    /// Every flow and operation that starts.
    Everything,
}

/// A run that was run again, and looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The digest of the run, as in `summary.json`: equal digests mean equal runs.
    pub digest: String,
    /// Flows in the order in which they ended, those that did not last; and operations alike.
    pub flows: Vec<Explanation>,
    /// Operations of applications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Explanation>,
}

/// Where the time of a flow or operation went.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Which one.
    #[serde(flatten)]
    pub what: Subject,
    /// Name of the requester's node, or of the client's.
    pub source: String,
    /// Name of the responder's node, or of the server's.
    pub destination: String,
    /// Name of the congestion control.
    pub congestion_control: &'static str,
    /// When it was posted, or began (ps).
    pub start_ps: u64,
    /// From then to the end; if the run ended first, to that (ps).
    pub elapsed_ps: u64,
    /// How it ended, as in `flows.csv` or `operations.csv`.
    pub status: &'static str,
    /// Packets that the source of a flow sent again; none for an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_packets: Option<u64>,
    /// What a flow of an unreliable service lost first, if it lost anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_for_good: Option<LostForGood>,
    /// What its time went to, in the order of the path; their lengths add up to
    /// [`elapsed_ps`](Self::elapsed_ps).
    pub parts: Vec<Part>,
}

/// Some time of a flow or operation, not always in one piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Counts the turns of the two sides of an operation, from 0; 0 in a flow.
    pub turn: u16,
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
    /// There is no such connection.
    #[error("there is no connection {connection}: the run has {count}, numbered from 0")]
    NoSuchConnection {
        /// What was asked for.
        connection: u32,
        /// All connections of applications.
        count: usize,
    },
    /// There is no such operation.
    #[error("operation {operation} of connection {connection} does not start in this run")]
    NoSuchOperation {
        /// The connection.
        connection: u32,
        /// What was asked for.
        operation: u64,
    },
    /// It was broken off.
    #[error("interrupted")]
    Interrupted,
    /// A defect of the simulator: the packet is not known that completed the flow or operation.
    #[error("defect in the simulator: the way of {0} was lost")]
    Untraced(Subject),
    /// A defect of the simulator: the parts do not add up.
    #[error("defect in the simulator: {what} took {elapsed_ps} ps, its parts take {sum_ps} ps")]
    Sum {
        /// The flow or operation.
        what: Subject,
        /// What it took (ps).
        elapsed_ps: u64,
        /// What its parts take (ps).
        sum_ps: u64,
    },
}

impl ExplainError {
    /// Whether the simulator is to blame, and not the input.
    pub const fn is_defect(&self) -> bool {
        matches!(self, Self::Untraced(_) | Self::Sum { .. })
    }
}

/// Runs `plan` again and explains some of its flows and operations. The observer is called every now
/// and then and may break the run off.
///
/// # Errors
/// If a flow or operation does not exist or does not start, the plan is not of the native profile, or,
/// which would be a defect, the parts of some time do not add up.
pub fn explain(
    plan: Arc<Plan>,
    selection: &Selection,
    observe: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Explained, ExplainError> {
    check(&plan, selection)?;
    let mut probes = Probes::new(&plan, selection);
    let simulation = watch(&plan, &mut probes, observe)?;
    let explanations = probes.finish(simulation.network(), simulation.now())?;
    let is_flow = |one: &Explanation| matches!(one.what, Subject::Flow { .. });
    let (flows, operations): (Vec<_>, Vec<_>) = explanations.into_iter().partition(is_flow);
    has_all(selection, &flows, &operations)?;
    let digest = format!("{:016x}", simulation.network().digest());
    Ok(Explained { digest, flows, operations })
}

/// Runs `plan` to its end, looked at.
fn watch(
    plan: &Arc<Plan>,
    probes: &mut Probes<'_>,
    mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Simulation, ExplainError> {
    let mut simulation = Simulation::new(Arc::clone(plan))?;
    loop {
        let ending = simulation.advance_watched(EVENTS_A_STEP, probes);
        let records = simulation.take_records();
        probes.note_late(simulation.network().only(), &records);
        probes.forget_waits(simulation.network());
        if ending.is_some() {
            return Ok(simulation);
        }
        if observe(&simulation.progress()).is_break() {
            return Err(ExplainError::Interrupted);
        }
    }
}

/// Whether what is to be explained can be there.
fn check(plan: &Plan, selection: &Selection) -> Result<(), ExplainError> {
    if !Probes::can_follow(plan) {
        return Err(ExplainError::HpccNs3);
    }
    match *selection {
        Selection::Flows(ref flows) => {
            let count = plan.flows.len();
            match flows.iter().find(|&&flow| flow as usize >= count) {
                Some(&flow) => Err(ExplainError::NoSuchFlow { flow, count }),
                None => Ok(()),
            }
        }
        Selection::Operation { connection, .. }
            if connection as usize >= plan.connections.len() =>
        {
            let count = plan.connections.len();
            Err(ExplainError::NoSuchConnection { connection, count })
        }
        Selection::Operation { .. } | Selection::Everything => Ok(()),
    }
}

/// Whether all was there that was asked for.
fn has_all(
    selection: &Selection,
    flows: &[Explanation],
    operations: &[Explanation],
) -> Result<(), ExplainError> {
    match *selection {
        Selection::Flows(ref asked) => {
            let found = |number: u32| {
                let is_it = |one: &Explanation| matches!(one.what, Subject::Flow { flow, .. } if flow == number);
                flows.iter().any(is_it)
            };
            match asked.iter().find(|&&flow| !found(flow)) {
                Some(&flow) => Err(ExplainError::NotStarted { flow }),
                None => Ok(()),
            }
        }
        Selection::Operation { connection, operation } if operations.is_empty() => {
            Err(ExplainError::NoSuchOperation { connection, operation })
        }
        Selection::Operation { .. } | Selection::Everything => Ok(()),
    }
}

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
mod described;
mod end_state;
mod error;
mod explanation;
mod host_log;
mod no_answer;
mod pair;
mod parts;
mod pauses;
mod pieces;
mod port_log;
mod port_logs;
mod probes;
mod replay;
mod selection;
mod sent_frames;
mod stack_log;
mod subject;
mod survey;
mod survey_text;
mod text;
mod traffic;
mod trail;
mod turns;
mod victim;

use std::sync::Arc;

pub use category::{Category, Cause, LossSignal, Lost, LostForGood, Stage};
pub use error::ExplainError;
pub use explanation::{Explained, Explanation, Part};
pub use no_answer::{NoAnswer, Question};
use probes::Probes;
use replay::replay;
pub use selection::Selection;
pub use subject::Subject;
pub use survey::{LongPause, RootCause, StormedQueue, Survey, survey};
pub use victim::Victim;

use crate::{Observer, Plan};

/// Runs `plan` again and explains some of its flows and operations. The observer is called every now
/// and then and may break the run off.
///
/// # Errors
/// If a flow or operation does not exist or does not start, the plan is not of the native profile, or,
/// which would be a defect, the parts of some time do not add up.
pub fn explain(
    plan: Arc<Plan>,
    selection: &Selection,
    observe: &mut Observer<'_>,
) -> Result<Explained, ExplainError> {
    selection.check(&plan)?;
    let mut probes = Probes::new(&plan, selection);
    let simulation = replay(&plan, &mut probes, observe)?;
    let explanations = probes.finish(simulation.network(), simulation.now())?;
    let is_flow = |one: &Explanation| matches!(one.what, Subject::Flow { .. });
    let (flows, operations): (Vec<_>, Vec<_>) = explanations.into_iter().partition(is_flow);
    has_all(selection, &flows, &operations)?;
    let digest = format!("{:016x}", simulation.network().digest());
    Ok(Explained { digest, flows, operations })
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

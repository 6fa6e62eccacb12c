//! A run that is run again, and looked at.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::error::ExplainError;
use super::probes::Probes;
use crate::Plan;
use crate::simulation::{Progress, Simulation};

/// Is called every now and then, and may break a run off.
pub(super) type Observer<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// Events between two calls of the observer.
const EVENTS_A_STEP: u64 = 200_000;

/// Runs `plan` to its end, looked at. Not generic in its observer, so that a network that is looked at is compiled in this crate alone.
///
/// # Errors
/// If the plan cannot become a network, or the run is broken off.
pub(super) fn replay(
    plan: &Arc<Plan>,
    probes: &mut Probes<'_>,
    observe: Observer<'_>,
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

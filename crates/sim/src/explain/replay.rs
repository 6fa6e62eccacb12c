//! A run that is run again, and looked at.

use std::sync::Arc;

use super::error::ExplainError;
use super::probes::Probes;
use crate::simulation::Simulation;
use crate::{Observer, Plan};

/// Events between two calls of the observer.
const EVENTS_A_STEP: u64 = 200_000;

/// Runs `plan` to its end, looked at.
///
/// # Errors
/// If the plan cannot become a network, or the run is broken off.
pub(super) fn replay(
    plan: &Arc<Plan>,
    probes: &mut Probes<'_>,
    observe: &mut Observer<'_>,
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

//! Runs that several ranks carry out together.

use std::ops::ControlFlow;
use std::sync::Arc;

use rocelab_results::Sink;

use super::control_faults;
use super::error::RunError;
use super::outcome::Outcome;
use super::record::Output;
use super::run::{EVENTS_A_STEP, Observer, conclude};
use crate::Plan;
use crate::ranks::Ranks;
use crate::simulation::{Ending, RankedSimulation};

/// At the first of several ranks: runs `plan` as [`run`](crate::run) does, together with the others,
/// which call [`follow`] with the same plan. Results are the same bytes. The network is cut into
/// `partitions` parts, or as many as there are.
///
/// # Errors
/// As those of [`run`](crate::run); [`RunError::NotOnRanks`] by the rules of HPCC's simulator;
/// [`RunError::Communication`] if another rank fails. The others end as well.
pub fn lead(
    plan: Arc<Plan>,
    sink: Sink<'_>,
    partitions: u32,
    ranks: &mut Ranks<'_>,
    observe: &mut Observer<'_>,
) -> Result<Outcome, RunError> {
    let led = record(plan, sink, partitions, ranks, observe);
    led.inspect_err(|error| ranks.fail(error.blame(), &error.to_string()))
}

/// At the other ranks: carries out this one's part of a run of `plan` that the first one
/// [leads](lead).
///
/// # Errors
/// As those of [`lead`].
pub fn follow(
    plan: Arc<Plan>,
    partitions: u32,
    ranks: &mut Ranks<'_>,
    observe: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(), RunError> {
    let followed = carry_out(plan, partitions, ranks, observe);
    followed.inspect_err(|error| ranks.fail(error.blame(), &error.to_string()))
}

fn begin<'a, 'r>(
    plan: Arc<Plan>,
    partitions: u32,
    ranks: &'r mut Ranks<'a>,
) -> Result<RankedSimulation<'a, 'r>, RunError> {
    if plan.profile.hpcc_ns3().is_some() {
        return Err(RunError::NotOnRanks);
    }
    Ok(RankedSimulation::new(plan, partitions, ranks)?)
}

fn record(
    plan: Arc<Plan>,
    sink: Sink<'_>,
    partitions: u32,
    ranks: &mut Ranks<'_>,
    observe: &mut Observer<'_>,
) -> Result<Outcome, RunError> {
    debug_assert!(ranks.is_first(), "the others follow");
    let mut simulation = begin(Arc::clone(&plan), partitions, ranks)?;
    let execution = simulation.execution();
    let mut output = Output::create(&plan, sink)?;
    simulation.start_capture(sink.folder())?;
    let ending = loop {
        let ending = simulation.step(events_a_step(&plan))?;
        output.write(simulation.take_records())?;
        control_faults::check(&plan)?;
        if let Some(ending) = ending {
            break ending;
        }
        let ends = simulation.capture_failed() || observe(&simulation.progress()).is_break();
        if simulation.is_broken_off(ends)? {
            break Ending::Interrupted;
        }
    };
    let outcome = conclude(simulation.gather()?, output, ending)?;
    ranks.of_each(&true)?;
    Ok(Outcome { execution, ..outcome })
}

fn carry_out(
    plan: Arc<Plan>,
    partitions: u32,
    ranks: &mut Ranks<'_>,
    observe: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(), RunError> {
    let events = events_a_step(&plan);
    let mut simulation = begin(Arc::clone(&plan), partitions, ranks)?;
    simulation.start_capture(None)?;
    while simulation.step(events)?.is_none() {
        control_faults::check(&plan)?;
        if simulation.is_broken_off(observe().is_break())? {
            break;
        }
    }
    simulation.hand_over()?;
    // The first one writes results, which may fail.
    ranks.of_each(&true)?;
    Ok(())
}

/// Events between two looks at whether the run is to go on, of which records and captured frames are
/// kept: whole frames take memory.
fn events_a_step(plan: &Plan) -> u64 {
    if plan.capture.is_some() { EVENTS_A_STEP / 20 } else { EVENTS_A_STEP }
}

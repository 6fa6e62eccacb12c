//! Runs plans, and streams what they record into sinks.

use std::ops::ControlFlow;
use std::sync::Arc;

use rocelab_results::Sink;

use super::control_faults;
use super::error::RunError;
use super::outcome::{Before, Outcome};
use super::record::Output;
use crate::network::Cut;
use crate::profile::hpcc_ns3::HpccNs3;
use crate::profile::roce::Roce;
use crate::simulation::{Compiled, Ending, Execution, Progress, Simulation};
use crate::{Plan, ProfilePlan};

/// Events between two calls of the observer: some tens of milliseconds of work.
pub(super) const EVENTS_A_STEP: u64 = 200_000;

/// Is called every now and then, and may break a run off.
pub type Observer<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// Runs `plan` and streams its records into a sink: a results directory, or memory. They do not depend on the
/// `execution`.
///
/// # Errors
/// If the plan cannot become a network, results cannot be written, or conservation is violated.
pub fn run(
    plan: Arc<Plan>,
    sink: Sink<'_>,
    execution: Execution,
    observe: &mut Observer<'_>,
) -> Result<Outcome, RunError> {
    match plan.profile {
        ProfilePlan::Roce => {
            let simulation = Simulation::<Roce>::with_execution(plan, execution)?;
            record(simulation, sink, Nothing, observe)
        }
        ProfilePlan::HpccNs3(_) => {
            let simulation = Simulation::<HpccNs3>::with_execution(plan, execution)?;
            record(simulation, sink, Nothing, observe)
        }
    }
}

/// Like [`run`], of a native network that is cut like this, and with so many parts at once as there are
/// `workers`, even where that takes longer.
///
/// # Errors
/// As those of [`run`].
pub fn run_in_parts(
    plan: Arc<Plan>,
    sink: Sink<'_>,
    cut: &Arc<Cut>,
    workers: usize,
) -> Result<Outcome, RunError> {
    let simulation = Simulation::in_parts(plan, cut, workers)?;
    record(simulation, sink, Nothing, &mut |_| ControlFlow::Continue(()))
}

/// What is done beside a run.
pub(super) trait Aside<P: Compiled> {
    /// Whether a run that is broken off can go on later, so that its results are not to be finished.
    const CAN_GO_ON: bool;

    /// Before anything happens: captures begin, in the folder of the sink.
    fn begin(
        &mut self,
        simulation: &mut Simulation<P>,
        sink: Sink<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), RunError>;

    /// Between two steps, when all records have been written.
    fn between(
        &mut self,
        simulation: &mut Simulation<P>,
        output: &mut Output<'_>,
    ) -> Result<(), RunError>;
}

/// Nothing more.
struct Nothing;

impl<P: Compiled> Aside<P> for Nothing {
    const CAN_GO_ON: bool = false;

    fn begin(
        &mut self,
        simulation: &mut Simulation<P>,
        sink: Sink<'_>,
        _: &mut Output<'_>,
    ) -> Result<(), RunError> {
        let started = sink.folder().map(|folder| simulation.start_capture(folder));
        Ok(started.unwrap_or(Ok(()))?)
    }

    fn between(&mut self, _: &mut Simulation<P>, _: &mut Output<'_>) -> Result<(), RunError> {
        Ok(())
    }
}

/// Runs to the end, and streams records into a sink.
pub(super) fn record<P: Compiled, A: Aside<P>>(
    mut simulation: Simulation<P>,
    sink: Sink<'_>,
    mut aside: A,
    observe: &mut Observer<'_>,
) -> Result<Outcome, RunError> {
    let plan = Arc::clone(simulation.network().plan());
    let mut output = Output::create(&plan, sink)?;
    aside.begin(&mut simulation, sink, &mut output)?;
    let Progress { events, traversals, .. } = simulation.progress();
    let before = Before { events, traversals };
    let ending = loop {
        let ending = simulation.advance(EVENTS_A_STEP);
        let records = simulation.take_records();
        output.write(records)?;
        control_faults::check(&plan)?;
        if let Some(ending) = ending {
            break ending;
        }
        if simulation.capture_failed() {
            break Ending::Interrupted;
        }
        aside.between(&mut simulation, &mut output)?;
        if observe(&simulation.progress()).is_break() {
            if A::CAN_GO_ON {
                return Err(RunError::BrokenOff { time: simulation.window_end() });
            }
            break Ending::Interrupted;
        }
    };
    Ok(Outcome { before, ..conclude(simulation, output, ending)? })
}

/// Makes results of a run that is over.
pub(super) fn conclude<P: Compiled>(
    mut simulation: Simulation<P>,
    mut output: Output<'_>,
    ending: Ending,
) -> Result<Outcome, RunError> {
    simulation.finish_samples();
    if ending != Ending::Interrupted {
        simulation.finish_queue_histograms();
    }
    let records = simulation.take_records();
    output.write(records)?;
    simulation.finish_capture()?;
    simulation.network().audit()?;
    let summary = output.finish(&simulation, ending)?;
    let (events, execution) = (simulation.events(), simulation.execution());
    let congestion_controls = control_faults::user_controls(simulation.network().plan());
    let before = Before::default();
    Ok(Outcome { ending, summary, events, before, execution, congestion_controls })
}

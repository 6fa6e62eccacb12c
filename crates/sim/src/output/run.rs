//! Runs plans, and streams what they record into sinks.

use std::ops::ControlFlow;
use std::sync::Arc;

use rocelab_results::Sink;

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

/// Runs `plan` and streams its records into a sink: a results directory, or memory. They do not depend on the
/// `execution`.
/// The observer is called every now and then and may break the run off.
///
/// # Errors
/// If the plan cannot become a network, results cannot be written, or conservation is violated.
pub fn run(
    plan: Arc<Plan>,
    sink: &impl Sink,
    execution: Execution,
    observe: impl FnMut(&Progress) -> ControlFlow<()>,
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
    sink: &impl Sink,
    cut: &Arc<Cut>,
    workers: usize,
) -> Result<Outcome, RunError> {
    let simulation = Simulation::in_parts(plan, cut, workers)?;
    record(simulation, sink, Nothing, |_| ControlFlow::Continue(()))
}

/// What is done beside a run.
pub(super) trait Aside<P: Compiled, S: Sink> {
    /// Whether a run that is broken off can go on later, so that its results are not to be finished.
    const CAN_GO_ON: bool;

    /// Before anything happens: captures begin, in the folder of the sink.
    fn begin(
        &mut self,
        simulation: &mut Simulation<P>,
        sink: &S,
        output: &mut Output<'_, S>,
    ) -> Result<(), RunError>;

    /// Between two steps, when all records have been written.
    fn between(
        &mut self,
        simulation: &mut Simulation<P>,
        output: &mut Output<'_, S>,
    ) -> Result<(), RunError>;
}

/// Nothing more.
struct Nothing;

impl<P: Compiled, S: Sink> Aside<P, S> for Nothing {
    const CAN_GO_ON: bool = false;

    fn begin(
        &mut self,
        simulation: &mut Simulation<P>,
        sink: &S,
        _: &mut Output<'_, S>,
    ) -> Result<(), RunError> {
        let started = sink.folder().map(|folder| simulation.start_capture(folder));
        Ok(started.unwrap_or(Ok(()))?)
    }

    fn between(&mut self, _: &mut Simulation<P>, _: &mut Output<'_, S>) -> Result<(), RunError> {
        Ok(())
    }
}

/// Runs to the end, and streams records into a sink.
pub(super) fn record<P: Compiled, S: Sink, A: Aside<P, S>>(
    mut simulation: Simulation<P>,
    sink: &S,
    mut aside: A,
    mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
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
pub(super) fn conclude<P: Compiled, S: Sink>(
    mut simulation: Simulation<P>,
    mut output: Output<'_, S>,
    ending: Ending,
) -> Result<Outcome, RunError> {
    simulation.finish_samples();
    let records = simulation.take_records();
    output.write(records)?;
    simulation.finish_capture()?;
    simulation.network().audit()?;
    let summary = output.finish(&simulation, ending)?;
    let (events, execution) = (simulation.events(), simulation.execution());
    Ok(Outcome { ending, summary, events, before: Before::default(), execution })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use rocelab_results::{MemorySink, Overwrite, RECORD_TYPES, ResultsDir, RunInfo, Table, Value};

    use super::*;
    use crate::{Planning, Scenario};

    const TEXT: &str = "[topology.single-switch]\nhosts = 5\n\
         link = { rate = \"100Gbps\", cable = \"3m\" }\n[roce]\npriority = 3\n\
         [switch]\nbuffer = \"2MB\"\n[congestion_control.none]\n\
         [sample.queues]\ninterval = \"10us\"\nports = [\"switch-0\"]\n\
         [sample.rates]\ninterval = \"10us\"\n\
         [[workload.incast]]\nsenders = 4\nbytes = \"1MB\"\n";

    /// What a file of records says, that has this table.
    fn as_file(table: &Table) -> String {
        let names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
        let mut lines = vec![names.join(",")];
        for row in 0..table.len() {
            let fields = table.arrays().iter().map(|array| match array.value(row) {
                Value::Integer(value) => value.to_string(),
                Value::Ratio(value) => value.to_string(),
                Value::Text(text) => text.to_owned(),
                Value::Missing => String::new(),
            });
            lines.push(fields.collect::<Vec<_>>().join(","));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn memory_holds_what_the_directory_does() {
        let scenario = Scenario::parse(TEXT, Path::new("sinks.toml"), &[]);
        let plan = Arc::new(scenario.and_then(|scenario| scenario.plan()).unwrap());
        let go_on = |_: &Progress| ControlFlow::Continue(());
        let folder = tempfile::tempdir().unwrap();
        let directory = ResultsDir::create(folder.path().join("r"), Overwrite::Refuse).unwrap();
        let of_files = run(Arc::clone(&plan), &directory, Execution::SEQUENTIAL, go_on).unwrap();
        let path = directory.finish(&of_files.summary, &RunInfo::default()).unwrap();
        let sink = MemorySink::default();
        let in_memory = run(plan, &sink, Execution::SEQUENTIAL, go_on).unwrap();
        let results = sink.finish();
        assert_eq!(in_memory.summary, of_files.summary);
        for records in RECORD_TYPES {
            let file = fs::read_to_string(path.join(records.file)).ok();
            assert_eq!(results.tables.get(records.name).map(as_file), file, "{}", records.file);
        }
        assert!(
            ["flows", "pfc", "queues", "rates"].iter().all(|name| results.tables[name].len() > 3)
        );
        assert!(results.pause_causes.is_some_and(|causes| !causes.pauses.is_empty()));
        assert_eq!(results.nodes.len(), 6);
    }
}

//! Runs scenarios while Python may do something else.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use rocelab_results::{Machine, MemorySink, Overwrite, ResultsDir, RunInfo};
use rocelab_sim::{Execution, Observer, Outcome, Plan, Progress, RunError, store_scenario};

use crate::clock::{Stopwatch, cpu_of_process, peak_memory_bytes};
use crate::control;
use crate::error::{of_input, of_results, of_run};
use crate::results::Results;
use crate::scenario::Scenario;

/// Seconds between two looks at what Python wants.
const LOOK_S: f64 = 0.1;

/// Where results go.
pub(crate) enum Destination {
    /// Nowhere but into memory.
    Memory,
    /// Into a results directory.
    Directory {
        /// Its path.
        path: PathBuf,
        /// Whether one that is there is replaced.
        replaces: bool,
    },
}

/// Looks from time to time whether the user has interrupted a run, and tells how far it has come.
pub(crate) struct Watch {
    stopwatch: Stopwatch,
    cpu_before: f64,
    last_look: f64,
    progress: Option<Py<PyAny>>,
    /// What Python raised, an interruption or an error of `progress`.
    raised: Option<PyErr>,
}

impl Watch {
    /// `progress` is called with the share that is done, the simulated time in ps, and the flows that have ended.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        let (stopwatch, cpu_before) = (Stopwatch::start(), cpu_of_process());
        Self { stopwatch, cpu_before, last_look: 0.0, progress, raised: None }
    }

    /// Seconds since it began.
    pub(crate) fn seconds(&self) -> f64 {
        self.stopwatch.seconds()
    }

    /// Whether the run is to go on.
    pub(crate) fn look(&mut self, progress: &Progress) -> ControlFlow<()> {
        let now = self.seconds();
        if now - self.last_look < LOOK_S {
            return ControlFlow::Continue(());
        }
        self.last_look = now;
        let told = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |tell| {
                let arguments = (progress.fraction(), progress.now.ps(), progress.flows_ended);
                tell.call1(py, arguments).map(drop)
            })
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// What Python raised meanwhile.
    pub(crate) fn ended(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}

/// Runs `scenario` to its end. A run that is broken off leaves nothing.
pub(crate) fn run(
    scenario: &Scenario,
    destination: Destination,
    (threads, partitions): (Option<u32>, Option<u32>),
    mut watch: Watch,
) -> PyResult<Results> {
    let plan = Arc::new(scenario.plan()?);
    let execution = execution(&plan, threads, partitions)?;
    match destination {
        Destination::Memory => {
            let sink = MemorySink::default();
            let observe: &mut Observer<'_> = &mut |progress| watch.look(progress);
            let outcome = rocelab_sim::run(plan, (&sink).into(), execution, observe);
            let (outcome, info) = told(outcome, watch, scenario)?;
            Results::in_memory(scenario.clone(), sink.finish(), outcome.summary, info)
        }
        Destination::Directory { path, replaces } => {
            let overwrite = if replaces { Overwrite::Replace } else { Overwrite::Refuse };
            let failed = |error| of_results(&error);
            let directory = ResultsDir::create(path, overwrite).map_err(failed)?;
            store_scenario(scenario.inner(), &directory).map_err(failed)?;
            directory.remove_leftovers();
            let observe: &mut Observer<'_> = &mut |progress| watch.look(progress);
            let sink = (&directory).into();
            let outcome = rocelab_sim::run(plan, sink, execution, observe);
            let (outcome, info) = told(outcome, watch, scenario)?;
            let path = directory.finish(&outcome.summary, &info).map_err(failed)?;
            Results::open(path)
        }
    }
}

/// An outcome with what is to be said of the run, unless Python broke it off.
fn told(
    outcome: Result<Outcome, RunError>,
    watch: Watch,
    scenario: &Scenario,
) -> PyResult<(Outcome, RunInfo)> {
    let (wall_s, cpu_s) = (watch.seconds(), cpu_of_process() - watch.cpu_before);
    watch.ended()?;
    let outcome = outcome.map_err(|error| {
        let error = of_run(&error);
        match scenario.control() {
            Some(control) => control.caused(error),
            None => error,
        }
    })?;
    let mut info = RunInfo {
        wall_s,
        cpu_s,
        peak_memory_bytes: peak_memory_bytes(),
        events: outcome.events,
        threads: outcome.execution.threads,
        partitions: outcome.execution.partitions,
        machine: Machine::current(),
        congestion_controls: outcome.congestion_controls.clone(),
        ..RunInfo::default()
    };
    info.set_rates(outcome.events, outcome.summary.link_traversals.total);
    Ok((outcome, info))
}

/// As the program runs it with `--threads` and `--partitions`; with a congestion control in Python in one part.
fn execution(plan: &Plan, threads: Option<u32>, partitions: Option<u32>) -> PyResult<Execution> {
    if control::is_in_python(plan) {
        for (name, number) in [("threads", threads), ("partitions", partitions)] {
            if let Some(number) = number.filter(|&number| number > 1) {
                return Err(of_input(format!(
                    "{name} = {number}: a congestion control in Python runs in one part; leave it out"
                )));
            }
        }
        return Ok(Execution::SEQUENTIAL);
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(|| u32::try_from(cores()).unwrap_or(u32::MAX));
    Ok(match partitions {
        Some(partitions) => Execution { partitions, threads },
        None => Execution::on_threads(plan, threads),
    })
}

//! Runs that can go on after they were killed.

use std::path::Path;
use std::sync::Arc;

use rocelab_results::{Checkpoint, CheckpointSettings, Checkpoints, FileLengths, ResultsDir, Sink};
use rocelab_state::State;
use rocelab_units::SimTime;

use super::error::RunError;
use super::outcome::Outcome;
use super::record::Output;
use super::run::{Aside, Observer, record};
use crate::Plan;
use crate::profile::roce::Roce;
use crate::simulation::{Execution, Simulation};

/// Runs `plan` as [`run`](crate::run) does, and makes checkpoints as `settings` say: the first one
/// before anything happens, the others each at the end of the first look (every 10 us) that is not before
/// the next multiple of their distance. Results are the same as without.
///
/// # Errors
/// As those of [`run`](crate::run); [`RunError::NotResumable`] by the rules of HPCC's simulator;
/// [`RunError::BrokenOff`] if the observer breaks the run off: it can go on.
pub fn run_with_checkpoints(
    plan: Arc<Plan>,
    directory: &ResultsDir,
    execution: Execution,
    (checkpoints, settings): (&Checkpoints, CheckpointSettings),
    observe: &mut Observer<'_>,
) -> Result<Outcome, RunError> {
    let simulation = begin(plan, execution)?;
    let checkpointing = Checkpointing { checkpoints, settings, from: None, directory };
    record(simulation, directory.into(), checkpointing, observe)
}

/// Goes on from a checkpoint of another run with other settings: what-if. The results in `directory`
/// [begin with](ResultsDir::begin_with) those of the other run until then.
///
/// # Errors
/// As those of [`run`](crate::run), and [`RunError::Checkpoint`] if the checkpoint does not fit the plan:
/// settings differ that it has state for.
pub fn branch(
    plan: Arc<Plan>,
    directory: &ResultsDir,
    execution: Execution,
    from: Checkpoint,
    observe: &mut Observer<'_>,
) -> Result<Outcome, RunError> {
    let simulation = begin(plan, execution)?;
    record(simulation, directory.into(), Branching { from: Some(from), directory }, observe)
}

/// Goes on from a checkpoint, into its results, which `directory` [goes on with](ResultsDir::going_on).
/// The plan is that of the run, or one of which only settings differ that a
/// [branch](crate::branch) may change.
///
/// # Errors
/// As [`run_with_checkpoints`]; [`RunError::Checkpoint`] if the checkpoint does not fit the plan.
pub fn resume(
    plan: Arc<Plan>,
    directory: &ResultsDir,
    execution: Execution,
    (checkpoints, from): (&Checkpoints, Checkpoint),
    observe: &mut Observer<'_>,
) -> Result<Outcome, RunError> {
    let simulation = begin(plan, execution)?;
    let settings = from.settings.clone();
    let checkpointing = Checkpointing { checkpoints, settings, from: Some(from), directory };
    record(simulation, directory.into(), checkpointing, observe)
}

/// Whether a run could go on from a checkpoint; it does not. Files in `directory` are begun anew.
///
/// # Errors
/// As [`resume`].
pub fn fits(
    plan: Arc<Plan>,
    directory: &ResultsDir,
    execution: Execution,
    from: &Checkpoint,
) -> Result<(), RunError> {
    let mut simulation = begin(plan, execution)?;
    let plan = Arc::clone(simulation.network().plan());
    let mut output = Output::create(&plan, directory.into())?;
    go_on(from, &mut simulation, directory.working_path(), &mut output)
}

fn begin(plan: Arc<Plan>, execution: Execution) -> Result<Simulation<Roce>, RunError> {
    if plan.profile.hpcc_ns3().is_some() {
        return Err(RunError::NotResumable);
    }
    Ok(Simulation::with_execution(plan, execution)?)
}

/// Makes checkpoints beside a run.
struct Checkpointing<'a> {
    checkpoints: &'a Checkpoints,
    settings: CheckpointSettings,
    /// Where the run begins, if not at time zero.
    from: Option<Checkpoint>,
    directory: &'a ResultsDir,
}

impl Aside<Roce> for Checkpointing<'_> {
    const CAN_GO_ON: bool = true;

    fn begin(
        &mut self,
        simulation: &mut Simulation<Roce>,
        _: Sink<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), RunError> {
        match self.from.take() {
            None => {
                simulation.start_capture(self.directory.working_path())?;
                self.save(simulation, output)
            }
            Some(from) => {
                go_on(&from, simulation, self.directory.working_path(), output)?;
                self.wait_for_next(simulation);
                Ok(())
            }
        }
    }

    fn between(
        &mut self,
        simulation: &mut Simulation<Roce>,
        output: &mut Output<'_>,
    ) -> Result<(), RunError> {
        if simulation.is_paused() { self.save(simulation, output) } else { Ok(()) }
    }
}

/// Begins with a checkpoint, and makes none.
struct Branching<'a> {
    from: Option<Checkpoint>,
    directory: &'a ResultsDir,
}

impl Aside<Roce> for Branching<'_> {
    const CAN_GO_ON: bool = false;

    fn begin(
        &mut self,
        simulation: &mut Simulation<Roce>,
        _: Sink<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), RunError> {
        self.from
            .take()
            .map_or(Ok(()), |from| go_on(&from, simulation, self.directory.working_path(), output))
    }

    fn between(&mut self, _: &mut Simulation<Roce>, _: &mut Output<'_>) -> Result<(), RunError> {
        Ok(())
    }
}

/// Loads a checkpoint; captures go on in `folder`.
fn go_on(
    from: &Checkpoint,
    simulation: &mut Simulation<Roce>,
    folder: &Path,
    output: &mut Output<'_>,
) -> Result<(), RunError> {
    simulation.go_on_capturing(folder)?;
    let mut rest = &from.state[..];
    let loaded = output.load(&mut rest).and_then(|()| simulation.load(&mut rest));
    loaded.map_err(|error| RunError::Checkpoint { time: from.time, error })
}

impl Checkpointing<'_> {
    fn save(
        &self,
        simulation: &mut Simulation<Roce>,
        output: &mut Output<'_>,
    ) -> Result<(), RunError> {
        let time = simulation.window_end();
        output.flush()?;
        simulation.flush_capture()?;
        let mut state = Vec::new();
        let saved = output.save(&mut state).and_then(|()| simulation.save(&mut state));
        saved.map_err(|error| RunError::Checkpoint { time, error })?;
        let files = FileLengths::of(&self.checkpoints.working_path())?;
        self.checkpoints.save(&Checkpoint {
            time,
            settings: self.settings.clone(),
            files,
            state,
        })?;
        self.wait_for_next(simulation);
        Ok(())
    }

    fn wait_for_next(&self, simulation: &mut Simulation<Roce>) {
        let every = self.settings.every.ps().max(1);
        let passed = simulation.window_end().ps() / every;
        let next = passed.saturating_add(1).saturating_mul(every);
        simulation.pause_at(SimTime::from_ps(next));
    }
}

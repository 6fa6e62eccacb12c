//! Checkpoints: made during a run, continued from after the run was killed, and branched from.

use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_results::{
    BranchRecord, Checkpoint, CheckpointSettings, Checkpoints, InputFile, Overwrite, Results,
    ResultsDir, ResultsError, RunInfo, SCENARIO_TOML,
};
use rocelab_sim::{Outcome, Plan, Planning, RunError, Scenario, store_scenario};
use rocelab_units::{Duration, SimTime};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::{COPY_OR_OUT, Inputs};
use crate::interrupt::Interrupt;
use crate::run::{ExecutionArguments, RunContext, key_and_value, shown};

/// How a run makes checkpoints.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArguments {
    /// Save the run each time so much of simulated time has passed, in DIR.checkpoints beside the
    /// results: `rocelab resume DIR` goes on with a run that was killed.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    checkpoint_every: Option<Duration>,
    /// Keep all checkpoints when the run is over, for `rocelab branch`.
    #[arg(long, requires = "checkpoint_every")]
    keep_checkpoints: bool,
}

impl CheckpointArguments {
    /// Whether checkpoints are requested.
    pub(crate) fn are_asked_for(&self) -> bool {
        self.checkpoint_every.is_some()
    }

    /// The settings of the requested checkpoints for a plan's scenario; `None` if none are
    /// requested.
    ///
    /// # Errors If the interval is zero, or a run of this scenario cannot make checkpoints.
    pub(crate) fn settings(
        &self,
        plan: &Plan,
        overwrite: Overwrite,
    ) -> Result<Option<CheckpointSettings>, Failure> {
        let Some(every) = self.checkpoint_every else { return Ok(None) };
        if every == Duration::ZERO {
            let fix = "--checkpoint-every 0: time must pass between two checkpoints, as in \
                       --checkpoint-every 5ms";
            return Err(Failure::Input(fix.to_owned()));
        }
        if plan.profile.hpcc_ns3().is_some() {
            return Err(RunError::NotResumable.into());
        }
        Ok(Some(CheckpointSettings {
            scenario: plan.name.clone(),
            every,
            keep: self.keep_checkpoints,
            replaces: overwrite == Overwrite::Replace,
            // The inputs are known only when they have been copied into the results.
            inputs: Vec::new(),
        }))
    }
}

/// Runs a scenario from its beginning, with checkpoints.
pub(crate) fn begin(
    context: &RunContext<'_>,
    (scenario, path): (&Scenario, &Path),
    plan: Plan,
    mut settings: CheckpointSettings,
) -> Result<Exit, Failure> {
    let overwrite = settings.overwrite();
    let checkpoints = Checkpoints::create(path, overwrite)?;
    let begun = || -> Result<_, Failure> {
        let directory = ResultsDir::with_checkpoints(&checkpoints, overwrite)?;
        store_scenario(scenario, &directory)?;
        directory.remove_leftovers();
        let inputs = inputs_in(&checkpoints.working_path())?;
        Ok((directory, inputs))
    };
    let directory = match begun() {
        Ok((directory, inputs)) => {
            settings.inputs = inputs;
            directory
        }
        Err(failure) => {
            checkpoints.remove()?;
            return Err(failure);
        }
    };
    let ended = context.run(plan, &directory, |plan, directory, execution, observe| {
        let how = (&checkpoints, settings.clone());
        rocelab_sim::run_with_checkpoints(plan, directory, execution, how, observe)
    });
    finish(context, checkpoints, directory, settings.keep, ended)
}

/// Arguments of `rocelab resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The results directory of a run with checkpoints that was broken off.
    #[arg(value_name = "RESULTS")]
    path: PathBuf,
    #[command(flatten)]
    execution: ExecutionArguments,
    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// What the user can do if continuing would remove a file that the run reads.
const PUT_BACK: &str = "move it out of there and have its path lead to it, as when the run began, or begin \
                        anew with rocelab run and another --out";

/// Continues from the last checkpoint.
pub(crate) fn resume(arguments: &ResumeArguments) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen();
    let checkpoints = match Checkpoints::open(&arguments.path) {
        // A run that has ended keeps no checkpoints unless that was requested.
        Err(ResultsError::NoCheckpoints { .. }) if is_complete(&arguments.path) => {
            return print_complete(arguments);
        }
        opened => opened?,
    };
    if checkpoints.is_over() {
        return over(arguments, checkpoints);
    }
    let from = last(arguments, &checkpoints)?;
    let CheckpointSettings { ref scenario, keep, .. } = from.settings;
    check_inputs(&checkpoints.working_path(), &from.settings)?;
    let (read, plan) = plan_of(&checkpoints.working_path(), scenario, &[])?;
    let results = checkpoints.results_path();
    let mut removed = ResultsDir::removed_for(results, from.settings.overwrite())?;
    // These folders are removed last, when nothing is read from them any more.
    removed.retain(|folder| !checkpoints.working_path().starts_with(folder));
    Inputs::of_scenario(&read).refuse_removing(&removed, results, PUT_BACK)?;
    let directory = ResultsDir::going_on(&checkpoints, from.settings.overwrite(), &from.files);
    let directory = directory.map_err(|error| match error {
        ResultsError::Exists { path } | ResultsError::NotResults { path } => Failure::Input(format!(
            "{} has come into being since the run began, and would be replaced by its results: move \
             it away, and resume then",
            shown(&path).display()
        )),
        ResultsError::HoldsOthers { others, .. } => Failure::Input(format!(
            "{} is of another run, and would be removed with the results that this one replaces: move it \
             away, and resume then",
            shown(&others).display()
        )),
        other => other.into(),
    })?;
    directory.remove_leftovers();
    if !arguments.quiet {
        stderr_line!("resuming at {}", shown_time(from.time));
    }
    let context = RunContext {
        execution: &arguments.execution,
        quiet: arguments.quiet,
        of: "",
        interrupt: &interrupt,
    };
    let ended = context.run(plan, &directory, |plan, directory, execution, observe| {
        let from = (&checkpoints, from.clone());
        rocelab_sim::resume(plan, directory, execution, from, observe)
    });
    finish(&context, checkpoints, directory, keep, ended)
}

/// The last checkpoint.
fn last(arguments: &ResumeArguments, checkpoints: &Checkpoints) -> Result<Checkpoint, Failure> {
    let Some(&last) = checkpoints.times()?.last() else {
        return Err(Failure::Input(format!(
            "{}: the run was broken off before its first checkpoint was complete: begin anew with \
             rocelab run --force",
            arguments.path.display()
        )));
    };
    load(checkpoints, last, "remove what is later to go on from there")
}

/// Loads a checkpoint. If it cannot be read but an earlier one can, the error says so and what to
/// do.
fn load(checkpoints: &Checkpoints, time: SimTime, fix: &str) -> Result<Checkpoint, Failure> {
    checkpoints.load(time).map_err(|error| {
        let readable = |&earlier: &SimTime| earlier < time && checkpoints.load(earlier).is_ok();
        match checkpoints.times().unwrap_or_default().into_iter().rfind(readable) {
            Some(before) => Failure::Input(format!(
                "{error}; the one of {} can be read: {fix}",
                shown_time(before)
            )),
            None => error.into(),
        }
    })
}

/// The error if somebody has removed the results.
fn without_results(checkpoints: &Checkpoints) -> Failure {
    let results = shown(checkpoints.results_path());
    let results = results.display();
    Failure::Input(format!(
        "{results}: there are no results, neither there nor in {results}.checkpoints, where they grew: \
         begin anew with rocelab run --force, or remove {results}.checkpoints"
    ))
}

/// Handles a run that cannot be continued because its results are complete.
fn over(arguments: &ResumeArguments, checkpoints: Checkpoints) -> Result<Exit, Failure> {
    let results = checkpoints.present_results().ok_or_else(|| without_results(&checkpoints))?;
    Results::open(&results)?;
    // Checkpoints are not removed if all are to be kept, or if none can be read.
    let last = checkpoints.times()?.pop().and_then(|time| checkpoints.load(time).ok());
    if last.is_some_and(|last| !last.settings.keep) {
        checkpoints.remove()?;
    }
    print_complete(arguments)
}

/// Whether there are results of a run that has ended and was not interrupted.
fn is_complete(path: &Path) -> bool {
    Results::open(path).is_ok_and(|results| !results.summary().incomplete)
}

fn print_complete(arguments: &ResumeArguments) -> Result<Exit, Failure> {
    // The run may have been killed while it removed its checkpoints.
    rocelab_results::clear_leftovers(&arguments.path);
    if !arguments.quiet {
        answer::print(&format!("{} is complete\n", arguments.path.display()))?;
    }
    Ok(Exit::Done)
}

/// Moves results to their final path. If the run was interrupted, prints how to continue it.
fn finish(
    context: &RunContext<'_>,
    checkpoints: Checkpoints,
    directory: ResultsDir,
    keep: bool,
    ended: Result<(Outcome, RunInfo, bool), Failure>,
) -> Result<Exit, Failure> {
    match ended {
        Ok((outcome, info, has_stop)) => {
            let exit = context.finish(directory, &outcome, &info, has_stop)?;
            if !keep {
                checkpoints.remove()?;
            }
            Ok(exit)
        }
        Err(Failure::Run(RunError::BrokenOff { time })) => {
            let last = checkpoints.times()?.pop().unwrap_or_default();
            stderr_line!(
                "broken off at {}: `rocelab resume {}` goes on from {}",
                shown_time(time),
                shown(checkpoints.results_path()).display(),
                shown_time(last)
            );
            Ok(Exit::Interrupted)
        }
        Err(failure) => {
            // Nothing was simulated, so there is nothing to continue.
            if checkpoints.times()?.is_empty() {
                checkpoints.remove()?;
            }
            Err(failure)
        }
    }
}

/// Arguments of `rocelab branch`.
#[derive(Debug, Args)]
pub(crate) struct BranchArguments {
    /// The results directory of a run with checkpoints: one that was broken off, or one that kept them
    /// (--keep-checkpoints).
    #[arg(value_name = "RESULTS")]
    path: PathBuf,
    /// Branch at the last checkpoint that is not later. [default: the last one]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<Duration>,
    /// Where results go.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Set a key of the scenario from then on, such as `switch.ecn.kmin=100KB`; may be repeated. What may
    /// differ: what begins with switch, congestion_control or failure; convergence, stop.
    #[arg(long = "set", value_name = "KEY.PATH=VALUE", value_parser = key_and_value, required = true)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    execution: ExecutionArguments,
    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Replace an existing results directory.
    #[arg(long)]
    force: bool,
}

/// The keys of a scenario that a branch may set, with all keys below them.
const BRANCHED: [&str; 6] = [
    "switch",
    "congestion_control",
    "infiniband.congestion_control",
    "failure",
    "convergence",
    "stop",
];

/// Whether a branch may set a key.
fn is_branched(key: &str) -> bool {
    BRANCHED.iter().any(|above| {
        let below = key.strip_prefix(above);
        below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
    })
}

/// Continues from a checkpoint with other settings.
pub(crate) fn branch(arguments: &BranchArguments) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen();
    for (key, value) in &arguments.set {
        if !is_branched(key) {
            let table = key.split(['.', '[']).next().unwrap_or_default();
            let table = if table == "infiniband" { key } else { table };
            return Err(Failure::Input(format!(
                "--set {key}={value}: a branch cannot change {table}, of which the run has state; it \
                 can set what begins with {}",
                BRANCHED.join(", ")
            )));
        }
    }
    let checkpoints = Checkpoints::open(&arguments.path)?;
    let results = checkpoints.present_results().ok_or_else(|| without_results(&checkpoints))?;
    let at = chosen(arguments, &checkpoints.times()?)?;
    let from = load(&checkpoints, at, "--at branches there")?;
    if checkpoints.are_at(&arguments.out)? {
        return Err(Failure::Input(format!(
            "--out {}: that is what the branch begins with: name another directory",
            arguments.out.display()
        )));
    }
    check_inputs(&results, &from.settings)?;
    let overwrite = if arguments.force { Overwrite::Replace } else { Overwrite::Refuse };
    let name = &from.settings.scenario;
    let (read, before) = plan_of(&results, name, &[])?;
    let (scenario, mut plan) = plan_of(&results, name, &arguments.set)?;
    // The intervals of samples that nobody asked for follow from `stop`; those that began go on.
    plan.sampling.clone_from(&before.sampling);
    let inputs = Inputs::of_scenario(&read).and(Inputs::of_scenario(&scenario));
    let removed = ResultsDir::removed_for(&arguments.out, overwrite)?;
    let inputs = inputs.and(Inputs::of_results(&results));
    inputs.refuse_removing(&removed, &arguments.out, COPY_OR_OUT)?;
    Checkpoints::check_way(&arguments.out, overwrite)?;
    let mut directory = ResultsDir::create(&arguments.out, overwrite)?;
    directory.begin_with(&from.files, &results)?;
    check_past(&before, &plan, from.time)?;
    store_scenario(&scenario, &directory)?;
    directory.remove_leftovers();
    if !arguments.quiet {
        stderr_line!("branching at {}", shown_time(from.time));
    }
    let context = RunContext {
        execution: &arguments.execution,
        quiet: arguments.quiet,
        of: "",
        interrupt: &interrupt,
    };
    let ended = context.run(plan, &directory, |plan, directory, execution, observe| {
        rocelab_sim::branch(plan, directory, execution, from.clone(), observe)
    });
    let (mut outcome, info, has_stop) = ended.map_err(|failure| match failure {
        Failure::Run(error @ RunError::Checkpoint { .. }) => Failure::Input(format!(
            "{}: {error}: it adds, removes or changes something of which the run has state; \
             docs/checkpoints.md says what may differ",
            all_set(&arguments.set)
        )),
        other => other,
    })?;
    outcome.summary.branch = Some(origin(arguments, &checkpoints, from.time));
    Checkpoints::clear_way(&arguments.out, overwrite)?;
    context.finish(directory, &outcome, &info, has_stop)
}

/// What the results are a branch of. The place of the other results is left out: it may change.
fn origin(arguments: &BranchArguments, checkpoints: &Checkpoints, time: SimTime) -> BranchRecord {
    let path = checkpoints.results_path();
    let name = path.file_name().unwrap_or(path.as_os_str());
    let set = arguments.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    BranchRecord { of: name.to_string_lossy().into_owned(), at_ps: time.ps(), set }
}

/// The time of the requested checkpoint.
fn chosen(arguments: &BranchArguments, times: &[SimTime]) -> Result<SimTime, Failure> {
    let at = arguments.at.map_or(SimTime::NEVER, |at| SimTime::ZERO + at);
    let found = times.iter().copied().rfind(|&time| time <= at);
    found.ok_or_else(|| {
        let path = arguments.path.display();
        Failure::Input(match times.first() {
            None => format!("{path}: it has no checkpoint that is complete"),
            Some(&first) => format!(
                "--at {}: the first checkpoint of {path} is that of {}",
                arguments.at.unwrap_or_default(),
                shown_time(first)
            ),
        })
    })
}

/// Checks that new settings do not change what has already happened.
fn check_past(before: &Plan, plan: &Plan, now: SimTime) -> Result<(), Failure> {
    // The first checkpoint is made before anything happens.
    let begun = now > SimTime::ZERO;
    let past = |plan: &Plan| {
        let steps = plan.failures.steps.iter().filter(|step| step.at <= now && begun);
        steps.copied().collect::<Vec<_>>()
    };
    if past(before) != past(plan) {
        return Err(Failure::Input(format!(
            "--set: what failed, was mended or was rerouted (failure, convergence) until {} has happened: name it as it was, and set what comes later",
            shown_time(now)
        )));
    }
    if plan.stop.is_some_and(|stop| stop <= now) {
        return Err(Failure::Input(format!(
            "--set stop: the branch begins at {}; stop it later",
            shown_time(now)
        )));
    }
    Ok(())
}

/// What was set, as it was written.
fn all_set(set: &[(String, String)]) -> String {
    let each = set.iter().map(|(key, value)| format!("--set {key}={value}"));
    each.collect::<Vec<_>>().join(" ")
}

/// The scenario in a results directory, and its plan, with the original name.
fn plan_of(
    results: &Path,
    name: &str,
    set: &[(String, String)],
) -> Result<(Scenario, Plan), Failure> {
    let scenario = rocelab_sim::reference::load(&results.join(SCENARIO_TOML), set)?.scenario;
    let plan = Plan { name: name.to_owned(), ..scenario.plan()? };
    Ok((scenario, plan))
}

/// The scenario in a results directory and the files that it names, with their present content.
fn inputs_in(results: &Path) -> Result<Vec<InputFile>, Failure> {
    let scenario = rocelab_sim::reference::load(&results.join(SCENARIO_TOML), &[])?.scenario;
    let files = std::iter::once(PathBuf::from(SCENARIO_TOML)).chain(scenario.input_files());
    let read = |file: PathBuf| InputFile::read(results, &file).map_err(Failure::from);
    files.map(read).collect()
}

/// Checks that the files that a run read have not changed since it began. With changed files, the
/// results would belong to neither version.
fn check_inputs(results: &Path, settings: &CheckpointSettings) -> Result<(), Failure> {
    let known = &settings.inputs;
    // The scenario comes first, because it names the others.
    let scenario = InputFile::read(results, Path::new(SCENARIO_TOML))?;
    let now = if known.contains(&scenario) { inputs_in(results)? } else { vec![scenario] };
    let Some(changed) = now.iter().find(|one| !known.contains(one)) else { return Ok(()) };
    Err(Failure::Input(format!(
        "{}: it has changed since the run began: put it back as it was, or begin anew with rocelab run \
         --force; `rocelab branch --set` goes on with other settings",
        shown(&results.join(&changed.file)).display()
    )))
}

fn shown_time(time: SimTime) -> Duration {
    time.since(SimTime::ZERO)
}

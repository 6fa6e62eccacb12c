//! `rocelab run`.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use rocelab_results::{Checkpoints, Machine, Overwrite, ResultsDir, RunInfo, results_name};
use rocelab_sim::proof::{HostFinding, LossyPriority, ProofStage, RoutingLoop, StarvedPriority};
use rocelab_sim::reference::Loaded;
use rocelab_sim::{
    Execution, Observer, Outcome, Plan, Planning, RunError, Scenario, store_scenario,
};

use crate::answer;
use crate::checkpoint::{self, CheckpointArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::{COPY_OR_OUT, Inputs};
use crate::interrupt::Interrupt;
use crate::ns3_rdma;
use crate::progress::{Bar, Stages, Stopwatch, Told};
use crate::resources;
use crate::verdict;

/// Arguments of `rocelab run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A scenario file, a configuration of HPCC's ns-3 simulator or of ns3-rdma (.txt), or a folder of
    /// them.
    #[arg(value_name = "FILE_OR_FOLDER")]
    path: PathBuf,
    /// Where results go; with a folder, one directory a scenario below it.
    /// [default: results/SCENARIO-SEED, and the settings of --set behind it]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    execution: ExecutionArguments,
    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Replace an existing results directory.
    #[arg(long)]
    force: bool,
    /// Write every event to exact.txt; only with a configuration of ns3-rdma.
    #[arg(long)]
    reference_log: bool,
    #[command(flatten)]
    checkpoints: CheckpointArguments,
    #[command(flatten)]
    scenario: ScenarioArguments,
}

/// How runs are carried out.
#[derive(Debug, Args)]
pub(crate) struct ExecutionArguments {
    /// Worker threads; results do not depend on it. [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Parts that the network is cut into: fewer if it has fewer switches, and never more than 256,
    /// whatever is asked for; results do not depend on it. [default:
    /// one for each thread, at most one for every 32 hosts]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    partitions: Option<u32>,
}

impl ExecutionArguments {
    /// The execution of a plan with these options.
    fn execution(&self, plan: &Plan) -> Execution {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(|| u32::try_from(cores()).unwrap_or(u32::MAX));
        match self.partitions {
            Some(partitions) => Execution { partitions, threads },
            None => Execution::on_threads(plan, threads),
        }
    }
}

impl RunArguments {
    /// What happens to existing results.
    pub(crate) fn overwrite(&self) -> Overwrite {
        if self.force { Overwrite::Replace } else { Overwrite::Refuse }
    }

    /// The first requested option that needs a run in one process.
    pub(crate) fn only_in_one_process(&self) -> Option<&'static str> {
        let asks = [
            (self.execution.threads.is_some(), "--threads"),
            (self.checkpoints.are_asked_for(), "--checkpoint-every"),
        ];
        asks.into_iter().find_map(|(is_asked_for, option)| is_asked_for.then_some(option))
    }

    /// The requested number of parts, if it is given.
    pub(crate) fn partitions(&self) -> Option<u32> {
        self.execution.partitions
    }

    /// The results directory for `plan`.
    pub(crate) fn directory_for(&self, plan: &Plan) -> PathBuf {
        self.directory_of(&plan.name, plan.seed)
    }

    /// The results directory of what is called `name`.
    pub(crate) fn directory_of(&self, name: &str, seed: u64) -> PathBuf {
        match &self.out {
            Some(out) if self.path.is_dir() => out.join(name),
            Some(out) => out.clone(),
            None => {
                PathBuf::from("results").join(results_name(name, seed, self.scenario.overrides()))
            }
        }
    }

    /// What changes a scenario.
    pub(crate) fn scenario(&self) -> &ScenarioArguments {
        &self.scenario
    }

    /// Whether only errors are printed.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether every event is written.
    pub(crate) fn reference_log(&self) -> bool {
        self.reference_log
    }

    /// The option that asks for checkpoints, if one does.
    pub(crate) fn checkpoint_option(&self) -> Option<&'static str> {
        self.checkpoints.are_asked_for().then_some("--checkpoint-every")
    }
}

/// What changes a scenario from outside.
#[derive(Debug, Args)]
pub(crate) struct ScenarioArguments {
    /// Where every random stream starts, in place of the scenario's seed.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Set a key of the scenario, such as `switch.alpha=1/16`; may be repeated.
    #[arg(long = "set", value_name = "KEY.PATH=VALUE", value_parser = key_and_value)]
    set: Vec<(String, String)>,
}

impl ScenarioArguments {
    /// The seed, if one is given.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The keys that are set, and their values.
    pub(crate) fn overrides(&self) -> &[(String, String)] {
        &self.set
    }

    /// The scenario at `path` with these changes, and its plan.
    pub(crate) fn load(&self, path: &Path, quiet: bool) -> Result<(Loaded, Plan), Failure> {
        ns3_rdma::refuse(path)?;
        let _stages = Stages::of_one(quiet, "planning");
        let mut overrides = self.set.clone();
        overrides.extend(self.seed.map(|seed| ("seed".to_owned(), seed.to_string())));
        let loaded = rocelab_sim::reference::load(path, &overrides)?;
        let plan = loaded.scenario.plan()?;
        Ok((loaded, plan))
    }
}

/// The usual name of a configuration of HPCC's ns-3 simulator.
const CONFIG: &str = "config.txt";

/// Runs every scenario at the path.
pub(crate) fn execute(arguments: &RunArguments) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen();
    if let Some(paths) = configurations_of_ns3_rdma(arguments)? {
        return ns3_rdma::execute(arguments, &paths, &interrupt);
    }
    let all = load_all(arguments)?;
    check_all(arguments, &all)?;
    let overwrite = arguments.overwrite();
    run_all(arguments, &interrupt, all, |context, scenario, plan| {
        let directory = arguments.directory_for(&plan);
        match arguments.checkpoints.settings(&plan, overwrite)? {
            Some(settings) => checkpoint::begin(context, (scenario, &directory), plan, settings),
            None => {
                Checkpoints::clear_way(&directory, overwrite)?;
                run_one(context, scenario, plan, ResultsDir::create(directory, overwrite)?)
            }
        }
    })
}

/// The configurations of ns3-rdma at the path; none if there is a scenario.
fn configurations_of_ns3_rdma(arguments: &RunArguments) -> Result<Option<Vec<PathBuf>>, Failure> {
    let paths = scenario_files(&arguments.path)?;
    let (ours, others): (Vec<_>, Vec<_>) =
        paths.into_iter().partition(|path| ns3_rdma::is_ours(path));
    match (ours.first(), others.first()) {
        (Some(_), None) => Ok(Some(ours)),
        (Some(ours), Some(other)) => Err(Failure::Input(format!(
            "{}: is a configuration of ns3-rdma, and {} is not; run them one at a time",
            ours.display(),
            other.display()
        ))),
        (None, _) if arguments.reference_log => Err(Failure::Input(
            "--reference-log: only runs of ns3-rdma's configurations have this log; leave it out"
                .to_owned(),
        )),
        (None, _) => Ok(None),
    }
}

/// A scenario with its file and its plan.
pub(crate) struct ToRun {
    pub(crate) path: PathBuf,
    pub(crate) loaded: Loaded,
    pub(crate) plan: Plan,
}

/// Reads all scenarios at the path before the first one runs, so that an error in the last one is
/// found at once, not after hours.
pub(crate) fn load_all(arguments: &RunArguments) -> Result<Vec<ToRun>, Failure> {
    let load = |path: PathBuf| {
        let (loaded, plan) = arguments.scenario.load(&path, arguments.quiet)?;
        Ok(ToRun { path, loaded, plan })
    };
    scenario_files(&arguments.path)?.into_iter().map(load).collect()
}

/// Checks the results directories of all scenarios before the first one runs.
pub(crate) fn check_all(arguments: &RunArguments, all: &[ToRun]) -> Result<(), Failure> {
    let overwrite = arguments.overwrite();
    check_own_directories(arguments, all)?;
    check_inputs_stay(arguments, all)?;
    prove_writable(all.iter().map(|one| arguments.directory_for(&one.plan)), overwrite)?;
    for ToRun { plan, .. } in all {
        arguments.checkpoints.settings(plan, overwrite)?;
        Checkpoints::check_way(&arguments.directory_for(plan), overwrite)?;
    }
    Ok(())
}

/// Runs scenarios one after the other, until the user interrupts one. `run` runs a single one.
pub(crate) fn run_all(
    arguments: &RunArguments,
    interrupt: &Interrupt,
    all: Vec<ToRun>,
    mut run: impl FnMut(&RunContext<'_>, &Scenario, Plan) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    let are_several = all.len() > 1;
    for ToRun { path, loaded, plan } in all {
        if !arguments.quiet {
            answer::print_ineffective(&path, &loaded, &plan);
            print_warnings(&path, &plan);
        }
        let of = if are_several { format!("{}: ", path.display()) } else { String::new() };
        let context = RunContext {
            execution: &arguments.execution,
            quiet: arguments.quiet,
            of: &of,
            interrupt,
        };
        exit = exit.and(run(&context, &loaded.scenario, plan)?);
        if exit == Exit::Interrupted {
            break;
        }
    }
    Ok(exit)
}

/// Prints settings that are seldom intended, before the run.
fn print_warnings(path: &Path, plan: &Plan) {
    for warning in find_warnings(plan) {
        stderr_line!("warning: {}: {warning}", path.display());
    }
}

/// These warnings as text. It follows all flows, and shows a progress display because this may take
/// long.
fn find_warnings(plan: &Plan) -> Vec<String> {
    let _stages = Stages::of_one(false, ProofStage::Traffic.name());
    let loops = RoutingLoop::all_of(plan).into_iter().map(|finding| finding.to_string());
    let lossy = LossyPriority::all_of(plan).into_iter().map(|finding| finding.to_string());
    let starved = StarvedPriority::all_of(plan).into_iter().map(|finding| finding.to_string());
    let hosts = HostFinding::all_of(plan).into_iter().map(|finding| finding.to_string());
    loops.chain(lossy).chain(starved).chain(hosts).collect()
}

/// Checks that no two scenarios have the same results directory, where one would replace the
/// other's results.
fn check_own_directories(arguments: &RunArguments, all: &[ToRun]) -> Result<(), Failure> {
    let mut owners = BTreeMap::new();
    for ToRun { path: file, plan, .. } in all {
        let directory = arguments.directory_for(plan);
        if let Some(owner) = owners.insert(directory.clone(), file) {
            let (file, owner, directory) = (file.display(), owner.display(), directory.display());
            return Err(Failure::Input(format!(
                "{file}: its results would go to {directory}, as those of {owner} do; run them \
                 one at a time, each with an --out of its own"
            )));
        }
    }
    Ok(())
}

/// Checks that results do not remove a file that any of the scenarios reads.
fn check_inputs_stay(arguments: &RunArguments, all: &[ToRun]) -> Result<(), Failure> {
    let read = all.iter().map(|one| Inputs::of_scenario(&one.loaded.scenario));
    let inputs = read.fold(Inputs::default(), Inputs::and);
    for ToRun { plan, .. } in all {
        let directory = arguments.directory_for(plan);
        let removed = ResultsDir::removed_for(&directory, arguments.overwrite())?;
        inputs.refuse_removing(&removed, &directory, COPY_OR_OUT)?;
    }
    Ok(())
}

/// The scenario files at a path: the path itself, or the files of a folder in order of their names.
/// In a folder these are its `.toml` files, its `config.txt`, and the `config.txt` of each folder
/// in it.
pub(crate) fn scenario_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error| Failure::Machine { path: path.to_owned(), error };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|ending| ending == "toml") || file.ends_with(CONFIG) {
            files.push(file);
        } else {
            files.extend(config_in(file)?);
        }
    }
    files.iter().try_for_each(|file| refuse_to_wait_for(file))?;
    files.sort();
    if files.is_empty() {
        let path = path.display();
        return Err(Failure::Input(format!(
            "{path}: holds no scenario: name a .toml file or a config.txt"
        )));
    }
    Ok(files)
}

/// Refuses a pipe in a folder of scenarios, because reading would wait until somebody writes to it.
/// A pipe that the user names directly, as `<(...)` of a shell does, is allowed.
fn refuse_to_wait_for(file: &Path) -> Result<(), Failure> {
    match std::fs::metadata(file) {
        Ok(found) if !found.is_file() && !found.is_dir() => Err(Failure::Input(format!(
            "{}: is no file: move it out of this folder, or name the scenarios one by one",
            file.display()
        ))),
        _ => Ok(()),
    }
}

/// The `config.txt` in a folder, if `folder` is one and has it. A folder that cannot be read is an
/// error, because a scenario in it would be skipped without notice.
fn config_in(folder: PathBuf) -> Result<Option<PathBuf>, Failure> {
    let config = folder.join(CONFIG);
    match config.symlink_metadata() {
        Ok(found) => Ok((!found.is_dir()).then_some(config)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Failure::Machine { path: folder, error }),
    }
}

/// Runs a scenario from its beginning to its end.
fn run_one(
    context: &RunContext<'_>,
    scenario: &Scenario,
    plan: Plan,
    directory: ResultsDir,
) -> Result<Exit, Failure> {
    store_scenario(scenario, &directory)?;
    directory.remove_leftovers();
    let (outcome, info, has_stop) =
        context.run(plan, &directory, |plan, directory, execution, observe| {
            rocelab_sim::run(plan, directory.into(), execution, observe)
        })?;
    context.finish(directory, &outcome, &info, has_stop)
}

/// The context of a run, which is the same for all ways to run.
pub(crate) struct RunContext<'a> {
    pub(crate) execution: &'a ExecutionArguments,
    pub(crate) quiet: bool,
    /// The beginning of lines on standard error, which names the scenario if there are several.
    pub(crate) of: &'a str,
    pub(crate) interrupt: &'a Interrupt,
}

impl RunContext<'_> {
    /// Runs a plan with a progress display, until its end or an interruption. Returns the outcome,
    /// the resources that it took, and whether the scenario has a `stop`.
    pub(crate) fn run(
        &self,
        plan: Plan,
        directory: &ResultsDir,
        run: impl FnOnce(
            Arc<Plan>,
            &ResultsDir,
            Execution,
            &mut Observer<'_>,
        ) -> Result<Outcome, RunError>,
    ) -> Result<(Outcome, RunInfo, bool), Failure> {
        let watch = Stopwatch::start();
        let (cpu_before, _) = resources::used();
        let has_stop = plan.stop.is_some();
        let bar = Bar::new(self.quiet);
        let execution = self.execution.execution(&plan);
        let mut told = Told::new(directory);
        let outcome = run(Arc::new(plan), directory, execution, &mut |progress| {
            bar.show(progress);
            told.tell(progress);
            if self.interrupt.requested() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        bar.clear();
        let outcome = outcome?;
        let info = run_info(&outcome, &watch, cpu_before);
        Ok((outcome, info, has_stop))
    }

    /// Moves results to their final path, and prints a summary.
    pub(crate) fn finish(
        &self,
        directory: ResultsDir,
        outcome: &Outcome,
        info: &RunInfo,
        has_stop: bool,
    ) -> Result<Exit, Failure> {
        let path = directory.finish(&outcome.summary, info)?;
        if !self.quiet {
            answer::print(&rocelab_report::summary_table(&outcome.summary, info, shown(&path)))?;
        }
        Ok(verdict::of(outcome, has_stop, self.of))
    }
}

/// Checks that all directories can be created: creates them and removes them again, the last one
/// first, because the first one has created their parents.
fn prove_writable(
    paths: impl Iterator<Item = PathBuf>,
    overwrite: Overwrite,
) -> Result<(), Failure> {
    let mut made = VecDeque::new();
    for path in paths {
        made.push_front(ResultsDir::create(path, overwrite)?);
    }
    Ok(())
}

fn run_info(outcome: &Outcome, watch: &Stopwatch, cpu_before: f64) -> RunInfo {
    let (cpu, memory) = resources::used();
    let mut info = RunInfo {
        wall_s: watch.elapsed().as_secs_f64(),
        cpu_s: cpu - cpu_before,
        peak_memory_bytes: memory,
        events: outcome.events,
        threads: outcome.execution.threads,
        partitions: outcome.execution.partitions,
        machine: Machine::current(),
        congestion_controls: outcome.congestion_controls.clone(),
        ..RunInfo::default()
    };
    let traversals = outcome.summary.link_traversals.total;
    let before = outcome.before;
    info.set_rates(outcome.events - before.events, traversals - before.traversals);
    info
}

/// A path as the user would write it: relative to the current folder, if it is below that.
pub(crate) fn shown(path: &Path) -> &Path {
    std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

pub(crate) fn key_and_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| format!("`{text}` is no KEY.PATH=VALUE, such as switch.alpha=1/16"))
}

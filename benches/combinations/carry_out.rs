//! Runs of one scenario in this process.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rocelab_results::{Checkpoints, Overwrite, ResultsDir, ResultsError, Summary};
use rocelab_sim::proof::Proof;
use rocelab_sim::{
    Ending, Execution, Outcome, Plan, Planning, Progress, RunError, SamplingPlan, Scenario,
};
use tempfile::TempDir;

use crate::Violation;
use crate::scenario::Made;

/// Number of events after which a run is stopped: more events would hardly find more.
const MOST_EVENTS: u64 = 4_000_000;

/// The files of a results directory, except those that may differ from run to run.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) plan: Arc<Plan>,
    pub(crate) proof: Proof,
    pub(crate) ending: Ending,
    pub(crate) summary: Summary,
    pub(crate) files: Files,
}

/// The outcome of a scenario.
#[derive(Debug)]
pub(crate) enum Went {
    /// The scenario is not valid, for this reason.
    Refused(String),
    Ran(Box<Ran>),
    Violated(Violation),
}

/// A scenario in a folder of its own, as a user would have it.
#[derive(Debug)]
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) file: PathBuf,
}

impl Bench {
    pub(crate) fn new(made: &Made, name: &str) -> io::Result<Self> {
        // In memory if that is possible, because checkpoints wait for the disk.
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
        for (file, text) in &made.files {
            fs::write(folder.path().join(file), text)?;
        }
        let file = folder.path().join(format!("{name}.toml"));
        fs::write(&file, made.text())?;
        Ok(Self { folder, file })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The names of the files and folders in it.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        fs::read_dir(self.folder.path())?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }
}

/// Message and place of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Stores the messages of panics instead of printing them.
pub(crate) fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("a panic");
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = format!("{place}: {message}");
    }));
}

/// The value of `run`, or its panic as a violation.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, Violation>) -> Result<T, Violation> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let message = PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Err(Violation::new("panic", message))
    })
}

/// Reads a scenario, makes all proofs about it, and runs it in one part.
pub(crate) fn carry_out(bench: &Bench) -> Went {
    let planned = guarded(|| Ok(plan(&bench.file)));
    let plan = match planned {
        Ok(Ok(plan)) => plan,
        Ok(Err(refusal)) => return Went::Refused(refusal),
        Err(violation) => return Went::Violated(violation),
    };
    let ran = guarded(|| {
        let proof = Proof::of(&plan);
        let (outcome, files) = run(bench, &plan, Execution::SEQUENTIAL)?;
        let Outcome { ending, summary, .. } = outcome;
        Ok(Box::new(Ran { plan, proof, ending, summary, files }))
    });
    match ran {
        Ok(ran) => Went::Ran(ran),
        Err(Violation { law: "input", text }) => Went::Refused(text),
        Err(violation) => Went::Violated(violation),
    }
}

fn plan(file: &Path) -> Result<Arc<Plan>, String> {
    let scenario = Scenario::load(file, &[]).map_err(|error| error.to_string())?;
    scenario.plan().map(Arc::new).map_err(|error| error.to_string())
}

/// Runs a plan and reads its results.
pub(crate) fn run(
    bench: &Bench,
    plan: &Arc<Plan>,
    execution: Execution,
) -> Result<(Outcome, Files), Violation> {
    let directory = ResultsDir::create(bench.path("results"), Overwrite::Refuse)
        .map_err(|error| Violation::new("machine", error.to_string()))?;
    let outcome = rocelab_sim::run(Arc::clone(plan), (&directory).into(), execution, &mut enough)
        .map_err(violation_of)?;
    let files = read_results(directory.working_path(), &outcome.summary)?;
    Ok((outcome, files))
}

/// Stops a run that takes too long.
fn enough(progress: &Progress) -> ControlFlow<()> {
    if progress.events > MOST_EVENTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The violation for an error of a run, depending on who has to fix it.
pub(crate) fn violation_of(error: RunError) -> Violation {
    let law = match &error {
        RunError::Build(_) => "input",
        RunError::Audit(_) => "audit",
        RunError::Checkpoint { .. } => "resume",
        _ => "machine",
    };
    Violation::new(law, error.to_string())
}

/// All files of unfinished results, with the summary.
pub(crate) fn read_results(folder: &Path, summary: &Summary) -> Result<Files, Violation> {
    let mut files = Files::new();
    read_folder(folder, "", &mut files)
        .map_err(|error| Violation::new("machine", error.to_string()))?;
    let summary = serde_json::to_vec(summary).unwrap_or_default();
    files.insert("summary.json".to_owned(), summary);
    Ok(files)
}

/// All files below a folder.
pub(crate) fn read_folder(folder: &Path, prefix: &str, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// The files in which two runs differ.
pub(crate) fn differences(one: &Files, other: &Files) -> Vec<String> {
    let names = one.keys().chain(other.keys());
    let mut differing: Vec<String> =
        names.filter(|&name| one.get(name) != other.get(name)).cloned().collect();
    differing.sort();
    differing.dedup();
    differing
}

/// Runs a plan in several parts, which must give the same results. A run that was stopped because
/// of its length is not compared: it stops between other events if there are several parts.
pub(crate) fn in_parts(bench: &Bench, ran: &Ran, partitions: u32) -> Result<(), Violation> {
    if ran.ending == Ending::Interrupted {
        return Ok(());
    }
    let threads = 1 + partitions % 4 / 2;
    let execution = Execution { partitions, threads };
    let (_, files) = guarded(|| run(bench, &ran.plan, execution))?;
    let differing = differences(&ran.files, &files);
    if differing.is_empty() {
        return Ok(());
    }
    let text = format!("{} differ in {partitions} parts", differing.join(", "));
    Err(Violation::new("parts", text))
}

/// Runs a plan without samples and without a measuring window, which must be the same run.
pub(crate) fn unwatched(bench: &Bench, ran: &Ran) -> Result<(), Violation> {
    let nobody_looks = ran.plan.sampling.is_empty() && ran.plan.measure.is_none();
    if ran.ending == Ending::Interrupted || nobody_looks {
        return Ok(());
    }
    let plan = Plan { sampling: SamplingPlan::default(), measure: None, ..(*ran.plan).clone() };
    let (outcome, _) = guarded(|| run(bench, &Arc::new(plan), Execution::SEQUENTIAL))?;
    let told = |ending: Ending, summary: &Summary| {
        let Summary { digest, simulated_ps, drops, pfc, .. } = summary;
        format!("{ending:?}, digest {digest}, {simulated_ps} ps, {drops:?}, {pfc:?}")
    };
    let [with, without] = [told(ran.ending, &ran.summary), told(outcome.ending, &outcome.summary)];
    if with == without || outcome.ending == Ending::Interrupted {
        return Ok(());
    }
    let text = format!("samples change the run: {with}; without them {without}");
    Err(Violation::new("looking", text))
}

/// The folder of checkpoints beside results, for a run that is stopped and continued.
pub(crate) fn checkpoints(path: &Path) -> Result<Checkpoints, Violation> {
    let begun = Instant::now();
    loop {
        match Checkpoints::open(path) {
            // A process that another thread is starting holds our lock too, until it executes
            // another program.
            Err(ResultsError::InUse { .. }) if begun.elapsed() < Duration::from_secs(10) => {
                thread::sleep(Duration::from_millis(1));
            }
            opened => return opened.map_err(|error| Violation::new("resume", error.to_string())),
        }
    }
}

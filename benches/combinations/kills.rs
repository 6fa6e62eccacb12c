//! Runs that are interrupted, some of them by SIGKILL, and continued until they end.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration as WallTime;

use rocelab_results::{CheckpointSettings, Checkpoints, Overwrite, ResultsDir, Summary};
use rocelab_sim::{Ending, Execution, Outcome, RunError};
use rocelab_units::Duration;

use crate::Violation;
use crate::carry_out::{
    Bench, Files, Ran, checkpoints, differences, guarded, read_folder, read_results, violation_of,
};
use crate::random::Random;

/// Number of processes that are killed for a scenario.
const MOST_KILLS: u64 = 16;

/// The interruptions of a scenario.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kills {
    /// Number of interruptions.
    pub(crate) all: u64,
    /// Number of interruptions by SIGKILL.
    pub(crate) by_signal: u64,
}

/// Interrupts a run again and again, in this process and in others, and compares the results.
pub(crate) fn kill(bench: &Bench, ran: &Ran, random: &mut Random) -> Result<Kills, Violation> {
    if ran.ending == Ending::Interrupted {
        return Ok(Kills::default());
    }
    let broken = guarded(|| break_off(bench, ran, random))?;
    let killed = kill_processes(bench, ran, random)?;
    Ok(Kills { all: broken + killed, by_signal: killed })
}

/// The time between two checkpoints.
fn distance(ran: &Ran, random: &mut Random) -> Duration {
    let share = ran.summary.simulated_ps / random.pick(&[2, 5, 12, 40]);
    Duration::from_ps(share.max(1_000_000))
}

fn execution(random: &mut Random) -> Execution {
    Execution { partitions: random.pick(&[1, 2, 3, 4]), threads: 1 }
}

/// Interrupts the run after checkpoints, and damages what was written later.
fn break_off(bench: &Bench, ran: &Ran, random: &mut Random) -> Result<u64, Violation> {
    let path = bench.path("broken");
    let settings = CheckpointSettings {
        scenario: ran.plan.name.clone(),
        every: distance(ran, random),
        keep: false,
        replaces: false,
        inputs: Vec::new(),
    };
    let mut broken = 0;
    loop {
        // A few dozen times at most, so that the run ends.
        let left = if broken < 24 { random.pick(&[1, 1, 1, 2, 3, 8]) } else { u64::MAX };
        let (ended, folder) =
            leg(&path, ran, settings.clone(), (broken == 0, left), execution(random))?;
        let Some(outcome) = ended else {
            broken += 1;
            spoil(&folder, random);
            continue;
        };
        let files = read_results(&folder, &outcome.summary)?;
        compare(ran, &files, &format!("{broken} breaks"))?;
        // Its results were never moved to their final path.
        checkpoints(&path)?
            .remove()
            .map_err(|error| Violation::new("resume", error.to_string()))?;
        return Ok(broken);
    }
}

/// Runs from the beginning or the last checkpoint until a number of further checkpoints was made.
/// Returns the outcome, if the run ended before, and the path of the results.
fn leg(
    path: &Path,
    ran: &Ran,
    settings: CheckpointSettings,
    (is_first, mut left): (bool, u64),
    execution: Execution,
) -> Result<(Option<Outcome>, PathBuf), Violation> {
    let failed = |error: rocelab_results::ResultsError| Violation::new("resume", error.to_string());
    let plan = Arc::clone(&ran.plan);
    let mut observe = |_: &_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (ended, folder) = if is_first {
        let own = Checkpoints::create(path, Overwrite::Refuse).map_err(failed)?;
        let directory = ResultsDir::with_checkpoints(&own, Overwrite::Refuse).map_err(failed)?;
        let how = (&own, settings);
        (
            rocelab_sim::run_with_checkpoints(plan, &directory, execution, how, &mut observe),
            own.working_path(),
        )
    } else {
        let own = checkpoints(path)?;
        let last = own.times().map_err(failed)?.pop().unwrap_or_default();
        let from = own.load(last).map_err(failed)?;
        let directory =
            ResultsDir::going_on(&own, Overwrite::Refuse, &from.files).map_err(failed)?;
        let from = (&own, from);
        (rocelab_sim::resume(plan, &directory, execution, from, &mut observe), own.working_path())
    };
    match ended {
        Ok(outcome) => Ok((Some(outcome), folder)),
        Err(RunError::BrokenOff { .. }) => Ok((None, folder)),
        Err(error) => Err(violation_of(error)),
    }
}

/// Appends bytes to files, as a process may do before it is killed.
fn spoil(folder: &Path, random: &mut Random) {
    let mut files = Files::new();
    if read_folder(folder, "", &mut files).is_err() {
        return;
    }
    for name in files.keys().filter(|_| random.once_in(2)) {
        let file = OpenOptions::new().append(true).open(folder.join(name));
        _ = file.and_then(|mut file| file.write_all(b"0,what was written since"));
    }
    _ = fs::write(folder.join("new.csv"), "0");
}

/// Runs it in other processes, and kills them at random times.
fn kill_processes(bench: &Bench, ran: &Ran, random: &mut Random) -> Result<u64, Violation> {
    let every = format!("{}ps", distance(ran, random).ps());
    let failed = |error: std::io::Error| Violation::new("machine", error.to_string());
    let mut killed = 0;
    // Each process gets a little more time than the one before, so that one reaches the end.
    let mut most_us = 2_000;
    loop {
        let mut child = command(bench, &every, random)?.spawn().map_err(failed)?;
        let mut is_killed = false;
        if killed < MOST_KILLS {
            std::thread::sleep(WallTime::from_micros(random.within(0..=most_us)));
            most_us += most_us / 2;
            if child.try_wait().is_ok_and(|ended| ended.is_none()) {
                is_killed = true;
                killed += 1;
                child.kill().map_err(failed)?;
            }
        }
        let output = child.wait_with_output().map_err(failed)?;
        match output.status.code() {
            None if is_killed => {}
            Some(0 | 1) => break,
            _ => {
                let message = String::from_utf8_lossy(&output.stderr);
                let text = format!("{} after {killed} kills: {}", output.status, message.trim());
                return Err(Violation::new("kill", text));
            }
        }
    }
    compare(ran, &finished(&bench.path("killed"))?, &format!("{killed} kills"))?;
    check_left_over(bench, killed)?;
    Ok(killed)
}

/// The command that continues the run, or begins it if there is nothing to continue.
fn command(bench: &Bench, every: &str, random: &mut Random) -> Result<Command, Violation> {
    let failed = |error: std::io::Error| Violation::new("machine", error.to_string());
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    let results = bench.path("killed");
    // The folder is read without its lock, because a process that another thread is starting would
    // inherit the lock.
    let folder = fs::read_dir(bench.path("killed.checkpoints"));
    let is_one = |path: PathBuf| path.extension().is_some_and(|ending| ending == "checkpoint");
    let begun = folder.is_ok_and(|all| all.flatten().any(|entry| is_one(entry.path())));
    if begun || results.exists() {
        command.arg("resume").arg(results);
    } else {
        command.arg("run").arg(&bench.file).arg("--out").arg(results);
        command.args(["--force", "--checkpoint-every", every]);
    }
    let Execution { partitions, threads } = execution(random);
    let numbers = [partitions, threads].map(|number| number.to_string());
    command.args(["--quiet", "--partitions", &numbers[0], "--threads", &numbers[1]]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    Ok(command)
}

/// Results at their final path, in the same form as [`read_results`] returns those of a run in this
/// process.
fn finished(folder: &Path) -> Result<Files, Violation> {
    let failed = |error: std::io::Error| Violation::new("kill", error.to_string());
    let mut files = Files::new();
    read_folder(folder, "", &mut files).map_err(failed)?;
    let summary = files.get("summary.json").map(Vec::as_slice).unwrap_or_default();
    let summary: Summary = serde_json::from_slice(summary).map_err(|error| failed(error.into()))?;
    files.insert("summary.json".to_owned(), serde_json::to_vec(&summary).unwrap_or_default());
    Ok(files)
}

/// Checks that an interrupted run gave the same results as one that was not interrupted.
fn compare(ran: &Ran, files: &Files, what: &str) -> Result<(), Violation> {
    let differing = differences(&ran.files, files);
    // The command also writes these files.
    let beside = |name: &String| {
        let copied = !ran.files.contains_key(name);
        name == "run.json"
            || name == "lock"
            || copied && (name.ends_with(".toml") || name.contains('-'))
    };
    let differing: Vec<String> = differing.into_iter().filter(|name| !beside(name)).collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(Violation::new("resume", format!("{} differ after {what}", differing.join(", "))))
}

/// Checks that nothing is left beside the results.
fn check_left_over(bench: &Bench, kills: u64) -> Result<(), Violation> {
    let names = bench.names().unwrap_or_default();
    let left: Vec<String> = names
        .into_iter()
        .filter(|name| name.contains(".checkpoints") || name.starts_with(".killed"))
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    Err(Violation::new("left-over", format!("{} after {kills} kills", left.join(", "))))
}

//! `rocelab sweep`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rocelab_results::Overwrite;
use rocelab_sim::ScenarioError;
use rocelab_sweep::{
    Batch, Clock, Observed, Point, Points, Status, Sweep, SweepError, combine, write_points,
};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::{Stopwatch, bar};
use crate::resources;
use crate::run::{key_and_value, shown};
use crate::sweep_findings;

/// Arguments of `rocelab sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// A file with `[sweep]`: a scenario, or one that names its scenario by `sweep.scenario`.
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Where results go: a directory for each point, and tables of all. Points that have results there are not
    /// run again. [default: results/NAME-sweep]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Points that run at once. [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Set a key of the scenario of all points, or of the sweep, such as `sweep.seeds=3`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, String)>,
    /// Run only this point, and write no tables; may be repeated.
    #[arg(long = "point", value_name = "N")]
    points: Vec<usize>,
    /// Run nothing: make the tables of those points that have results.
    #[arg(long, conflicts_with_all = ["points", "emit", "list"])]
    collect: bool,
    /// Run nothing: print a script that runs all points elsewhere.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["points", "list", "force"])]
    emit: Option<Program>,
    /// Run nothing: print the points.
    #[arg(long, conflicts_with = "points")]
    list: bool,
    /// Replace results of other settings.
    #[arg(long)]
    force: bool,
    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
}

/// What runs a script.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Program {
    /// A job array of Slurm.
    Slurm,
    /// GNU parallel.
    Parallel,
    /// Snakemake.
    Snakemake,
}

impl From<Program> for Batch {
    fn from(program: Program) -> Self {
        match program {
            Program::Slurm => Self::Slurm,
            Program::Parallel => Self::Parallel,
            Program::Snakemake => Self::Snakemake,
        }
    }
}

/// Does what the arguments say.
pub(crate) fn execute(arguments: &SweepArguments) -> Result<Exit, Failure> {
    let sweep = Sweep::load(&arguments.path, &arguments.set)?;
    check_numbers(arguments, &sweep)?;
    if arguments.list {
        return list(&sweep);
    }
    let folder = arguments.out.clone();
    let folder =
        folder.unwrap_or_else(|| Path::new("results").join(format!("{}-sweep", sweep.name())));
    if let Some(program) = arguments.emit {
        check_scenarios(&sweep)?;
        return emit(arguments, &sweep, &folder, program.into());
    }
    let overwrite = if arguments.force { Overwrite::Replace } else { Overwrite::Refuse };
    let points = Points::new(&sweep, &folder, overwrite);
    match (arguments.collect, &arguments.points[..]) {
        (true, _) => {
            let all = (0..sweep.points().len()).map(|point| points.found(point)).collect();
            put_together(arguments, &points, all)
        }
        (false, []) => {
            let unreadable = check_scenarios(&sweep)?;
            carry_out_all(arguments, &points, unreadable)
        }
        (false, some) => carry_out_some(arguments, &points, some),
    }
}

/// Points are counted from 0 to the last.
fn check_numbers(arguments: &SweepArguments, sweep: &Sweep) -> Result<(), Failure> {
    let count = sweep.points().len();
    match arguments.points.iter().find(|&&point| point >= count) {
        Some(point) => Err(Failure::Input(format!(
            "--point {point}: the sweep has {count} points, counted from 0; --list shows them"
        ))),
        None => Ok(()),
    }
}

/// Reads the scenarios of all points before the first one runs. Errors of some are told, and their points fail; an
/// error in all of them ends the sweep.
fn check_scenarios(sweep: &Sweep) -> Result<usize, ScenarioError> {
    sweep.check().map_err(|(number, error)| {
        stderr_line!("no point can be read, such as {}", sweep.points()[number]);
        error
    })
}

fn list(sweep: &Sweep) -> Result<Exit, Failure> {
    let line = |(number, point): (usize, &Point)| format!("{number} {point}\n");
    answer::print(&sweep.points().iter().enumerate().map(line).collect::<String>())?;
    Ok(Exit::Done)
}

/// Prints a script.
fn emit(
    arguments: &SweepArguments,
    sweep: &Sweep,
    folder: &Path,
    batch: Batch,
) -> Result<Exit, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Machine { path: PathBuf::from("rocelab"), error })?;
    let full = |path: &Path| {
        let failed = |error| Failure::Machine { path: path.to_owned(), error };
        std::path::absolute(path).map(|path| quoted(&path.display().to_string())).map_err(failed)
    };
    let mut command = format!(
        "{} sweep {} --out {} --quiet",
        quoted(&program.display().to_string()),
        full(&arguments.path)?,
        full(folder)?
    );
    for (key, value) in &arguments.set {
        command += &format!(" --set {}", quoted(&format!("{key}={value}")));
    }
    let (point, collect) = (format!("{command} --point"), format!("{command} --collect"));
    let folder = std::path::absolute(folder)
        .map_err(|error| Failure::Machine { path: folder.to_owned(), error })?;
    let name = sweep.name();
    let script = batch.script((&name, &folder), sweep.points().len(), &point, &collect);
    answer::print(&script)?;
    Ok(Exit::Done)
}

/// A word of a shell's command line.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Carries out all points, and makes the tables.
fn carry_out_all(
    arguments: &SweepArguments,
    points: &Points<'_>,
    unreadable: usize,
) -> Result<Exit, Failure> {
    if unreadable > 0 && !arguments.quiet {
        stderr_line!(
            "warning: the scenario cannot be read with the settings of {}",
            counted(unreadable)
        );
    }
    let all: Vec<usize> = (0..points.sweep().points().len()).collect();
    let statuses = carry_out(arguments, points, &all);
    put_together(arguments, points, statuses)
}

/// Carries out single points.
fn carry_out_some(
    arguments: &SweepArguments,
    points: &Points<'_>,
    some: &[usize],
) -> Result<Exit, Failure> {
    let statuses = carry_out(arguments, points, some);
    let mut exit = Exit::Done;
    for (&point, status) in some.iter().zip(statuses) {
        exit = exit.and(match status {
            Status::Done => Exit::Done,
            Status::Open => Exit::Interrupted,
            Status::Failed(error) => named(points, point, error).report(),
        });
    }
    Ok(exit)
}

/// The failure of a point, with its settings.
fn named(points: &Points<'_>, point: usize, error: SweepError) -> Failure {
    stderr_line!("point {point} failed: {}", points.sweep().points()[point]);
    error.into()
}

fn carry_out(arguments: &SweepArguments, points: &Points<'_>, numbers: &[usize]) -> Vec<Status> {
    let interrupt = Interrupt::listen();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads =
        arguments.threads.map_or_else(cores, |threads| usize::try_from(threads).unwrap_or(1));
    let bar = bar(arguments.quiet, numbers.len() as u64, "{bar:30} {pos}/{len} points  {eta} left");
    let observe = |observed: &Observed<'_>| {
        if let Observed::Ended { .. } = observed {
            bar.inc(1);
        }
        if interrupt.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let statuses = points.carry_out(numbers, threads, &MachineClock(Stopwatch::start()), &observe);
    bar.finish_and_clear();
    statuses
}

/// Makes the tables of those points that are done, unless the user broke them off; says what failed.
fn put_together(
    arguments: &SweepArguments,
    points: &Points<'_>,
    mut statuses: Vec<Status>,
) -> Result<Exit, Failure> {
    // A point that was not reached may have results of an earlier time.
    for (point, status) in statuses.iter_mut().enumerate() {
        if matches!(status, Status::Open) {
            *status = points.found(point);
        }
    }
    let is_done = |status: &Status| matches!(status, Status::Done);
    let done: Vec<usize> = (0..statuses.len()).filter(|&point| is_done(&statuses[point])).collect();
    let is_open = |&point: &usize| matches!(statuses[point], Status::Open);
    let without: Vec<usize> = (0..statuses.len()).filter(is_open).collect();
    let open = without.len();
    if !points.folder().is_dir() {
        std::fs::create_dir_all(points.folder())
            .map_err(|error| Failure::Machine { path: points.folder().to_owned(), error })?;
    }
    write_points(points, &statuses)?;
    let mut exit = Exit::Done;
    for (point, status) in statuses.into_iter().enumerate() {
        if let Status::Failed(error) = status {
            // A scenario that cannot be is a finding among many; a defect, or a full disk, is what it is.
            exit = exit.and(match named(points, point, error).report() {
                Exit::BadInput => Exit::Found,
                worse => worse,
            });
        }
    }
    if open > 0 && !arguments.collect {
        stderr_line!("interrupted: {} to go; the same command goes on", counted(open));
        return Ok(Exit::Interrupted);
    }
    let has_operations = combine(points, &done)?;
    exit = exit.and(sweep_findings::print(points, &done));
    if open > 0 {
        let some = without.iter().take(10).map(usize::to_string).collect::<Vec<_>>().join(", ");
        let more = if open > 10 { ", ..." } else { "" };
        stderr_line!(
            "warning: {} without results ({some}{more}): the tables are without them",
            counted(open)
        );
        exit = exit.and(Exit::Found);
    }
    if !arguments.quiet {
        let total = points.sweep().points().len();
        let folder = shown(points.folder()).display();
        let tables = match done.len() {
            0 => "no tables are made".to_owned(),
            _ => format!(
                "{folder}/runs.parquet, {folder}/flows.parquet{}",
                if has_operations {
                    format!(", {folder}/operations.parquet, {folder}/kinds.parquet")
                } else {
                    String::new()
                }
            ),
        };
        let done = done.len();
        answer::print(&format!(
            "{done} of {total} points: {tables}; how they ran: {folder}/points.csv\n"
        ))?;
    }
    Ok(exit)
}

fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}

/// The clocks of this machine.
struct MachineClock(Stopwatch);

impl Clock for MachineClock {
    fn wall_s(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }

    fn cpu_s(&self) -> f64 {
        resources::used_by_thread()
    }
}

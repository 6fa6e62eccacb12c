//! `rocelab compare`.

use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_report::Comparison;
use rocelab_results::Results;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::new_file;
use crate::progress::Stages;
use crate::report::{inputs_of, open, scenario_of};

/// Arguments of `rocelab compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Results directories, two or more, or folders of sweeps, which stand for all their points. A few
    /// runs are compared to the first; many are put into groups by their settings.
    #[arg(value_name = "RESULTS", required = true, num_args = 1..)]
    paths: Vec<PathBuf>,
    /// Also draw the runs into this HTML file.
    #[arg(short, long, visible_alias = "html", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    /// Print JSON in place of a table.
    #[arg(long)]
    json: bool,
}

/// Prints the figures in a table, and draws them if requested.
pub(crate) fn execute(arguments: &CompareArguments) -> Result<Exit, Failure> {
    let paths = runs_of(&arguments.paths)?;
    let results: Vec<Results> = paths.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    if let Some(out) = &arguments.out {
        let stages = Stages::of_one(false, "reading results");
        let page = rocelab_report::compare_html(&results)?;
        let scenarios: Vec<_> = paths.iter().map(|path| scenario_of(path)).collect();
        let inputs =
            paths.iter().zip(&scenarios).fold(Inputs::default(), |inputs, (path, scenario)| {
                inputs.and(inputs_of(path, scenario.as_ref()))
            });
        new_file::write("--out", out, &page, arguments.force, &inputs)?;
        drop(stages);
    }
    let comparison = Comparison::of(&results);
    if arguments.json {
        answer::print(&comparison.json())?;
    } else {
        answer::print(&comparison.table())?;
        if let Some(out) = &arguments.out {
            answer::print(&format!("\nreport: {}\n", out.display()))?;
        }
    }
    Ok(Exit::Done)
}

/// The results directories that the paths stand for.
fn runs_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut runs = Vec::new();
    for path in paths {
        match rocelab_sweep::done_points(path) {
            Some(points) if points.is_empty() => {
                return Err(Failure::Input(format!(
                    "{}: no point of this sweep has results: `rocelab sweep` runs them",
                    path.display()
                )));
            }
            Some(points) => {
                tell_missing(path, points.len());
                runs.extend(points);
            }
            None => runs.push(path.clone()),
        }
    }
    match &runs[..] {
        [one] => Err(Failure::Input(format!(
            "{}: one run is nothing to compare: name two or more, or the folder of a sweep",
            one.display()
        ))),
        _ => Ok(runs),
    }
}

/// Says how many points of a sweep have no results, as its `points.csv` tells.
fn tell_missing(folder: &Path, done: usize) {
    let Ok(text) = std::fs::read_to_string(folder.join("points.csv")) else { return };
    let all = text.lines().count().saturating_sub(1);
    if all > done {
        stderr_line!(
            "warning: {}: {} of {all} points have no results: they are left out",
            folder.display(),
            all - done
        );
    }
}

//! `rocelab compare`.

use std::path::PathBuf;

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
    /// Results directories, two or more; the others are compared to the first.
    #[arg(value_name = "RESULTS", required = true, num_args = 2..)]
    paths: Vec<PathBuf>,
    /// Also draw the runs over each other into this HTML file.
    #[arg(short, long, value_name = "FILE")]
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
    let results: Vec<Results> =
        arguments.paths.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    if let Some(out) = &arguments.out {
        let stages = Stages::of_one(false, "reading results");
        let page = rocelab_report::compare_html(&results)?;
        let scenarios: Vec<_> = arguments.paths.iter().map(|path| scenario_of(path)).collect();
        let each = arguments.paths.iter().zip(&scenarios);
        let inputs = each.fold(Inputs::default(), |inputs, (path, scenario)| {
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

//! `rocelab report`.

use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_results::{Checkpoints, Results};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file;

/// Arguments of `rocelab report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// A results directory.
    #[arg(value_name = "RESULTS")]
    path: PathBuf,
    /// Write the page to this file; without it, to report.html in the results directory.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Writes one HTML file.
pub(crate) fn execute(arguments: &ReportArguments) -> Result<Exit, Failure> {
    let results = open(&arguments.path)?;
    let page = rocelab_report::report_html(&results)?;
    let out = arguments.out.clone().unwrap_or_else(|| arguments.path.join("report.html"));
    new_file::write("--out", &out, &page, arguments.force)?;
    answer::print(&format!("report: {}\n", out.display()))?;
    Ok(Exit::Done)
}

/// Opens the results in the directory at `path`.
pub(crate) fn open(path: &Path) -> Result<Results, Failure> {
    if !path.join("summary.json").is_file() {
        let shown = path.display();
        return Err(Failure::Input(if Checkpoints::hold_growing(path) {
            format!(
                "{shown}: the run is not over: `rocelab resume {shown}` goes on with it if it was \
                 broken off"
            )
        } else {
            format!("{shown}: no results (no summary.json): name a directory that a run wrote")
        }));
    }
    Ok(Results::open(path)?)
}

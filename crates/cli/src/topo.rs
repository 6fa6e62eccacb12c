//! `rocelab topo`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::ScenarioArguments;

/// What to do with a topology.
#[derive(Debug, Subcommand)]
pub(crate) enum TopoCommand {
    /// Print the topology, and draw it.
    Show(ShowArguments),
}

/// Arguments of `rocelab topo show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A scenario file.
    #[arg(value_name = "SCENARIO")]
    path: PathBuf,
    /// Write a drawing to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the drawing if the file exists.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    scenario: ScenarioArguments,
}

/// Prints or draws.
pub(crate) fn execute(command: &TopoCommand) -> Result<Exit, Failure> {
    let TopoCommand::Show(arguments) = command;
    let (_, plan) = arguments.scenario.load(&arguments.path)?;
    let map = rocelab_sim::topology_map(&plan.topology);
    if let Some(path) = &arguments.svg {
        write_drawing(path, &rocelab_report::topology_svg(&map), arguments.force)?;
    }
    answer::print(&rocelab_report::topology_table(&map))?;
    if let Some(path) = &arguments.svg {
        answer::print(&format!("drawing: {}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

/// Writes a file that must not exist yet, unless it may be replaced.
fn write_drawing(path: &Path, svg: &str, replace: bool) -> Result<(), Failure> {
    let shown = path.display();
    let opened =
        OpenOptions::new().write(true).truncate(true).create(true).create_new(!replace).open(path);
    let mut file = opened.map_err(|error| {
        Failure::Input(match error.kind() {
            ErrorKind::AlreadyExists => {
                format!("--svg = {shown}: exists; replace it with --force")
            }
            _ => format!("--svg = {shown}: {error}; name a file that you may write"),
        })
    })?;
    file.write_all(svg.as_bytes())
        .map_err(|error| Failure::Machine { path: path.to_owned(), error })
}

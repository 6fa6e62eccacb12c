//! `rocelab topo`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file;
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
        let drawing = rocelab_report::topology_svg(&map);
        new_file::write("--svg", path, &drawing, arguments.force)?;
    }
    answer::print(&rocelab_report::topology_table(&map))?;
    if let Some(path) = &arguments.svg {
        answer::print(&format!("drawing: {}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

//! `rocelab topo`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    print!("{}", rocelab_report::topology_table(&map));
    let Some(path) = &arguments.svg else { return Ok(Exit::Done) };
    if path.exists() && !arguments.force {
        let path = path.display();
        return Err(Failure::Input(format!("--svg = {path}: exists; replace it with --force")));
    }
    fs::write(path, rocelab_report::topology_svg(&map))
        .map_err(|error| Failure::Machine { path: path.clone(), error })?;
    println!("drawing: {}", path.display());
    Ok(Exit::Done)
}

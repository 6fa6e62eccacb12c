//! `rocelab topo`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::answer;
use crate::examples;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::new_file;
use crate::progress::Stages;
use crate::run::ScenarioArguments;

/// What to do with a topology.
#[derive(Debug, Subcommand)]
pub(crate) enum TopoCommand {
    /// Print the topology, and draw it.
    #[command(after_help = examples::TOPO_SHOW)]
    Show(ShowArguments),
    /// Print the addresses and the GID table of each host.
    #[command(after_help = examples::TOPO_GIDS)]
    Gids(GidsArguments),
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

/// Arguments of `rocelab topo gids`.
#[derive(Debug, Args)]
pub(crate) struct GidsArguments {
    /// A scenario file.
    #[arg(value_name = "SCENARIO")]
    path: PathBuf,
    #[command(flatten)]
    scenario: ScenarioArguments,
}

/// Prints or draws.
pub(crate) fn execute(command: &TopoCommand) -> Result<Exit, Failure> {
    match command {
        TopoCommand::Show(arguments) => show(arguments),
        TopoCommand::Gids(arguments) => {
            let (_, plan) = arguments.scenario.load(&arguments.path, false)?;
            answer::print(&rocelab_sim::gid_tables(&plan))?;
            Ok(Exit::Done)
        }
    }
}

fn show(arguments: &ShowArguments) -> Result<Exit, Failure> {
    let (loaded, plan) = arguments.scenario.load(&arguments.path, false)?;
    let stages = Stages::of_one(false, "drawing");
    let map = rocelab_sim::topology_map(&plan.topology);
    if let Some(path) = &arguments.svg {
        let drawing = rocelab_report::topology_svg(&map);
        let inputs = Inputs::of_scenario(&loaded.scenario);
        new_file::write("--svg", path, &drawing, arguments.force, &inputs)?;
    }
    let table = rocelab_report::topology_table(&map);
    drop(stages);
    answer::print(&table)?;
    if let Some(path) = &arguments.svg {
        answer::print(&format!("drawing: {}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

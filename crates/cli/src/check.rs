//! `rocelab check`.

use std::path::PathBuf;

use clap::Args;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::ScenarioArguments;

/// Arguments of `rocelab check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A scenario file, a configuration of HPCC's ns-3 simulator (.txt), or a folder of them.
    #[arg(value_name = "FILE_OR_FOLDER")]
    path: PathBuf,
    #[command(flatten)]
    scenario: ScenarioArguments,
}

/// Validates every scenario at the path, and tells what is wrong with each.
pub(crate) fn execute(arguments: &CheckArguments) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for path in crate::run::scenario_files(&arguments.path)? {
        let (loaded, plan) = match arguments.scenario.load(&path) {
            Ok(good) => good,
            Err(failure) => {
                exit = exit.and(failure.report());
                continue;
            }
        };
        answer::tell_notes(&path, &loaded.notes);
        answer::print(&format!(
            "{}: {} hosts, {} links, {} flows: ok\n",
            path.display(),
            plan.topology.host_count(),
            plan.topology.links.len(),
            plan.flows.len()
        ))?;
    }
    Ok(exit)
}

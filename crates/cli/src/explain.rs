//! `rocelab explain`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use rocelab_results::Results;
use rocelab_sim::explain::{ExplainError, Explained, explain};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Bar;

/// Arguments of `rocelab explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// A results directory.
    #[arg(value_name = "RESULTS")]
    path: PathBuf,
    /// The flow, by its number in flows.csv.
    #[arg(long, value_name = "N")]
    flow: u32,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the scenario of the results again and tells where the flow's time went.
pub(crate) fn execute(arguments: &ExplainArguments) -> Result<Exit, Failure> {
    let results = crate::report::open(&arguments.path)?;
    let scenario = arguments.path.join("scenario.resolved.toml");
    let loaded = rocelab_sim::reference::load(&scenario, &[])?;
    let plan = loaded.scenario.plan()?;
    let interrupt = Interrupt::listen();
    let bar = Bar::new(false);
    let explained = explain(Arc::new(plan), &[arguments.flow], |progress| {
        bar.show(progress);
        if interrupt.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.clear();
    let explained = match explained {
        Err(ExplainError::Interrupted) => return Ok(Exit::Interrupted),
        other => other.map_err(Failure::Explain)?,
    };
    for flow in &explained.flows {
        answer::print(&if arguments.json { json(&explained)? } else { flow.to_string() })?;
    }
    Ok(compare(&arguments.path, &results, &explained))
}

fn json(explained: &Explained) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(explained)
        .map_err(|error| Failure::Input(format!("the explanation is no JSON: {error}")))?;
    Ok(text + "\n")
}

/// Whether what was run again is the run that left the results.
fn compare(path: &Path, results: &Results, explained: &Explained) -> Exit {
    let digest = &results.summary().digest;
    if *digest == explained.digest {
        return Exit::Done;
    }
    tell!(
        "warning: {}: run again, the digest is {}, not {digest}: what is explained is another run; \
         the results are incomplete, or of another version of rocelab, or files have changed",
        path.display(),
        explained.digest
    );
    Exit::Found
}

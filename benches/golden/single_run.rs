//! One run in a process of its own.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rocelab_results::{Overwrite, ResultsDir, RunInfo};
use rocelab_sim::Planning;
use rocelab_sim::reference;

use crate::Failure;
use rocelab_benches::usage::Usage;

/// Does the same in this process as `rocelab run SCENARIO --out RESULTS`. Returns the resources
/// used since the start of the process.
pub(crate) fn execute(scenario: &Path, results: &Path) -> Result<Usage, Failure> {
    let loaded = reference::load(scenario, &[])?;
    let plan = loaded.scenario.plan()?;
    let directory = ResultsDir::create(results, Overwrite::Refuse)?;
    let outcome = rocelab_sim::run(
        Arc::new(plan),
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| ControlFlow::Continue(()),
    )?;
    directory.finish(&outcome.summary, &RunInfo::default())?;
    Ok(Usage::so_far())
}

/// Does this in another process of this program.
pub(crate) fn in_own_process(scenario: &Path, results: &Path) -> Result<Usage, Failure> {
    let output = Command::new(std::env::current_exe()?)
        .arg("--single")
        .args([scenario, results])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", scenario.display(), output.status).into());
    }
    String::from_utf8(output.stdout)?.parse()
}

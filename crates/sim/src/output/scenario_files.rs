//! The scenario of a run, in its results.

use std::fs;
use std::path::{Component, Path};

use rocelab_results::{ResultsDir, ResultsError, SCENARIO_TOML, is_name_of_results};

use crate::{Planning, Scenario};

/// Writes the resolved scenario and the files that it reads into results, so that it can be run again from
/// there.
///
/// # Errors
/// [`ResultsError::Write`]; [`ResultsError::Encode`] if a number of the scenario is none in TOML.
pub fn store_scenario(scenario: &Scenario, directory: &ResultsDir) -> Result<(), ResultsError> {
    let resolved = scenario.resolved().anchored(|file| !is_stored(file));
    let folder = scenario.folder().to_owned();
    let resolved = resolved.map_err(|source| ResultsError::Write { path: folder, source })?;
    let path = directory.working_path().join(SCENARIO_TOML);
    let text = resolved
        .to_toml()
        .map_err(|error| ResultsError::Encode { path, reason: error.to_string() })?;
    directory.write_text(SCENARIO_TOML, &text)?;
    store_inputs(scenario, directory.working_path())
}

/// Copies the files that the scenario names into the results.
fn store_inputs(scenario: &Scenario, results: &Path) -> Result<(), ResultsError> {
    for file in scenario.input_files().into_iter().filter(|file| is_stored(file)) {
        let (from, to) = (scenario.folder().join(&file), results.join(&file));
        let failed = |source| ResultsError::Write { path: to.clone(), source };
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        // A branch already has them, because its results begin as a copy of the original run's.
        if from != to {
            fs::copy(from, &to).map_err(failed)?;
        }
    }
    Ok(())
}

/// Whether a file that a scenario names is copied into the results. Files above its folder are not,
/// nor files whose name the results use themselves.
fn is_stored(file: &Path) -> bool {
    let below = file.components().all(|part| matches!(part, Component::Normal(_)));
    below && !is_name_of_results(file)
}

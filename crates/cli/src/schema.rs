//! `rocelab schema`.

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the JSON Schema of scenario files.
pub(crate) fn execute() -> Result<Exit, Failure> {
    let schema = serde_json::to_string_pretty(&rocelab_sim::Scenario::json_schema())
        .map_err(|error| Failure::Input(error.to_string()))?;
    answer::print(&format!("{schema}\n"))?;
    Ok(Exit::Done)
}

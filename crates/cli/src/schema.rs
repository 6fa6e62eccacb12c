//! `rocelab schema`.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the JSON Schema of scenario files.
pub(crate) fn execute() -> Result<Exit, Failure> {
    let schema = serde_json::to_string_pretty(&rocelab_sim::Scenario::json_schema());
    let text = schema.map_err(|error| Failure::Input(error.to_string()))?;
    // A reader that closes the pipe early has read what it wanted.
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Machine { path: PathBuf::from("standard output"), error })
        }
        _ => Ok(Exit::Done),
    }
}

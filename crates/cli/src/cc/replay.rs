//! `rocelab cc replay`.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind};

use rocelab_wasm::{Replay, ReplayError};

use super::ReplayArguments;
use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the answers of a module to the events of one queue pair.
pub(super) fn execute(arguments: &ReplayArguments) -> Result<Exit, Failure> {
    let (module, values) = arguments.guest.load()?;
    let path = &arguments.events;
    let failed = |error| Failure::Machine { path: path.clone(), error };
    let file = File::open(path).map_err(|error| {
        Failure::Input(format!(
            "{}: {error}; name a file of events, a JSON object a line",
            path.display()
        ))
    })?;
    let mut replay = Replay::new(&module, &values, arguments.guest.fuel)
        .map_err(|error| Failure::Input(format!("{}: {error}", arguments.guest.path.display())))?;
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => Failure::Input(format!(
                "{}:{number}: it is no text; name a file of events, a JSON object a line",
                path.display()
            )),
            _ => failed(error),
        })?;
        if line.trim().is_empty() {
            continue;
        }
        match replay.line(&line) {
            Ok(answers) => {
                let text = serde_json::to_string(&answers).unwrap_or_default();
                answer::print(&format!("{text}\n"))?;
            }
            Err(error @ ReplayError::Guest(_)) => {
                stderr_line!("{}:{number}: {error}", path.display());
                return Ok(Exit::Found);
            }
            Err(error) => {
                let message = format!(
                    "{}:{number}: {error}; see docs/user-congestion-control.md",
                    path.display()
                );
                return Err(Failure::Input(message));
            }
        }
    }
    Ok(Exit::Done)
}

//! Standard output, and notes beside it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rocelab_sim::reference::Loaded;
use rocelab_sim::{Plan, Planning};

use crate::failure::Failure;

/// Writes an answer to standard output.
///
/// A reader that closes the pipe early, such as `head`, has read what it wanted: that is no error.
///
/// # Errors
/// If the machine fails: a full disk behind a redirection, say.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Machine { path: PathBuf::from("standard output"), error })
        }
        _ => Ok(()),
    }
}

/// Tells standard error what the file at `path` says to no effect.
pub(crate) fn tell_notes(path: &Path, notes: &[String]) {
    for note in notes {
        tell!("note: {}: {note}", path.display());
    }
}

/// Tells standard error all that the file at `path`, of which `plan` was made, says to no effect.
pub(crate) fn tell_without_effect(path: &Path, loaded: &Loaded, plan: &Plan) {
    tell_notes(path, &loaded.notes);
    for note in loaded.scenario.without_effect(plan) {
        tell!("note: {note}");
    }
}

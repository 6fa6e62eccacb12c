//! Writes answers to standard output, and notes to standard error.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rocelab_sim::reference::Loaded;
use rocelab_sim::{Plan, Planning};

use crate::failure::Failure;

/// Writes an answer to standard output.
///
/// If the reader closes the pipe early, as `head` does, it has read all that it wanted: this is not
/// an error.
///
/// # Errors If the machine fails, for example because a disk is full to which the output is
/// redirected.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Machine { path: PathBuf::from("standard output"), error })
        }
        _ => Ok(()),
    }
}

/// Prints what in the file at `path` has no effect to standard error.
pub(crate) fn print_notes(path: &Path, notes: &[String]) {
    for note in notes {
        stderr_line!("note: {}: {note}", path.display());
    }
}

/// Prints everything in the file at `path` that has no effect to standard error; `plan` was made
/// from that file.
pub(crate) fn print_ineffective(path: &Path, loaded: &Loaded, plan: &Plan) {
    print_notes(path, &loaded.notes);
    for note in loaded.scenario.without_effect(plan) {
        stderr_line!("note: {note}");
    }
}

//! Output files that the user names.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::failure::Failure;
use crate::inputs::Inputs;

/// Writes a file that the user named by `option`. The file must not exist, unless it may be
/// replaced, and must not be one of `inputs`.
pub(crate) fn write(
    option: &str,
    path: &Path,
    text: &str,
    replace: bool,
    inputs: &Inputs<'_>,
) -> Result<(), Failure> {
    let mut file = create(option, path, replace, inputs)?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::Machine { path: path.to_owned(), error })
}

/// Creates such a file, empty.
pub(crate) fn create(
    option: &str,
    path: &Path,
    replace: bool,
    inputs: &Inputs<'_>,
) -> Result<File, Failure> {
    inputs.refuse_writing(option, path)?;
    let shown = path.display();
    let opened =
        OpenOptions::new().write(true).truncate(true).create(true).create_new(!replace).open(path);
    opened.map_err(|error| {
        Failure::Input(match error.kind() {
            ErrorKind::AlreadyExists => {
                format!("{option} = {shown}: exists; replace it with --force")
            }
            _ => format!("{option} = {shown}: {error}; name a file that you may write"),
        })
    })
}

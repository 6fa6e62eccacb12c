//! Files that the user names.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::failure::Failure;

/// Writes a file that must not exist yet, unless it may be replaced. The user named it by `option`.
pub(crate) fn write(option: &str, path: &Path, text: &str, replace: bool) -> Result<(), Failure> {
    let shown = path.display();
    let opened =
        OpenOptions::new().write(true).truncate(true).create(true).create_new(!replace).open(path);
    let mut file = opened.map_err(|error| {
        Failure::Input(match error.kind() {
            ErrorKind::AlreadyExists => {
                format!("{option} = {shown}: exists; replace it with --force")
            }
            _ => format!("{option} = {shown}: {error}; name a file that you may write"),
        })
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::Machine { path: path.to_owned(), error })
}

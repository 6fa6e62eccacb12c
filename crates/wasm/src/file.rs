//! A module's file.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

use crate::module::MOST_MODULE;

/// The bytes of a module's file: no more of it is read than a module may have.
///
/// # Errors
/// If it cannot be read, is no regular file, or is too large.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    // Before it is opened: a pipe would wait for somebody who writes.
    if !path.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is no file"));
    }
    let mut bytes = Vec::new();
    let most = MOST_MODULE as u64 + 1;
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    if bytes.len() > MOST_MODULE {
        let message = format!("it has more than the {MOST_MODULE} bytes of a module");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

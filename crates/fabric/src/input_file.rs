//! Files that a scenario names.

use std::fs;
use std::io;
use std::path::Path;

/// The text of a file.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::InvalidInput`] for a device, which may have no end.
pub fn read_text(path: &Path) -> io::Result<String> {
    if is_device(&fs::metadata(path)?) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device, and no file"));
    }
    fs::read_to_string(path)
}

#[cfg(unix)]
fn is_device(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = found.file_type();
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_not_read() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is a device, and no file");
    }
}

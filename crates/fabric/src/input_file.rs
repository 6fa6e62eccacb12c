//! Reads the files that a scenario names.

use std::fs;
use std::io;
use std::path::Path;

/// The text of a file.
///
/// # Errors Errors of the operating system; [`io::ErrorKind::InvalidInput`] for a device, which may
/// have no end.
pub fn read_text(path: &Path) -> io::Result<String> {
    if is_device(&fs::metadata(path)?) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device, and no file"));
    }
    fs::read_to_string(path)
}

/// The text of a file that a scenario names. It must be possible to read it again: a run reads it
/// more than once, and keeps a copy.
///
/// # Errors As [`read_text`]; also [`io::ErrorKind::InvalidInput`] for a pipe or socket, which
/// gives its text only once.
pub fn read_named_text(path: &Path) -> io::Result<String> {
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a pipe or device, and no file",
        ));
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
        assert!(read_named_text(Path::new("/dev/zero")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_a_scenario_names_is_no_pipe() {
        let folder = std::env::temp_dir().join(format!("rocelab-pipe-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let pipe = folder.join("flows.csv");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let error = read_named_text(&pipe).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(error.to_string(), "it is a pipe or device, and no file");
    }
}

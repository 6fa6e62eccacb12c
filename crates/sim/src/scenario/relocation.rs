//! Scenarios that move to another folder, and keep the files that they name.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use rocelab_fabric::TopologyConfig;

use super::Scenario;

impl Scenario {
    /// The scenario as it reads in `folder`, where it finds the same files: their relative paths
    /// start there.
    ///
    /// # Errors
    /// If one of the two folders, or that of a file, does not exist.
    pub fn relocated(&self, folder: &Path) -> io::Result<Self> {
        let mut moved = self.clone();
        let to = existing(folder)?;
        let mut files = moved.workload.files_mut();
        if let TopologyConfig::File(parameters) = &mut moved.topology {
            files.push(&mut parameters.path);
        }
        for file in files {
            if file.is_relative() {
                *file = from(&to, &self.folder().join(&*file))?;
            }
        }
        Ok(moved)
    }
}

/// `file` as it is found from `folder`.
fn from(folder: &Path, file: &Path) -> io::Result<PathBuf> {
    let parent = existing(file.parent().unwrap_or(Path::new("")))?;
    let mut up = PathBuf::new();
    for start in folder.ancestors() {
        if let Ok(below) = parent.strip_prefix(start) {
            return Ok(up.join(below).join(file.file_name().unwrap_or(OsStr::new(""))));
        }
        up.push(Component::ParentDir);
    }
    Ok(parent.join(file.file_name().unwrap_or(OsStr::new("")))) // on another drive
}

/// The folder without links and dots. The empty path is where the program runs.
fn existing(folder: &Path) -> io::Result<PathBuf> {
    let here = folder.as_os_str().is_empty();
    std::fs::canonicalize(if here { Path::new(".") } else { folder })
}

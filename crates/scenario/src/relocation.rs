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
        for file in moved.relative_files() {
            *file = from(&to, &self.folder().join(&*file))?;
        }
        Ok(moved)
    }

    /// The scenario with absolute paths of the files that `stay` where they are when it moves.
    ///
    /// # Errors
    /// If the folder of such a file does not exist.
    pub fn anchored(mut self, stay: impl Fn(&Path) -> bool) -> io::Result<Self> {
        let folder = self.folder().to_owned();
        for file in self.relative_files().into_iter().filter(|file| stay(file)) {
            let found = folder.join(&*file);
            let parent = existing(found.parent().unwrap_or(Path::new("")))?;
            *file = parent.join(file.file_name().unwrap_or(OsStr::new("")));
        }
        Ok(self)
    }

    /// The files that it names by relative paths, to name them otherwise.
    fn relative_files(&mut self) -> Vec<&mut PathBuf> {
        let mut files = self.workload.files_mut();
        if let TopologyConfig::File(parameters) = &mut self.topology {
            files.push(&mut parameters.path);
        }
        files.retain(|file| file.is_relative());
        files
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

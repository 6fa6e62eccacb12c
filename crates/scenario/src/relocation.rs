//! Scenarios that move to another folder, and keep the files that they name.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use rocelab_fabric::TopologyConfig;
use rocelab_transport::Algorithm;

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
        let folder = self.folder();
        moved.rename_files(|file| from(&to, &folder.join(file)))?;
        Ok(moved)
    }

    /// The scenario with absolute paths of the files that `stay` where they are when it moves.
    ///
    /// # Errors
    /// If the folder of such a file does not exist.
    pub fn anchored(mut self, stay: impl Fn(&Path) -> bool) -> io::Result<Self> {
        let folder = self.folder().to_owned();
        self.rename_files(|file| {
            if !stay(file) {
                return Ok(file.to_owned());
            }
            let found = folder.join(file);
            let parent = existing(found.parent().unwrap_or(Path::new("")))?;
            Ok(parent.join(file.file_name().unwrap_or(OsStr::new(""))))
        })?;
        Ok(self)
    }

    /// Gives other names to the files that it names by relative paths.
    fn rename_files(
        &mut self,
        mut name: impl FnMut(&Path) -> io::Result<PathBuf>,
    ) -> io::Result<()> {
        let mut rename = |file: &mut PathBuf| {
            if file.is_relative() {
                *file = name(file)?;
            }
            Ok(())
        };
        self.workload.files_mut().into_iter().try_for_each(&mut rename)?;
        if let TopologyConfig::File(parameters) = &mut self.topology {
            rename(&mut parameters.path)?;
        }
        if let Some(own) = &mut self.infiniband {
            let files = own.sm.lfts.iter_mut().chain(&mut own.sm.sl_file);
            files.into_iter().try_for_each(&mut rename)?;
        }
        let of_classes = self.class.values_mut().map(|class| &mut class.congestion_control);
        let chosen = of_classes.chain([&mut self.congestion_control]).flatten();
        chosen.chain(self.workload.algorithms_mut()).try_for_each(|algorithm| match algorithm {
            Algorithm::Wasm(parameters) => rename(&mut parameters.path),
            _ => Ok(()),
        })
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

//! The lengths of the files of a results directory.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use borsh::{BorshDeserialize, BorshSerialize};

use crate::ResultsError;

/// The files of a folder and its subfolders, with their lengths (bytes).
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct FileLengths {
    /// By path relative to the folder, split into its parts.
    files: BTreeMap<Vec<String>, u64>,
}

impl FileLengths {
    /// The lengths now, after all of the folder was flushed to the disk.
    ///
    /// # Errors [`ResultsError::Write`] if the files cannot be flushed.
    pub fn of(folder: &Path) -> Result<Self, ResultsError> {
        let mut lengths = Self::default();
        for_each(folder, &mut Vec::new(), &mut |path, name| {
            let file = fs::File::open(path)?;
            file.sync_all()?;
            lengths.files.insert(name.to_vec(), file.metadata()?.len());
            Ok(())
        })
        .map_err(ResultsError::write(folder))?;
        Ok(lengths)
    }

    /// Restores a folder to this state: truncates files that have grown, and removes files that are
    /// new.
    ///
    /// # Errors [`ResultsError::Malformed`] if something is missing; [`ResultsError::Write`].
    pub fn cut_back(&self, folder: &Path) -> Result<(), ResultsError> {
        self.check(folder)?;
        for_each(folder, &mut Vec::new(), &mut |path, name| match self.files.get(name) {
            Some(&length) => OpenOptions::new().write(true).open(path)?.set_len(length),
            None => fs::remove_file(path),
        })
        .map_err(ResultsError::write(folder))
    }

    /// Copies a folder in this state.
    ///
    /// # Errors As [`cut_back`](Self::cut_back).
    pub fn copy(&self, folder: &Path, to: &Path) -> Result<(), ResultsError> {
        self.check(folder)?;
        for name in self.files.keys() {
            let (from, copy) = (joined(folder, name), joined(to, name));
            let made = copy.parent().map_or(Ok(()), fs::create_dir_all);
            let copied = made.and_then(|()| fs::copy(&from, &copy));
            copied.map_err(ResultsError::write(&copy))?;
        }
        self.cut_back(to)
    }

    /// Checks that all files exist with at least these lengths.
    fn check(&self, folder: &Path) -> Result<(), ResultsError> {
        for (name, &length) in &self.files {
            let path = joined(folder, name);
            let found = fs::metadata(&path).map_err(ResultsError::read(&path))?.len();
            if found < length {
                let reason = format!("it has {found} bytes, and had {length} at the checkpoint");
                return Err(ResultsError::Malformed { path, reason });
            }
        }
        Ok(())
    }
}

fn joined(folder: &Path, name: &[String]) -> std::path::PathBuf {
    name.iter().fold(folder.to_owned(), |path, part| path.join(part))
}

/// Calls a function for all files below a folder, with their paths relative to it.
fn for_each(
    folder: &Path,
    name: &mut Vec<String>,
    show: &mut impl FnMut(&Path, &[String]) -> io::Result<()>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let part = entry.file_name().into_string();
        name.push(part.map_err(|part| io::Error::other(format!("{} is no text", part.display())))?);
        if entry.file_type()?.is_dir() {
            for_each(&entry.path(), name, show)?;
        } else {
            show(&entry.path(), name)?;
        }
        name.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_again_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (here, copy) = (folder.path().join("here"), folder.path().join("copy"));
        fs::create_dir_all(here.join("samples")).unwrap();
        fs::write(here.join("flows.csv"), "flow\n1\n").unwrap();
        fs::write(here.join("samples/rates.csv"), "time\n").unwrap();
        let lengths = FileLengths::of(&here).unwrap();
        fs::write(here.join("flows.csv"), "flow\n1\n2\n").unwrap();
        fs::write(here.join("samples/marks.csv"), "time\n").unwrap();
        lengths.copy(&here, &copy).unwrap();
        assert_eq!(FileLengths::of(&copy).unwrap(), lengths);
        lengths.cut_back(&here).unwrap();
        assert_eq!(FileLengths::of(&here).unwrap(), lengths);
        assert_eq!(fs::read_to_string(here.join("flows.csv")).unwrap(), "flow\n1\n");
        fs::write(here.join("flows.csv"), "flow\n").unwrap();
        let error = lengths.cut_back(&here).unwrap_err().to_string();
        assert!(error.contains("flows.csv") && error.contains("5 bytes, and had 7"), "{error}");
    }
}

//! The place of results: the real path, and whether something is there already.

use std::fs;
use std::path::{Path, PathBuf};

use crate::names::RUN_JSON;
use crate::run_info::is_ours;
use crate::{ResultsError, leftovers};

/// What to do with results that already exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Refuse to run, and change nothing.
    #[default]
    Refuse,
    /// Replace them when the new results are complete, if this program wrote them.
    Replace,
}

/// Makes `path` absolute, and resolves its symbolic links as far as it exists, so that renaming
/// replaces the directory and not a link to it. A path in the folder of another run is refused,
/// because it would be removed with that folder.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, ResultsError> {
    let parent = path.parent().filter(|parent| parent.is_dir()).zip(path.file_name());
    let resolved = match parent {
        _ if exists(path) => path.canonicalize(),
        Some((parent, name)) => parent.canonicalize().map(|parent| parent.join(name)),
        None => std::path::absolute(path),
    };
    let resolved = match resolved {
        Ok(resolved) if resolved.file_name().is_some() => resolved,
        _ => return Err(ResultsError::Unnamed { path: path.to_owned() }),
    };
    match resolved.ancestors().skip(1).find(|folder| leftovers::is_of_a_run(folder)) {
        Some(folder) => Err(ResultsError::WithinRun { folder: folder.to_owned(), path: resolved }),
        None => Ok(resolved),
    }
}

/// Moves results of `path`, or beside it, back if they were moved aside for new ones which were
/// never completed.
pub(crate) fn restore(path: &Path) {
    if let Some(parent) = path.parent() {
        leftovers::restore(parent);
    }
}

/// Whether something is at `path`, including a dangling link.
pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Checks that nothing is at `path`, or only what may be replaced.
pub(crate) fn check_in_the_way(path: &Path, overwrite: Overwrite) -> Result<(), ResultsError> {
    if !exists(path) {
        return Ok(());
    }
    match overwrite {
        Overwrite::Refuse => Err(ResultsError::Exists { path: path.to_owned() }),
        Overwrite::Replace if is_ours(&path.join(RUN_JSON)) => match other_results_in(path) {
            Some(others) => Err(ResultsError::HoldsOthers { path: path.to_owned(), others }),
            None => Ok(()),
        },
        Overwrite::Replace => Err(ResultsError::NotResults { path: path.to_owned() }),
    }
}

/// Finds results of another run below `path`, or unfinished ones of a run that is going on or was
/// killed: they would be removed with `path`. Links are not followed, because removing a link does
/// not remove its target.
fn other_results_in(path: &Path) -> Option<PathBuf> {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let below = entry.path();
                if is_ours(&below.join(RUN_JSON)) || leftovers::is_of_a_run(&below) {
                    return Some(below);
                }
                folders.push(below);
            }
        }
    }
    None
}

/// Creates the missing parent directories; returns them, innermost first.
pub(crate) fn create_parents(parent: &Path) -> Result<Vec<PathBuf>, ResultsError> {
    let missing: Vec<PathBuf> =
        parent.ancestors().take_while(|path| !exists(path)).map(Path::to_owned).collect();
    for (made, path) in missing.iter().rev().enumerate() {
        if let Err(source) = fs::create_dir(path) {
            remove_parents(&missing[missing.len() - made..]);
            return Err(ResultsError::NotWritable { path: path.clone(), source });
        }
    }
    Ok(missing)
}

/// Removes the directories that are still empty.
pub(crate) fn remove_parents(created: &[PathBuf]) {
    for path in created {
        let _ = fs::remove_dir(path);
    }
}

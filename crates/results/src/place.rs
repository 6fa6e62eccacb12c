//! Where results come to stand: the path as it is, and what is in the way there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::names::RUN_JSON;
use crate::run_info::is_ours;
use crate::{ResultsError, leftovers};

/// What to do with results that are in the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Refuse, and touch nothing.
    #[default]
    Refuse,
    /// Replace them when the new ones are complete, if this program wrote them.
    Replace,
}

/// `path` made absolute, and through its symbolic links as far as it exists, so that renaming replaces
/// the directory and not a link to it. A place in the folder of another run is refused: it is removed with
/// that.
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

/// Gives results that stepped aside from `path`, or beside it, for others that never came, their place
/// again.
pub(crate) fn restore(path: &Path) {
    if let Some(parent) = path.parent() {
        leftovers::restore(parent);
    }
}

/// Whether anything is there, a dangling link included.
pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether nothing is in the way of results at `path`, or what may be replaced.
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

/// Results of another run somewhere below `path`, or what one that goes on or was killed has there, which
/// would go with the results at `path` itself. Links are not followed: removing them removes nothing behind
/// them.
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

/// Creates what is missing of `parent`; returns what that was, innermost first.
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

/// Removes those that are still empty.
pub(crate) fn remove_parents(created: &[PathBuf]) {
    for path in created {
        let _ = fs::remove_dir(path);
    }
}

//! Errors of reading and writing a results directory.

use std::io;
use std::path::{Path, PathBuf};

/// Why results cannot be written or read. Each message names the path, and the fix where there
/// is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The directory exists and must not be replaced.
    #[error(
        "results directory {} exists: name another with --out, or replace it with --force",
        path.display()
    )]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// There are checkpoints of an earlier run.
    #[error(
        "a run to {} was broken off: `rocelab resume {}` goes on with it; --force begins anew",
        path.display(), path.display()
    )]
    BrokenOff {
        /// The results directory.
        path: PathBuf,
    },
    /// There are checkpoints of a run that has ended.
    #[error(
        "{}.checkpoints has the checkpoints that are left of a run that no longer goes on: --force \
         replaces them, or name another directory with --out",
        path.display()
    )]
    Kept {
        /// The results directory of that run.
        path: PathBuf,
    },
    /// There are no checkpoints to continue from.
    #[error(
        "there are no checkpoints for results in {}: a run makes them with --checkpoint-every, and \
         removes them at its end unless --keep-checkpoints is given",
        path.display()
    )]
    NoCheckpoints {
        /// The results directory.
        path: PathBuf,
    },
    /// Another process uses the checkpoints.
    #[error("{} is in use: the run that makes these checkpoints has not ended", path.display())]
    InUse {
        /// The folder of checkpoints.
        path: PathBuf,
    },
    /// The directory should be replaced, but this program did not write it.
    #[error(
        "{} was not written by rocelab (no run.json of its own), so --force does not replace it: \
         name another directory with --out",
        path.display()
    )]
    NotResults {
        /// The directory, or a file in its place.
        path: PathBuf,
    },
    /// The directory should be replaced, but results of another run are inside it.
    #[error(
        "{} holds results of another run, {}, which --force does not remove: name another directory \
         with --out, or move them away",
        path.display(),
        others.display()
    )]
    HoldsOthers {
        /// The directory.
        path: PathBuf,
        /// The results inside it.
        others: PathBuf,
    },
    /// The directory would be inside a folder of another run's checkpoints or unfinished results,
    /// and would be removed with that folder.
    #[error(
        "{} is in {}, which is another run's and is removed when that ends or is replaced: name another \
         directory with --out",
        path.display(),
        folder.display()
    )]
    WithinRun {
        /// The directory.
        path: PathBuf,
        /// The folder of the other run.
        folder: PathBuf,
    },
    /// The folder has the name of a folder of checkpoints, but is not one.
    #[error(
        "{} was not written by rocelab, so nothing there is replaced, --force or not: name another \
         directory with --out, or move it away",
        path.display()
    )]
    NotCheckpoints {
        /// The folder, or a file in its place.
        path: PathBuf,
    },
    /// The path cannot name a new directory: `/`, `..`, or empty.
    #[error("{path:?} does not name a directory to create: give one with --out")]
    Unnamed {
        /// The path.
        path: PathBuf,
    },
    /// The directory cannot be created. Nothing was run.
    #[error(
        "cannot create results in {}: {source}; name a directory that you may write with --out",
        path.display()
    )]
    NotWritable {
        /// The directory that cannot be written to.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Writing failed. The temporary directory is removed, old results are unchanged.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A value cannot be represented in a file. The temporary directory is removed.
    #[error("cannot write {}: {reason}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Which value, and why.
        reason: String,
    },
    /// The results are complete, but could not be moved to their final path. Nothing was removed.
    #[error(
        "results are complete in {}, but cannot be moved to {}: {source}",
        partial.display(),
        path.display()
    )]
    NotMoved {
        /// Where they are now, and stay.
        partial: PathBuf,
        /// Their final path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file is missing or cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not have the format that its name says.
    #[error("malformed {}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line and fault.
        reason: String,
    },
}

/// Who can fix a [`ResultsError`]: the command line's exit codes follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be fulfilled; nothing was written. Exit code 2.
    BadInput,
    /// The machine failed, for example: disk full, permission taken away. Exit code 4.
    Machine,
}

impl ResultsError {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Exists { .. }
            | Self::BrokenOff { .. }
            | Self::Kept { .. }
            | Self::NoCheckpoints { .. }
            | Self::InUse { .. }
            | Self::NotResults { .. }
            | Self::HoldsOthers { .. }
            | Self::WithinRun { .. }
            | Self::NotCheckpoints { .. }
            | Self::Unnamed { .. }
            | Self::NotWritable { .. }
            | Self::Read { .. }
            | Self::Malformed { .. } => ErrorKind::BadInput,
            Self::Write { .. } | Self::Encode { .. } | Self::NotMoved { .. } => ErrorKind::Machine,
        }
    }

    /// Makes an error of writing to `path`, for `map_err`.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    /// Makes an error of reading `path`, for `map_err`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    /// A CSV file that could not be written.
    pub fn write_csv(path: &Path, error: csv::Error) -> Self {
        let path = path.to_owned();
        let reason = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(source) => Self::Write { path, source },
            _ => Self::Encode { path, reason },
        }
    }

    pub(crate) fn read_csv(path: &Path, error: csv::Error) -> Self {
        let path = path.to_owned();
        let reason = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(source) => Self::Read { path, source },
            _ => Self::Malformed { path, reason },
        }
    }
}

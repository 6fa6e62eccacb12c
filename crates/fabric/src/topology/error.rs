//! What is wrong with a topology's parameters or file.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a topology cannot be built. Nothing was built.
///
/// The scenario's reader knows where `[topology.NAME]` stands in the scenario, so keys are
/// relative to it; places in an edge list are complete.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// A parameter is out of range, or does not go with the others.
    #[error("`{key} = {value}`: {problem}; {fix}")]
    Parameter {
        /// The key below `[topology.NAME]`, such as `hosts` or `host_link.rate`.
        key: String,
        /// The value as the scenario could have written it.
        value: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        fix: String,
    },
    /// The edge list cannot be read.
    #[error("{}: {problem}; {fix}", path.display())]
    Unreadable {
        /// The key that names the file: `path`.
        key: String,
        /// The file, as it was looked for.
        path: PathBuf,
        /// The error of the operating system.
        problem: String,
        /// What to do about it.
        fix: String,
    },
    /// A place in the edge list is invalid.
    #[error("{}:{line}:{column}: `{value}`: {problem}; {fix}", path.display())]
    File {
        /// The file, as it was looked for.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The text at that place.
        value: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        fix: String,
    },
}

impl TopologyError {
    /// An error in a parameter.
    pub(super) fn parameter(
        key: impl Into<String>,
        value: impl Display,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::Parameter {
            key: key.into(),
            value: value.to_string(),
            problem: problem.into(),
            fix: fix.into(),
        }
    }

    /// A file that the operating system refuses to read.
    pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::Unreadable {
            key: "path".into(),
            path: path.into(),
            problem: error.to_string(),
            fix: "give the edge list's path, relative to the scenario's folder".into(),
        }
    }
}

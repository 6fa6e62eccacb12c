//! What is wrong with a file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong with a file.
///
/// `Display` is one line: `file:line: value: message; help`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    path: PathBuf,
    line: usize,
    value: String,
    message: String,
    help: String,
}

impl InputError {
    /// The error that `message` says of a `value` in a line of the file at `path`; `help` is what to do. Line 0 is the
    /// file as a whole.
    pub(crate) fn new(
        path: &Path,
        line: usize,
        value: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self(Box::new(Details {
            path: path.to_owned(),
            line,
            value: value.into(),
            message: message.into(),
            help: help.into(),
        }))
    }

    /// The file that has the error.
    pub fn file(&self) -> &Path {
        &self.0.path
    }

    /// The line in that file, from 1; 0 if the error is not in one line.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// The value as it was written.
    pub fn value(&self) -> &str {
        &self.0.value
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to write instead.
    pub fn help(&self) -> &str {
        &self.0.help
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file().display())?;
        if self.line() > 0 {
            write!(f, ":{}", self.line())?;
        }
        if !self.value().is_empty() {
            write!(f, ": {}", self.value())?;
        }
        write!(f, ": {}; {}", self.message(), self.help())
    }
}

impl std::error::Error for InputError {}

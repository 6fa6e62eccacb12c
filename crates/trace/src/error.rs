//! What is wrong with a trace, and where.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file as a whole.
    File,
    /// At this byte of the file, from 0; of a compressed file, of what is in it.
    Byte(u64),
    /// In this line and column, both from 1.
    Line {
        /// The line.
        line: usize,
        /// The column, in characters.
        column: usize,
    },
}

/// One thing that is wrong with a trace.
///
/// `Display` is one line: file, place, node, value, message; help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    path: PathBuf,
    place: Place,
    node: String,
    value: String,
    message: String,
    help: String,
}

impl TraceError {
    /// The error that `message` says of a file; `help` is what to do.
    pub(crate) fn new(path: &Path, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self(Box::new(Details {
            path: path.to_owned(),
            place: Place::File,
            node: String::new(),
            value: String::new(),
            message: message.into(),
            help: help.into(),
        }))
    }

    /// The same error, at a byte of the file.
    pub(crate) fn at_byte(mut self, byte: u64) -> Self {
        self.0.place = Place::Byte(byte);
        self
    }

    /// The same error, in a line and column of the file.
    pub(crate) fn at(mut self, line: usize, column: usize) -> Self {
        self.0.place = Place::Line { line, column };
        self
    }

    /// The same error, of a node, as in [`Label`](crate::Label).
    pub(crate) fn of_node(mut self, node: impl fmt::Display) -> Self {
        self.0.node = node.to_string();
        self
    }

    /// The same error, of a value as it was written.
    pub(crate) fn of_value(mut self, value: impl Into<String>) -> Self {
        self.0.value = value.into();
        self
    }

    /// The file that has the error.
    pub fn file(&self) -> &Path {
        &self.0.path
    }

    /// Where in the file it is.
    pub fn place(&self) -> Place {
        self.0.place
    }

    /// The node that has the error, such as ``node 17 `AllReduce_dp` ``; empty if it is not of one node.
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// The value as it was written; may be empty.
    pub fn value(&self) -> &str {
        &self.0.value
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do.
    pub fn help(&self) -> &str {
        &self.0.help
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file().display())?;
        match self.place() {
            Place::File => {}
            Place::Byte(byte) => write!(f, ": byte {byte}")?,
            Place::Line { line, column } => write!(f, ":{line}:{column}")?,
        }
        for part in [self.node(), self.value()] {
            if !part.is_empty() {
                write!(f, ": {part}")?;
            }
        }
        write!(f, ": {}; {}", self.message(), self.help())
    }
}

impl std::error::Error for TraceError {}

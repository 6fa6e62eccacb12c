//! GOAL: schedules of sends, receives and calculations, as text or binary.
//!
//! LogGOPSim and ATLAHS read them. Times are nanoseconds. A statement waits for others to be done (`requires`) or to have
//! started (`irequires`).

mod binary;
mod convert;
mod text;

use std::path::{Path, PathBuf};

use crate::{Reference, TraceError};

pub(crate) use convert::statement;
pub use convert::{from_trace, to_trace};

/// The schedules of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    pub(crate) path: PathBuf,
    pub(crate) ranks: Vec<Schedule>,
}

/// The schedule of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) statements: Vec<Statement>,
    /// The label of each statement.
    pub(crate) labels: Vec<Box<str>>,
    /// Statements that wait for others: (statement, other, for what).
    pub(crate) requires: Vec<(u32, u32, Reference)>,
}

/// What a statement does, in the order of LogGOPSim's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Send,
    Receive,
    Calc,
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) kind: Kind,
    /// The other rank, or [`ANY`](crate::ANY); 0 of a calculation.
    pub(crate) peer: u32,
    /// The tag, or [`ANY`](crate::ANY).
    pub(crate) tag: u32,
    /// The length (bytes), or the time of a calculation (ns).
    pub(crate) size: u64,
    pub(crate) cpu: u8,
    pub(crate) nic: u8,
}

impl Goal {
    /// The file that it comes from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// The number of statements of all ranks.
    pub fn statements(&self) -> usize {
        self.ranks.iter().map(|rank| rank.statements.len()).sum()
    }

    /// The schedules as text.
    pub fn to_text(&self) -> String {
        text::write(self)
    }

    /// The schedules as a binary file.
    ///
    /// # Errors If a rank has more statements or dependencies than 32 bits count.
    pub fn to_binary(&self) -> Result<Vec<u8>, TraceError> {
        binary::write(self)
    }
}

/// Whether these are the first bytes of a binary file.
pub fn is_binary(bytes: &[u8]) -> bool {
    binary::is_binary(bytes)
}

/// Reads schedules, text or binary.
///
/// # Errors If the file cannot be read, or it has no such schedules.
pub fn read(path: &Path) -> Result<Goal, TraceError> {
    let bytes = std::fs::read(path).map_err(|error| {
        TraceError::new(path, error.to_string(), "give a file that you may read")
    })?;
    parse(&bytes, path)
}

/// Reads the bytes of such a file; errors name `path`.
///
/// # Errors If they are no schedules.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Goal, TraceError> {
    if is_binary(bytes) {
        return binary::read(bytes, path);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let error_at = error.valid_up_to() as u64;
        TraceError::new(path, "is neither text nor binary GOAL", "give a GOAL file")
            .at_byte(error_at)
    })?;
    text::read(text, path)
}

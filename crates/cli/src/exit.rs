//! Exit codes.

use std::process::ExitCode;

/// How the program ends, in order of severity. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Done, and a problem was found, for example flows that failed or never ended.
    Found,
    /// Bad input; nothing was written.
    BadInput,
    /// A defect of the program.
    Defect,
    /// The machine failed, for example because a disk is full.
    MachineFailed,
    /// Interrupted by the user; results are marked incomplete.
    Interrupted,
}

impl Exit {
    /// The more severe of two ends, for commands that do several things.
    pub(crate) fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Found => 1,
            Exit::BadInput => 2,
            Exit::Defect => 3,
            Exit::MachineFailed => 4,
            Exit::Interrupted => 130,
        })
    }
}

//! Writes long answers to standard output.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::path::PathBuf;

use rocelab_capture::ReadingEnded;

use crate::exit::Exit;
use crate::failure::Failure;

/// Why an answer was not written completely.
#[derive(Debug)]
pub(super) enum Closed {
    /// The reader has closed the pipe, as `head` does; this is not a failure.
    ByReader,
    /// Something failed.
    Failed(Failure),
}

impl Closed {
    /// The end of the command.
    pub(super) fn end(self) -> Result<Exit, Failure> {
        match self {
            Self::ByReader => Ok(Exit::Done),
            Self::Failed(failure) => Err(failure),
        }
    }
}

impl From<io::Error> for Closed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::ByReader,
            _ => Self::Failed(Failure::Machine { path: PathBuf::from("standard output"), error }),
        }
    }
}

impl From<ReadingEnded<Self>> for Closed {
    fn from(ended: ReadingEnded<Self>) -> Self {
        match ended {
            ReadingEnded::Unreadable(error) => Self::Failed(error.into()),
            ReadingEnded::BySink(closed) => closed,
        }
    }
}

/// Standard output, buffered. It must be flushed: dropping it loses the rest without an error.
pub(super) struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    pub(super) fn new() -> Self {
        Self(BufWriter::with_capacity(1 << 16, io::stdout().lock()))
    }

    /// Writes a line.
    pub(super) fn line(&mut self, line: impl fmt::Display) -> Result<(), Closed> {
        Ok(writeln!(self.0, "{line}")?)
    }

    /// Writes a JSON object on one line.
    pub(super) fn json(&mut self, object: &impl serde::Serialize) -> Result<(), Closed> {
        serde_json::to_writer(&mut self.0, object).map_err(io::Error::from)?;
        Ok(self.0.write_all(b"\n")?)
    }

    pub(super) fn flush(&mut self) -> Result<(), Closed> {
        Ok(self.0.flush()?)
    }
}

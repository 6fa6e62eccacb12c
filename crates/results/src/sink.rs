//! Where a run writes its results.

use std::path::Path;

use crate::{MapNode, PauseCauses, Record, ResultsError};

/// Takes the results of a run while it makes them: the [results directory](crate::ResultsDir), or
/// [memory](crate::MemorySink).
pub trait Sink {
    /// The type that takes the records of one type, in their order.
    type Records<'s, R: Record + 's>: RecordSink<R>
    where
        Self: 's;

    /// Starts the records of one type. At most one writer of a type exists at a time.
    ///
    /// # Errors [`ResultsError::Write`].
    fn records<R: Record>(&self) -> Result<Self::Records<'_, R>, ResultsError>;

    /// Takes every pause with its cause.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    fn pause_causes(&self, causes: PauseCauses) -> Result<(), ResultsError>;

    /// Takes the nodes and their positions in a drawing.
    ///
    /// # Errors [`ResultsError::Write`].
    fn nodes(&self, nodes: Vec<MapNode>) -> Result<(), ResultsError>;

    /// The folder for files of other kinds, such as captures; `None` if the sink cannot store such
    /// files.
    fn folder(&self) -> Option<&Path>;
}

/// Takes the records of one type.
pub trait RecordSink<R: Record> {
    /// Appends a record.
    ///
    /// # Errors [`ResultsError::Write`].
    fn write(&mut self, record: &R) -> Result<(), ResultsError>;

    /// Writes what is buffered.
    ///
    /// # Errors [`ResultsError::Write`].
    fn flush(&mut self) -> Result<(), ResultsError>;

    /// Ends the records. If the writer is dropped instead, some may be lost.
    ///
    /// # Errors [`ResultsError::Write`]; [`ResultsError::Encode`] if a value cannot be represented
    /// in a file.
    fn finish(self) -> Result<(), ResultsError>;
}

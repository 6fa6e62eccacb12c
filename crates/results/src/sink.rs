//! Where the results of a run go.

use std::path::Path;

use crate::{MapNode, PauseCauses, Record, ResultsError};

/// Where the results of a run go as it makes them: into the [results directory](crate::ResultsDir), or into
/// [memory](crate::MemorySink).
pub trait Sink {
    /// What takes the records of one type, in their order.
    type Records<'s, R: Record + 's>: RecordSink<R>
    where
        Self: 's;

    /// Begins with the records of one type. There is at most one that takes them at a time.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    fn records<R: Record>(&self) -> Result<Self::Records<'_, R>, ResultsError>;

    /// Takes every pause with its cause.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    fn pause_causes(&self, causes: PauseCauses) -> Result<(), ResultsError>;

    /// Takes the nodes and where they stand in a drawing.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    fn nodes(&self, nodes: Vec<MapNode>) -> Result<(), ResultsError>;

    /// The folder for files of other kinds, such as captures; without one there are none of these.
    fn folder(&self) -> Option<&Path>;
}

/// What takes the records of one type.
pub trait RecordSink<R: Record> {
    /// Takes one more.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    fn write(&mut self, record: &R) -> Result<(), ResultsError>;

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    fn flush(&mut self) -> Result<(), ResultsError>;

    /// There are no more. Whoever drops it before loses some, perhaps.
    ///
    /// # Errors
    /// [`ResultsError::Write`]; [`ResultsError::Encode`] if a value has no form in a file.
    fn finish(self) -> Result<(), ResultsError>;
}

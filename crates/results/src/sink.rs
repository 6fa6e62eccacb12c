//! Where results go.

use std::path::Path;

use crate::{
    MapNode, MemorySink, PauseCauses, Record, RecordWriter, ResultsDir, ResultsError, TableWriter,
};

/// Takes the results of a run while it makes them: files, or memory.
///
/// One type and not a trait: what a run does with its results is compiled once, and not again by everyone who
/// starts one.
#[derive(Clone, Copy, Debug)]
pub enum Sink<'a> {
    /// Records are streamed into CSV files of a results directory.
    Directory(&'a ResultsDir),
    /// Tables are kept in memory.
    Memory(&'a MemorySink),
}

impl<'a> From<&'a ResultsDir> for Sink<'a> {
    fn from(directory: &'a ResultsDir) -> Self {
        Self::Directory(directory)
    }
}

impl<'a> From<&'a MemorySink> for Sink<'a> {
    fn from(memory: &'a MemorySink) -> Self {
        Self::Memory(memory)
    }
}

impl<'a> Sink<'a> {
    /// Starts the records of one type. At most one writer of a type exists at a time.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn records<R: Record>(self) -> Result<RecordSink<'a, R>, ResultsError> {
        Ok(match self {
            Self::Directory(directory) => RecordSink::File(directory.records()?),
            Self::Memory(memory) => RecordSink::Memory(memory.records()),
        })
    }

    /// Takes every pause with its cause.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn pause_causes(self, causes: PauseCauses) -> Result<(), ResultsError> {
        match self {
            Self::Directory(directory) => directory.write_pause_causes(&causes)?,
            Self::Memory(memory) => memory.keep_pause_causes(causes),
        }
        Ok(())
    }

    /// Takes the nodes and their positions in a drawing.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn nodes(self, nodes: Vec<MapNode>) -> Result<(), ResultsError> {
        match self {
            Self::Directory(directory) => directory.write_nodes(nodes)?,
            Self::Memory(memory) => memory.keep_nodes(nodes),
        }
        Ok(())
    }

    /// The folder for files of other kinds, such as captures; `None` in memory, which cannot store such
    /// files.
    pub fn folder(self) -> Option<&'a Path> {
        match self {
            Self::Directory(directory) => Some(directory.working_path()),
            Self::Memory(_) => None,
        }
    }
}

/// Takes the records of one type.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a run has some ten of them")]
pub enum RecordSink<'a, R> {
    /// Into a CSV file.
    File(RecordWriter<R>),
    /// Into a table in memory.
    Memory(TableWriter<'a, R>),
}

impl<R: Record> RecordSink<'_, R> {
    /// Appends a record.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn write(&mut self, record: &R) -> Result<(), ResultsError> {
        match self {
            Self::File(file) => file.write(record)?,
            Self::Memory(table) => table.add(record),
        }
        Ok(())
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn flush(&mut self) -> Result<(), ResultsError> {
        match self {
            Self::File(file) => file.flush(),
            Self::Memory(_) => Ok(()),
        }
    }

    /// Ends the records. If the writer is dropped instead, some may be lost.
    ///
    /// # Errors
    /// [`ResultsError::Write`]; [`ResultsError::Encode`] if a value cannot be represented in a file.
    pub fn finish(self) -> Result<(), ResultsError> {
        match self {
            Self::File(file) => file.finish()?,
            Self::Memory(table) => table.finish(),
        }
        Ok(())
    }
}

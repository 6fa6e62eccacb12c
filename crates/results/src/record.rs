//! Records into CSV files.

use std::fs::{self, File, OpenOptions};
use std::io::BufWriter;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Column, ResultsError, Value};

/// A row of a CSV file in the results directory.
pub trait Record: Serialize {
    /// The file's path within the results directory.
    const FILE: &'static str;
    /// The columns, in the order of the fields.
    const COLUMNS: &'static [&'static str];
}

/// A record type with its declaration.
pub trait Declared {
    /// The name of its table.
    const NAME: &'static str;
    /// The file's path within the results directory.
    const FILE: &'static str;
    /// The columns, in order.
    const COLUMNS: &'static [Column];

    /// Shows what stands in each column, in order.
    ///
    /// # Errors
    /// The first of `show`, which sees no more then.
    fn values<E>(&self, show: impl FnMut(Value<'_>) -> Result<(), E>) -> Result<(), E>;
}

/// Streams records into a CSV file. The header stands there even if no record follows.
///
/// Call [`finish`](Self::finish): dropping a writer loses the error of a full disk.
#[derive(Debug)]
pub struct RecordWriter<R> {
    rows: csv::Writer<BufWriter<File>>,
    path: PathBuf,
    record: PhantomData<fn(&R)>,
}

impl<R: Record> RecordWriter<R> {
    /// Creates the file in `directory`.
    pub(crate) fn create(directory: &Path, start: Start) -> Result<Self, ResultsError> {
        let path = directory.join(R::FILE);
        let rows = open_csv(&path, R::COLUMNS, start)?;
        Ok(Self { rows, path, record: PhantomData })
    }

    /// Appends `record`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn write(&mut self, record: &R) -> Result<(), ResultsError> {
        self.rows.serialize(record).map_err(|error| ResultsError::write_csv(&self.path, error))
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn finish(mut self) -> Result<(), ResultsError> {
        self.flush()
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn flush(&mut self) -> Result<(), ResultsError> {
        self.rows.flush().map_err(ResultsError::write(&self.path))
    }
}

/// How a file of a results directory begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Empty, but for its head.
    Anew,
    /// Behind what a checkpoint has of it, if that has any.
    GoOn,
}

/// A CSV file with a row of column names, in a folder that is made if it is missing.
pub(crate) fn open_csv(
    path: &Path,
    columns: &[&str],
    start: Start,
) -> Result<csv::Writer<BufWriter<File>>, ResultsError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(ResultsError::write(folder))?;
    }
    let start = if path.exists() { start } else { Start::Anew };
    let file = match start {
        Start::Anew => File::create(path),
        Start::GoOn => OpenOptions::new().append(true).open(path),
    };
    let file = file.map_err(ResultsError::write(path))?;
    let mut rows = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(BufWriter::with_capacity(1 << 16, file));
    if start == Start::Anew {
        rows.write_record(columns).map_err(|error| ResultsError::write_csv(path, error))?;
    }
    Ok(rows)
}

//! Records into CSV files.

use std::fs::{self, File};
use std::io::BufWriter;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::ResultsError;

/// A row of a CSV file in the results directory.
pub trait Record: Serialize {
    /// The file's path within the results directory.
    const FILE: &'static str;
    /// The columns, in the order of the fields.
    const COLUMNS: &'static [&'static str];
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
    pub(crate) fn create(directory: &Path) -> Result<Self, ResultsError> {
        let path = directory.join(R::FILE);
        let rows = create_csv(&path, R::COLUMNS)?;
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
        self.rows.flush().map_err(ResultsError::write(&self.path))
    }
}

/// A CSV file with its header.
pub(crate) fn create_csv(
    path: &Path,
    columns: &[&str],
) -> Result<csv::Writer<BufWriter<File>>, ResultsError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(ResultsError::write(folder))?;
    }
    let file = File::create(path).map_err(ResultsError::write(path))?;
    let mut rows = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(BufWriter::with_capacity(1 << 16, file));
    rows.write_record(columns).map_err(|error| ResultsError::write_csv(path, error))?;
    Ok(rows)
}

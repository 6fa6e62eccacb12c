//! Writes records into CSV files.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::BufWriter;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use crate::{Column, FlowRecord, Record, ResultsError, Value};

/// Streams records into a CSV file. The header is written even if no record follows.
///
/// Call [`finish`](Self::finish): if a writer is dropped instead, the error of a full disk is lost.
#[derive(Debug)]
pub struct RecordWriter<R> {
    rows: csv::Writer<BufWriter<File>>,
    path: PathBuf,
    /// A buffer for numbers as text, reused to avoid allocations.
    number: String,
    record: PhantomData<fn(&R)>,
}

impl<R: Record> RecordWriter<R> {
    /// Creates the file in `directory`.
    pub(crate) fn create(directory: &Path, start: Start) -> Result<Self, ResultsError> {
        let path = directory.join(R::FILE);
        let rows = open_csv(&path, R::COLUMNS, start)?;
        Ok(Self { rows, path, number: String::new(), record: PhantomData })
    }

    /// Appends `record`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn write(&mut self, record: &R) -> Result<(), ResultsError> {
        self.try_write(record).map_err(|error| ResultsError::write_csv(&self.path, error))
    }

    fn try_write(&mut self, record: &R) -> csv::Result<()> {
        let Self { rows, number, .. } = self;
        record.values(|value| {
            number.clear();
            // Writing to a string cannot fail.
            let _ = match value {
                Value::Text(text) => return rows.write_field(text),
                Value::Integer(integer) => write!(number, "{integer}"),
                Value::Ratio(ratio) => write!(number, "{ratio}"),
                Value::Missing => Ok(()),
            };
            rows.write_field(&*number)
        })?;
        rows.write_record(None::<&[u8]>)
    }

    /// Writes what is buffered, and converts the file to Parquet if the record type has such a file
    /// and the feature is compiled in.
    ///
    /// # Errors [`ResultsError::Write`]; [`ResultsError::Encode`] for a number of 2^63 or more,
    /// which Parquet's signed integers cannot represent.
    pub fn finish(mut self) -> Result<(), ResultsError> {
        self.flush()?;
        #[cfg(feature = "parquet")]
        if R::PARQUET.is_some() {
            let parquet = self.path.with_extension("parquet");
            crate::parquet_file::convert::<R>(&self.path, &parquet)?;
        }
        Ok(())
    }

    /// Writes what is buffered.
    ///
    /// # Errors [`ResultsError::Write`].
    pub fn flush(&mut self) -> Result<(), ResultsError> {
        self.rows.flush().map_err(ResultsError::write(&self.path))
    }
}

/// Streams flows into `flows.csv`, in the order of the calls, which is that of completion.
pub type FlowWriter<'a> = RecordWriter<FlowRecord<'a>>;

/// How a file of a results directory begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// With its header only.
    Anew,
    /// With the content that a checkpoint describes, if it has this file.
    GoOn,
}

/// Opens a CSV file with a row of column names, and makes its folder if it is missing.
fn open_csv(
    path: &Path,
    columns: &[Column],
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
        let names = columns.iter().map(|column| column.name);
        rows.write_record(names).map_err(|error| ResultsError::write_csv(path, error))?;
    }
    Ok(rows)
}

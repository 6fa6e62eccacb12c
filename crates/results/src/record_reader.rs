//! Reads records from CSV files.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use serde::de::DeserializeOwned;

use crate::ResultsError;

/// Streams records from a CSV file.
pub struct RecordReader<R> {
    rows: csv::DeserializeRecordsIntoIter<BufReader<File>, R>,
    path: PathBuf,
}

impl<R: DeserializeOwned> RecordReader<R> {
    pub(crate) fn open(path: PathBuf) -> Result<Self, ResultsError> {
        let file = File::open(&path).map_err(ResultsError::read(&path))?;
        let rows = csv::Reader::from_reader(BufReader::new(file)).into_deserialize();
        Ok(Self { rows, path })
    }
}

impl<R: DeserializeOwned> Iterator for RecordReader<R> {
    type Item = Result<R, ResultsError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next()?;
        Some(row.map_err(|error| ResultsError::read_csv(&self.path, error)))
    }
}

impl<R> fmt::Debug for RecordReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordReader").field("path", &self.path).finish_non_exhaustive()
    }
}

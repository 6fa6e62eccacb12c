//! Reading results back.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::directory::{RUN_JSON, SUMMARY_JSON};
use crate::flow_writer::FLOWS_CSV;
use crate::{
    DropRecord, FlowRecord, LinkRecord, OperationRecord, PauseRecord, QueueSample, Record,
    ResultsError, RunInfo, Summary,
};

/// A results directory, opened for reading.
#[derive(Clone, Debug)]
pub struct Results {
    path: PathBuf,
    summary: Summary,
    run: RunInfo,
}

impl Results {
    /// Opens the directory at `path` and reads `summary.json` and `run.json`.
    ///
    /// # Errors
    /// [`ResultsError::Read`] or [`ResultsError::Malformed`], naming the file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ResultsError> {
        let path = path.into();
        let summary = read_json(&path.join(SUMMARY_JSON))?;
        let run = read_json(&path.join(RUN_JSON))?;
        Ok(Self { path, summary, run })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `summary.json`.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// `run.json`.
    pub fn run(&self) -> &RunInfo {
        &self.run
    }

    /// The flows, in order of completion.
    ///
    /// # Errors
    /// [`ResultsError::Read`] if the file is missing; rows are read, and their errors found,
    /// by the iterator.
    pub fn flows(&self) -> Result<RecordReader<FlowRecord<'static>>, ResultsError> {
        RecordReader::open(self.path.join(FLOWS_CSV))
    }

    /// The operations of applications; the file is missing where there were none.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn operations(&self) -> Result<RecordReader<OperationRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The PFC events.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn pauses(&self) -> Result<RecordReader<PauseRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The sampled queues; the file is missing where none were asked for.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn queues(&self) -> Result<RecordReader<QueueSample<'static>>, ResultsError> {
        self.records()
    }

    /// The dropped frames.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn drops(&self) -> Result<RecordReader<DropRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The links.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn links(&self) -> Result<RecordReader<LinkRecord<'static>>, ResultsError> {
        self.records()
    }

    fn records<R: Record + DeserializeOwned>(&self) -> Result<RecordReader<R>, ResultsError> {
        RecordReader::open(self.path.join(R::FILE))
    }
}

/// Streams records out of a CSV file.
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

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ResultsError> {
    let text = std::fs::read_to_string(path).map_err(ResultsError::read(path))?;
    serde_json::from_str(&text).map_err(|error| ResultsError::Malformed {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

impl<R> fmt::Debug for RecordReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordReader").field("path", &self.path).finish_non_exhaustive()
    }
}

//! Flows into `flows.csv`, and at the end into `flows.parquet`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use crate::flow_columns::{FLOW_COLUMNS, FlowValue};
use crate::names::FLOWS_CSV;
#[cfg(feature = "parquet")]
use crate::names::FLOWS_PARQUET;
use crate::record::{Start, open_csv};
use crate::{FlowRecord, ResultsError};

/// Streams flows into `flows.csv`, in the order given: that of completion.
#[derive(Debug)]
pub struct FlowWriter {
    rows: csv::Writer<BufWriter<File>>,
    path: PathBuf,
    /// The field being written, as text.
    field: String,
}

impl FlowWriter {
    pub(crate) fn create(directory: &Path, start: Start) -> Result<Self, ResultsError> {
        let path = directory.join(FLOWS_CSV);
        let names = FLOW_COLUMNS.each_ref().map(|column| column.name);
        Ok(Self { rows: open_csv(&path, &names, start)?, path, field: String::new() })
    }

    /// Appends `flow`.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn write(&mut self, flow: &FlowRecord<'_>) -> Result<(), ResultsError> {
        self.try_write(flow).map_err(|error| ResultsError::write_csv(&self.path, error))
    }

    fn try_write(&mut self, flow: &FlowRecord<'_>) -> csv::Result<()> {
        for column in &FLOW_COLUMNS {
            self.field.clear();
            // Writing to a string does not fail.
            let _ = match &column.value {
                FlowValue::Integer(value) => write!(self.field, "{}", value(flow)),
                FlowValue::OptionalInteger(value) => {
                    value(flow).map_or(Ok(()), |value| write!(self.field, "{value}"))
                }
                FlowValue::OptionalRatio(value) => {
                    value(flow).map_or(Ok(()), |value| write!(self.field, "{value}"))
                }
                FlowValue::Text(value) => self.field.write_str(value(flow)),
            };
            self.rows.write_field(&self.field)?;
        }
        self.rows.write_record(None::<&[u8]>)
    }

    /// Writes out what is buffered, and turns the whole into `flows.parquet` where that feature
    /// is built in.
    ///
    /// # Errors
    /// [`ResultsError::Write`]; [`ResultsError::Encode`] for a number of 2^63 or more, which
    /// Parquet's signed integers do not hold.
    pub fn finish(mut self) -> Result<(), ResultsError> {
        self.flush()?;
        #[cfg(feature = "parquet")]
        crate::flows_parquet::convert(&self.path, &self.path.with_file_name(FLOWS_PARQUET))?;
        Ok(())
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn flush(&mut self) -> Result<(), ResultsError> {
        self.rows.flush().map_err(ResultsError::write(&self.path))
    }
}

//! Sampled quantities of ports and flows, one file for each quantity.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use crate::ResultsError;

/// A CSV file of samples: `time_ps`, `node`, perhaps `port`, `priority` and `flow`, and a column of
/// values. Other columns are ignored, and so are rows without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesFile {
    /// Path within the results directory, such as `queues.csv`.
    pub path: &'static str,
    /// The column of values: integers, in the unit at the end of its name.
    pub value: &'static str,
}

/// A sample of a port, or of a flow at that port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesSample {
    /// When, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// Name of the node.
    pub node: String,
    /// Its port, from 0; 0 if the file has no such column.
    pub port: u16,
    /// Whether the file has no such column: the sample is of the whole node.
    pub of_node: bool,
    /// Priority, 0 to 7; `None` if the file has no such column, or the field is empty.
    pub priority: Option<u8>,
    /// Number of the flow; `None` if the file has no such column, or the field is empty.
    pub flow: Option<u64>,
    /// The value.
    pub value: u64,
}

/// Streams samples from a [`SeriesFile`].
pub struct SeriesReader {
    rows: csv::StringRecordsIntoIter<BufReader<File>>,
    columns: Columns,
    path: PathBuf,
}

/// The positions of the fields in a row.
struct Columns {
    time: usize,
    node: usize,
    port: Option<usize>,
    priority: Option<usize>,
    flow: Option<usize>,
    value: usize,
}

impl SeriesReader {
    /// Opens the file at `path` and finds the columns.
    pub(crate) fn open(path: PathBuf, value: &str) -> Result<Self, ResultsError> {
        let file = File::open(&path).map_err(ResultsError::read(&path))?;
        let mut reader = csv::Reader::from_reader(BufReader::new(file));
        let header = reader.headers().map_err(|error| ResultsError::read_csv(&path, error))?;
        let place = |name: &str| header.iter().position(|column| column == name);
        let required = |name: &str| {
            place(name).ok_or_else(|| ResultsError::Malformed {
                path: path.clone(),
                reason: format!("it has no column `{name}`"),
            })
        };
        let columns = Columns {
            time: required("time_ps")?,
            node: required("node")?,
            port: place("port"),
            priority: place("priority"),
            flow: place("flow"),
            value: required(value)?,
        };
        Ok(Self { rows: reader.into_records(), columns, path })
    }

    fn sample(&self, row: &csv::StringRecord) -> Result<SeriesSample, ResultsError> {
        let columns = &self.columns;
        Ok(SeriesSample {
            time_ps: self.number(row, columns.time)?,
            node: row.get(columns.node).unwrap_or_default().to_owned(),
            port: columns.port.map_or(Ok(0), |place| self.number(row, place))?,
            of_node: columns.port.is_none(),
            priority: self.optional(row, columns.priority)?,
            flow: self.optional(row, columns.flow)?,
            value: self.number(row, columns.value)?,
        })
    }

    /// Parses an optional field: `None` if there is no such column, or the field is empty.
    fn optional<T: std::str::FromStr>(
        &self,
        row: &csv::StringRecord,
        place: Option<usize>,
    ) -> Result<Option<T>, ResultsError> {
        match place {
            Some(place) if row.get(place).is_some_and(|field| !field.is_empty()) => {
                self.number(row, place).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn number<T: std::str::FromStr>(
        &self,
        row: &csv::StringRecord,
        place: usize,
    ) -> Result<T, ResultsError> {
        let field = row.get(place).unwrap_or_default();
        field.parse().map_err(|_| ResultsError::Malformed {
            path: self.path.clone(),
            reason: format!(
                "line {}: {field:?} is no number in range",
                row.position().map_or(0, csv::Position::line)
            ),
        })
    }
}

impl Iterator for SeriesReader {
    type Item = Result<SeriesSample, ResultsError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = match self.rows.next()? {
                Ok(row) => row,
                Err(error) => return Some(Err(ResultsError::read_csv(&self.path, error))),
            };
            if row.get(self.columns.value).is_some_and(|value| !value.is_empty()) {
                return Some(self.sample(&row));
            }
        }
    }
}

impl fmt::Debug for SeriesReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesReader").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, value: &str) -> Result<Vec<SeriesSample>, ResultsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.csv");
        std::fs::write(&path, text).unwrap();
        SeriesReader::open(path, value)?.collect()
    }

    #[test]
    fn columns_are_found_by_name() {
        let samples = read("node,port,rate_bps,time_ps\nleaf-0,4,25,1000\n", "rate_bps").unwrap();
        let expected = SeriesSample {
            time_ps: 1_000,
            node: "leaf-0".to_owned(),
            port: 4,
            of_node: false,
            priority: None,
            flow: None,
            value: 25,
        };
        assert_eq!(samples, [expected]);
        let samples = read("time_ps,node,port,priority,bytes\n0,a,0,3,9\n", "bytes").unwrap();
        assert_eq!(samples[0].priority, Some(3));
    }

    #[test]
    fn a_row_without_a_value_is_no_sample() {
        let text = "time_ps,flow,node,port,rate_bps\n1,7,a,0,\n2,7,a,0,5\n";
        let samples = read(text, "rate_bps").unwrap();
        assert_eq!(samples.len(), 1);
        assert_eq!((samples[0].time_ps, samples[0].flow, samples[0].value), (2, Some(7), 5));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = read("time_ps,node,port\n", "bytes").unwrap_err().to_string();
        assert!(error.ends_with("rates.csv: it has no column `bytes`"), "{error}");
        let error = read("time_ps,node,port,bytes\n1,a,70000,1\n", "bytes").unwrap_err();
        let error = error.to_string();
        assert!(error.ends_with("line 2: \"70000\" is no number in range"), "{error}");
    }
}

//! Tables of several runs in one Parquet file.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::parquet_file::{ROW_GROUP, encode_error, field, properties, write_column};
use crate::{Record, ResultsError, Table};

/// A column that tells runs apart. It precedes the columns of the records, and all rows of a run have the same
/// value in it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyColumn {
    /// Its name, such as `switch.ecn.kmin`.
    pub name: String,
    /// Its value for each run, in the order of the runs.
    pub values: KeyValues,
}

/// Values of a [`KeyColumn`]; a run may have none.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValues {
    /// Integers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
}

/// Writes the records of several runs into one Parquet file, compressed with Snappy. Equal records give equal
/// bytes.
pub struct CombinedWriter<'k, R> {
    writer: SerializedFileWriter<File>,
    path: PathBuf,
    keys: &'k [KeyColumn],
    /// Rows that are not written yet, and whose they are: the run, and how many.
    rows: Table,
    of_runs: Vec<(usize, usize)>,
    record: std::marker::PhantomData<fn(&R)>,
}

impl<R> std::fmt::Debug for CombinedWriter<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CombinedWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<'k, R: Record> CombinedWriter<'k, R> {
    /// Creates the file at `path`.
    ///
    /// # Errors
    /// [`ResultsError::Write`], [`ResultsError::Encode`].
    pub fn create(path: &Path, keys: &'k [KeyColumn]) -> Result<Self, ResultsError> {
        let file = File::create(path).map_err(ResultsError::write(path))?;
        let writer = schema::<R>(keys)
            .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties())))
            .map_err(|error| encode_error(path, error))?;
        let rows = Table::of::<R>();
        let record = std::marker::PhantomData;
        Ok(Self { writer, path: path.to_owned(), keys, rows, of_runs: Vec::new(), record })
    }

    /// Adds a record of a run, which is the `run`th of those that the keys have values for.
    ///
    /// # Errors
    /// [`ResultsError::Encode`].
    pub fn add(&mut self, run: usize, record: &R) -> Result<(), ResultsError> {
        self.rows.add(record);
        self.count(run)
    }

    /// Adds all records of a run, which are in the file `csv`. Returns their number.
    ///
    /// # Errors
    /// [`ResultsError::Read`], [`ResultsError::Malformed`], [`ResultsError::Encode`].
    pub fn add_file(&mut self, run: usize, csv: &Path) -> Result<u64, ResultsError> {
        let mut added = 0;
        let file = BufReader::new(File::open(csv).map_err(ResultsError::read(csv))?);
        for row in csv::Reader::from_reader(file).into_records() {
            let row = row.map_err(|error| ResultsError::read_csv(csv, error))?;
            let malformed = |reason| ResultsError::Malformed { path: csv.to_owned(), reason };
            self.rows.parse(row.iter()).map_err(malformed)?;
            self.count(run)?;
            added += 1;
        }
        Ok(added)
    }

    /// Writes what is left, and closes the file.
    ///
    /// # Errors
    /// [`ResultsError::Encode`].
    pub fn finish(mut self) -> Result<(), ResultsError> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        self.writer.close().map_err(|error| encode_error(&self.path, error))?;
        Ok(())
    }

    /// Counts a row that was added.
    fn count(&mut self, run: usize) -> Result<(), ResultsError> {
        match self.of_runs.last_mut() {
            Some((last, rows)) if *last == run => *rows += 1,
            _ => self.of_runs.push((run, 1)),
        }
        if self.rows.len() == ROW_GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<(), ResultsError> {
        let rows = std::mem::replace(&mut self.rows, Table::of::<R>());
        let of_runs = std::mem::take(&mut self.of_runs);
        write_group(&mut self.writer, self.keys, &of_runs, &rows)
            .map_err(|error| encode_error(&self.path, error))
    }
}

/// The columns of the keys, then those of the records.
fn schema<R: Record>(keys: &[KeyColumn]) -> ParquetResult<TypePtr> {
    let keys = keys.iter().map(key_field);
    let fields = keys.chain(R::COLUMNS.iter().map(field)).collect::<ParquetResult<_>>()?;
    Ok(Arc::new(Type::group_type_builder(R::NAME).with_fields(fields).build()?))
}

fn key_field(key: &KeyColumn) -> ParquetResult<TypePtr> {
    let (physical, logical) = match key.values {
        KeyValues::Integers(_) => (PhysicalType::INT64, None),
        KeyValues::Numbers(_) => (PhysicalType::DOUBLE, None),
        KeyValues::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(&key.name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()?;
    Ok(Arc::new(field))
}

fn write_group(
    writer: &mut SerializedFileWriter<File>,
    keys: &[KeyColumn],
    of_runs: &[(usize, usize)],
    rows: &Table,
) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    let mut next = |write: &mut dyn FnMut(&mut ColumnWriter<'_>) -> ParquetResult<()>| {
        let column: Option<SerializedColumnWriter<'_>> = group.next_column()?;
        let Some(mut column) = column else {
            return Err(ParquetError::General("fewer columns than the schema has".to_owned()));
        };
        write(column.untyped())?;
        column.close()
    };
    for key in keys {
        next(&mut |column| write_key(column, key, of_runs))?;
    }
    for (column, array) in rows.columns().iter().zip(rows.arrays()) {
        next(&mut |writer| write_column(writer, column, array))?;
    }
    group.close()?;
    Ok(())
}

fn write_key(
    writer: &mut ColumnWriter<'_>,
    key: &KeyColumn,
    of_runs: &[(usize, usize)],
) -> ParquetResult<()> {
    match (writer, &key.values) {
        (ColumnWriter::Int64ColumnWriter(writer), KeyValues::Integers(values)) => {
            let (levels, values) = repeated(of_runs, values);
            writer.write_batch(&values, Some(&levels), None)?;
        }
        (ColumnWriter::DoubleColumnWriter(writer), KeyValues::Numbers(values)) => {
            let (levels, values) = repeated(of_runs, values);
            writer.write_batch(&values, Some(&levels), None)?;
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), KeyValues::Texts(values)) => {
            let values: Vec<_> =
                values.iter().map(|text| text.as_deref().map(ByteArray::from)).collect();
            let (levels, values) = repeated(of_runs, &values);
            writer.write_batch(&values, Some(&levels), None)?;
        }
        _ => return Err(ParquetError::General(format!("column {}: wrong type", key.name))),
    }
    Ok(())
}

/// The value of each row, and for each whether it has one: Parquet's definition levels.
fn repeated<T: Clone>(of_runs: &[(usize, usize)], values: &[Option<T>]) -> (Vec<i16>, Vec<T>) {
    let mut levels = Vec::new();
    let mut all = Vec::new();
    for &(run, rows) in of_runs {
        let value = values.get(run).and_then(Option::as_ref);
        levels.extend(std::iter::repeat_n(i16::from(value.is_some()), rows));
        all.extend(value.into_iter().flat_map(|value| std::iter::repeat_n(value.clone(), rows)));
    }
    (levels, all)
}

//! Converts a CSV file of records into a Parquet file. It needs only the record type's columns.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::column::Content;
use crate::table::{Array, Table, Values};
use crate::{Column, Record, ResultsError};

/// Number of rows that are in memory at once.
pub(crate) const ROW_GROUP: usize = 128 * 1_024;

/// Writes the records of `csv` into `parquet`: the same columns in the same order, compressed with
/// Snappy.
pub(crate) fn convert<R: Record>(csv: &Path, parquet: &Path) -> Result<(), ResultsError> {
    let rows = BufReader::new(File::open(csv).map_err(ResultsError::read(csv))?);
    let mut rows = csv::Reader::from_reader(rows).into_records();
    let file = File::create(parquet).map_err(ResultsError::write(parquet))?;
    let failed = |error| encode_error(parquet, error);
    let schema = schema(R::NAME, R::COLUMNS).map_err(failed)?;
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties())).map_err(failed)?;
    loop {
        let mut group = Table::of::<R>();
        for row in rows.by_ref().take(ROW_GROUP) {
            let row = row.map_err(|error| ResultsError::read_csv(csv, error))?;
            let malformed = |reason| ResultsError::Malformed { path: csv.to_owned(), reason };
            group.parse(row.iter()).map_err(malformed)?;
        }
        if group.is_empty() {
            break;
        }
        write_group(writer.next_row_group().map_err(failed)?, &group).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

pub(crate) fn encode_error(path: &Path, error: ParquetError) -> ResultsError {
    ResultsError::Encode { path: path.to_owned(), reason: error.to_string() }
}

/// No date and no library version is written, so that equal records give equal bytes.
pub(crate) fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by("rocelab".to_owned())
        .set_compression(Compression::SNAPPY)
        .build()
}

/// The columns of a record type as Parquet has them.
fn schema(name: &str, columns: &[Column]) -> ParquetResult<TypePtr> {
    let fields = columns.iter().map(field).collect::<ParquetResult<_>>()?;
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

pub(crate) fn field(column: &Column) -> ParquetResult<TypePtr> {
    let (physical, logical) = match column.content {
        Content::Integer => (PhysicalType::INT64, None),
        Content::Ratio => (PhysicalType::DOUBLE, None),
        Content::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if column.is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = Type::primitive_type_builder(column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()?;
    Ok(Arc::new(field))
}

fn write_group(mut group: SerializedRowGroupWriter<'_, File>, table: &Table) -> ParquetResult<()> {
    for (column, array) in table.columns().iter().zip(table.arrays()) {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("fewer columns than the schema has".to_owned()));
        };
        write_column(writer.untyped(), column, array)?;
        writer.close()?;
    }
    group.close()?;
    Ok(())
}

pub(crate) fn write_column(
    writer: &mut ColumnWriter<'_>,
    column: &Column,
    array: &Array,
) -> ParquetResult<()> {
    let present = |row: &usize| array.has(*row);
    let rows = (0..array.len()).filter(present);
    // Parquet's definition levels: for each row, whether there is a value.
    let levels: Option<Vec<i16>> =
        column.is_optional.then(|| (0..array.len()).map(|row| array.has(row).into()).collect());
    let levels = levels.as_deref();
    match (writer, array.values()) {
        (ColumnWriter::Int64ColumnWriter(writer), Values::Integers(values)) => {
            let values: Vec<i64> =
                rows.map(|row| signed(column, values[row])).collect::<Result<_, _>>()?;
            writer.write_batch(&values, levels, None)?;
        }
        (ColumnWriter::DoubleColumnWriter(writer), Values::Ratios(values)) => {
            let values: Vec<f64> = rows.map(|row| values[row].as_f64()).collect();
            writer.write_batch(&values, levels, None)?;
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), Values::Texts(texts)) => {
            let values: Vec<ByteArray> = rows.map(|row| ByteArray::from(texts.get(row))).collect();
            writer.write_batch(&values, levels, None)?;
        }
        _ => return Err(ParquetError::General(format!("column {}: wrong type", column.name))),
    }
    Ok(())
}

fn signed(column: &Column, value: u64) -> ParquetResult<i64> {
    i64::try_from(value)
        .map_err(|_| ParquetError::General(format!("{} {value} is above 2^63", column.name)))
}

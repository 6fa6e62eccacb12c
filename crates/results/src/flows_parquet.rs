//! `flows.csv` into `flows.parquet`, by the format's columns alone.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::flow_columns::{FLOW_COLUMNS, FlowColumn, FlowValue};
use crate::record_reader::RecordReader;
use crate::{FlowRecord, ResultsError};

/// Rows held in memory at once.
const ROW_GROUP: usize = 128 * 1_024;

/// Writes the flows of `csv` into `parquet`: the same columns and order, compressed by Snappy.
pub(crate) fn convert(csv: &Path, parquet: &Path) -> Result<(), ResultsError> {
    let mut flows = RecordReader::<FlowRecord<'static>>::open(csv.to_owned())?;
    let file = File::create(parquet).map_err(ResultsError::write(parquet))?;
    let failed = |error| encode_error(parquet, error);
    let mut writer =
        SerializedFileWriter::new(file, schema().map_err(failed)?, Arc::new(properties()))
            .map_err(failed)?;
    loop {
        let group: Vec<_> = flows.by_ref().take(ROW_GROUP).collect::<Result<_, _>>()?;
        if group.is_empty() {
            break;
        }
        write_group(writer.next_row_group().map_err(failed)?, &group).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn encode_error(path: &Path, error: ParquetError) -> ResultsError {
    ResultsError::Encode { path: path.to_owned(), reason: error.to_string() }
}

/// Nothing in the file tells when or with which library version it was written.
fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by("rocelab".to_owned())
        .set_compression(Compression::SNAPPY)
        .build()
}

fn schema() -> ParquetResult<TypePtr> {
    let fields = FLOW_COLUMNS.iter().map(field).collect::<ParquetResult<_>>()?;
    Ok(Arc::new(Type::group_type_builder("flows").with_fields(fields).build()?))
}

fn field(column: &FlowColumn) -> ParquetResult<TypePtr> {
    let (physical, logical, repetition) = match column.value {
        FlowValue::Integer(_) => (PhysicalType::INT64, None, Repetition::REQUIRED),
        FlowValue::OptionalInteger(_) => (PhysicalType::INT64, None, Repetition::OPTIONAL),
        FlowValue::OptionalRatio(_) => (PhysicalType::DOUBLE, None, Repetition::OPTIONAL),
        FlowValue::Text(_) => {
            (PhysicalType::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)
        }
    };
    let field = Type::primitive_type_builder(column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()?;
    Ok(Arc::new(field))
}

fn write_group(
    mut group: SerializedRowGroupWriter<'_, File>,
    flows: &[FlowRecord<'_>],
) -> ParquetResult<()> {
    for column in &FLOW_COLUMNS {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("fewer columns than the schema has".to_owned()));
        };
        write_column(writer.untyped(), column, flows)?;
        writer.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_column(
    writer: &mut ColumnWriter<'_>,
    column: &FlowColumn,
    flows: &[FlowRecord<'_>],
) -> ParquetResult<()> {
    match (writer, &column.value) {
        (ColumnWriter::Int64ColumnWriter(writer), FlowValue::Integer(value)) => {
            let values: Vec<i64> =
                flows.iter().map(|flow| signed(column, value(flow))).collect::<Result<_, _>>()?;
            writer.write_batch(&values, None, None)?;
        }
        (ColumnWriter::Int64ColumnWriter(writer), FlowValue::OptionalInteger(value)) => {
            let (present, levels) = split(flows.iter().map(value));
            let values: Vec<i64> =
                present.into_iter().map(|value| signed(column, value)).collect::<Result<_, _>>()?;
            writer.write_batch(&values, Some(&levels), None)?;
        }
        (ColumnWriter::DoubleColumnWriter(writer), FlowValue::OptionalRatio(value)) => {
            let (present, levels) = split(flows.iter().map(value));
            let values: Vec<f64> = present.into_iter().map(|ratio| ratio.as_f64()).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), FlowValue::Text(value)) => {
            let values: Vec<ByteArray> =
                flows.iter().map(|flow| ByteArray::from(value(flow))).collect();
            writer.write_batch(&values, None, None)?;
        }
        _ => return Err(ParquetError::General(format!("column {}: wrong type", column.name))),
    }
    Ok(())
}

/// The values that are there, and for each row whether one is: Parquet's definition levels.
fn split<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let mut present = Vec::new();
    let levels = values
        .map(|value| {
            let level = i16::from(value.is_some());
            present.extend(value);
            level
        })
        .collect();
    (present, levels)
}

fn signed(column: &FlowColumn, value: u64) -> ParquetResult<i64> {
    i64::try_from(value)
        .map_err(|_| ParquetError::General(format!("{} {value} is above 2^63", column.name)))
}

//! Tables in Arrow's layout, which data frames of all kinds take without a copy.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rocelab_results::{Array, Column, Values};

use crate::error::of_input;

/// Rows of one kind, column by column.
#[pyclass(frozen, module = "rocelab")]
#[derive(Debug)]
pub(crate) struct Table {
    name: &'static str,
    columns: Vec<Description>,
    batch: RecordBatch,
}

/// What there is to say of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    /// Its name, with its unit at the end.
    pub(crate) name: &'static str,
    /// Its unit; empty if it has none.
    pub(crate) unit: &'static str,
    /// What it means.
    pub(crate) meaning: &'static str,
}

impl Table {
    /// Columns that are in Arrow's layout already, one for each description.
    pub(crate) fn of_arrays(
        name: &'static str,
        columns: Vec<Description>,
        arrays: Vec<ArrayRef>,
    ) -> PyResult<Self> {
        let named = columns.iter().map(|column| column.name).zip(arrays);
        let batch = RecordBatch::try_from_iter(named)
            .map_err(|error| of_input(format!("{name}: {error}")))?;
        Ok(Self { name, columns, batch })
    }

    /// Takes over the columns of `table`.
    pub(crate) fn new(table: rocelab_results::Table) -> PyResult<Self> {
        let (name, columns) = (table.name(), table.columns());
        let arrays = columns.iter().zip(table.into_arrays());
        let arrays =
            arrays.map(|(column, array)| converted(column, array)).collect::<PyResult<Vec<_>>>()?;
        let fields = columns.iter().zip(&arrays).map(|(column, array)| {
            Field::new(column.name, array.data_type().clone(), column.is_optional)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema, arrays)
            .map_err(|error| of_input(format!("{name}: {error}")))?;
        let described = |column: &Column| Description {
            name: column.name,
            unit: column.unit,
            meaning: column.meaning,
        };
        Ok(Self { name, columns: columns.iter().map(described).collect(), batch })
    }

    fn column_of(&self, name: &str) -> PyResult<&Description> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| {
            let names: Vec<_> = self.columns.iter().map(|column| column.name).collect();
            let (table, names) = (self.name, names.join(", "));
            PyKeyError::new_err(format!("`{table}` has no column `{name}`; it has {names}"))
        })
    }
}

#[pymethods]
impl Table {
    /// The name of the table.
    #[getter]
    fn name(&self) -> &'static str {
        self.name
    }

    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| column.name).collect()
    }

    /// The unit of a column; an empty text if it has none.
    fn unit(&self, column: &str) -> PyResult<&'static str> {
        Ok(self.column_of(column)?.unit)
    }

    /// What a column means.
    fn meaning(&self, column: &str) -> PyResult<&'static str> {
        Ok(self.column_of(column)?.meaning)
    }

    /// The values of a column as a list, with `None` where there is no value.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.column_of(name)?;
        let Some(array) = self.batch.column_by_name(name) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        let any = array.as_any();
        if let Some(values) = any.downcast_ref::<Int64Array>() {
            return values.iter().collect::<Vec<_>>().into_pyobject(py);
        }
        if let Some(values) = any.downcast_ref::<Float64Array>() {
            return values.iter().collect::<Vec<_>>().into_pyobject(py);
        }
        if let Some(values) = any.downcast_ref::<UInt64Array>() {
            return values.iter().collect::<Vec<_>>().into_pyobject(py);
        }
        if let Some(values) = any.downcast_ref::<StringArray>() {
            return values.iter().collect::<Vec<_>>().into_pyobject(py);
        }
        if let Some(values) = any.downcast_ref::<BooleanArray>() {
            return values.iter().collect::<Vec<_>>().into_pyobject(py);
        }
        let values = any.downcast_ref::<LargeStringArray>();
        values.map(|texts| texts.iter().collect::<Vec<_>>()).into_pyobject(py)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| column.name).collect();
        format!("<rocelab.Table {}: {} rows of {}>", self.name, self.__len__(), names.join(", "))
    }

    /// Arrow's PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer has to take what it gets, and may convert it itself.
        drop(requested_schema);
        let batch = self.batch.clone();
        let reader = RecordBatchIterator::new([Ok(batch)], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// A column as an array of Arrow. Integers and texts stay where they are.
fn converted(column: &Column, array: Array) -> PyResult<ArrayRef> {
    let rows = array.len();
    let (values, present) = array.into_parts();
    let nulls = column
        .is_optional
        .then(|| NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(present), 0, rows)));
    Ok(match values {
        Values::Integers(integers) => {
            // Signed, so that differences are what one expects, unless a value does not fit.
            if integers.iter().any(|&value| i64::try_from(value).is_err()) {
                return Ok(Arc::new(UInt64Array::new(integers.into(), nulls)));
            }
            let integers = ScalarBuffer::<i64>::new(Buffer::from_vec(integers), 0, rows);
            Arc::new(Int64Array::new(integers, nulls))
        }
        Values::Ratios(ratios) => {
            let ratios: Vec<f64> = ratios.into_iter().map(|ratio| ratio.as_f64()).collect();
            Arc::new(Float64Array::new(ratios.into(), nulls))
        }
        Values::Texts(texts) => {
            let (text, offsets) = texts.into_parts();
            let offsets =
                offsets.into_iter().map(|offset| i64::try_from(offset).unwrap_or(i64::MAX));
            let offsets = OffsetBuffer::new(offsets.collect::<Vec<_>>().into());
            let text = Buffer::from_vec(text.into_bytes());
            let array = LargeStringArray::try_new(offsets, text, nulls);
            Arc::new(array.map_err(|error| of_input(format!("{}: {error}", column.name)))?)
        }
    })
}

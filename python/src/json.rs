//! Values of Rust as objects of Python, and back, by the words of JSON, which both sides know.

use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::of_input;

/// What Python's `json` makes of a value.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &impl Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| of_input(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A value from a text of Python's `json`.
pub(crate) fn from_text<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| of_input(error.to_string()))
}

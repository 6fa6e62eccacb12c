//! What all record types have in common.

use crate::{Column, Value};

/// A record type: a table in every sink, and a CSV file in the results directory. Its declaration
/// contains its columns.
pub trait Record {
    /// The name of its table.
    const NAME: &'static str;
    /// The file's path within the results directory.
    const FILE: &'static str;
    /// The name of a second file beside it, in Parquet format, if it has one.
    const PARQUET: Option<&'static str>;
    /// The columns, in order.
    const COLUMNS: &'static [Column];

    /// Calls `show` with the value of each column, in order.
    ///
    /// # Errors The first error of `show`, after which it is not called again.
    fn values<E>(&self, show: impl FnMut(Value<'_>) -> Result<(), E>) -> Result<(), E>;
}

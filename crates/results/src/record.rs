//! What all record types have.

use crate::{Column, Value};

/// A record type: a table in every place where results go, and a CSV file in the results directory. It is
/// declared once, with its columns.
pub trait Record {
    /// The name of its table.
    const NAME: &'static str;
    /// The file's path within the results directory.
    const FILE: &'static str;
    /// The name of a second file beside it, for programs that read columns, if it has one.
    const PARQUET: Option<&'static str>;
    /// The columns, in order.
    const COLUMNS: &'static [Column];

    /// Shows what stands in each column, in order.
    ///
    /// # Errors
    /// The first of `show`, which sees no more then.
    fn values<E>(&self, show: impl FnMut(Value<'_>) -> Result<(), E>) -> Result<(), E>;
}

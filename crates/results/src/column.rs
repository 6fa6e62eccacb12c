//! The columns of records, and their values.

use std::borrow::Cow;

use crate::Millionths;

/// A column of a record type. All files of these records, and their documentation, follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, which ends with its unit if it has one.
    pub name: &'static str,
    /// The type of its values.
    pub content: Content,
    /// Whether a row may have no value: an empty field in CSV, a null in Parquet.
    pub is_optional: bool,
    /// Its unit in words; empty if it has none.
    pub unit: &'static str,
    /// What it means: a sentence of Markdown.
    pub meaning: &'static str,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An integer from 0 up.
    Integer,
    /// A ratio with six decimals.
    Ratio,
    /// Text.
    Text,
}

/// The value of a column in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'r> {
    /// An integer.
    Integer(u64),
    /// A ratio.
    Ratio(Millionths),
    /// Text.
    Text(&'r str),
    /// No value.
    Missing,
}

impl Column {
    /// A column of values of type `F`, with its meaning, which is its doc comment.
    pub(crate) const fn new<F: Field>(
        name: &'static str,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        let meaning = meaning.trim_ascii();
        Self { name, content: F::CONTENT, is_optional: F::IS_OPTIONAL, unit, meaning }
    }

    /// Parses a field of a file; `None` if it is not of the column's type.
    pub(crate) fn parse<'r>(&self, field: &'r str) -> Option<Value<'r>> {
        match self.content {
            _ if field.is_empty() && self.is_optional => Some(Value::Missing),
            Content::Text => Some(Value::Text(field)),
            Content::Integer => field.parse().ok().map(Value::Integer),
            Content::Ratio => Millionths::parse(field).map(Value::Ratio),
        }
    }
}

/// A type of values in columns.
pub(crate) trait Field {
    /// The type of such a column's values.
    const CONTENT: Content;
    /// Whether the value may be missing.
    const IS_OPTIONAL: bool = false;

    /// The value, as a column has it.
    fn value(&self) -> Value<'_>;
}

/// Implements [`Field`] for unsigned integers.
macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Field for $integer {
            const CONTENT: Content = Content::Integer;

            fn value(&self) -> Value<'_> {
                Value::Integer(u64::from(*self))
            }
        }
    )*};
}

integers!(u8 u16 u32 u64);

impl Field for Millionths {
    const CONTENT: Content = Content::Ratio;

    fn value(&self) -> Value<'_> {
        Value::Ratio(*self)
    }
}

impl Field for Cow<'_, str> {
    const CONTENT: Content = Content::Text;

    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl<F: Field> Field for Option<F> {
    const CONTENT: Content = F::CONTENT;
    const IS_OPTIONAL: bool = true;

    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Missing, F::value)
    }
}

/// Implements [`Field`] for a type whose values are words: it has a `name` method.
macro_rules! words {
    ($words:ty) => {
        impl $crate::column::Field for $words {
            const CONTENT: $crate::column::Content = $crate::column::Content::Text;

            fn value(&self) -> $crate::column::Value<'_> {
                $crate::column::Value::Text(self.name())
            }
        }
    };
}

pub(crate) use words;

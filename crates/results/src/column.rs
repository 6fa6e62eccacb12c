//! The columns of records, and what stands in them.

use std::borrow::Cow;

use crate::Millionths;

/// A column of a record type: what every file of these records, and what is told of it, is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, with its unit at the end where it has one.
    pub name: &'static str,
    /// What it holds.
    pub content: Content,
    /// Whether there are rows without a value: an empty field, a null.
    pub is_optional: bool,
    /// Its unit in words; empty where it has none.
    pub unit: &'static str,
    /// What it means: a sentence of Markdown.
    pub meaning: &'static str,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An integer from 0 on.
    Integer,
    /// A ratio with six decimals.
    Ratio,
    /// Text.
    Text,
}

/// What stands in a column of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'r> {
    /// An integer.
    Integer(u64),
    /// A ratio.
    Ratio(Millionths),
    /// Text.
    Text(&'r str),
    /// Nothing.
    Missing,
}

impl Column {
    /// One of values of type `F`, with its meaning as its documentation has it.
    pub(crate) const fn new<F: Field>(
        name: &'static str,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        let meaning = meaning.trim_ascii();
        Self { name, content: F::CONTENT, is_optional: F::IS_OPTIONAL, unit, meaning }
    }

    /// What a field of a file says; none if it is not what the column holds.
    #[cfg(any(feature = "parquet", test))]
    pub(crate) fn parse<'r>(&self, field: &'r str) -> Option<Value<'r>> {
        match self.content {
            Content::Text => Some(Value::Text(field)),
            _ if field.is_empty() && self.is_optional => Some(Value::Missing),
            Content::Integer => field.parse().ok().map(Value::Integer),
            Content::Ratio => Millionths::parse(field).map(Value::Ratio),
        }
    }
}

/// A type of values in columns.
pub(crate) trait Field {
    /// What such a column holds.
    const CONTENT: Content;
    /// Whether there may be nothing.
    const IS_OPTIONAL: bool = false;

    /// What stands there.
    fn value(&self) -> Value<'_>;
}

/// Unsigned integers.
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

/// A type whose values are words: they have a `name`.
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

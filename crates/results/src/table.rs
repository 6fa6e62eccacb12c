//! Rows of one record type in memory, column by column.

use crate::column::Content;
use crate::{Column, Millionths, Record, RecordType, Value};

/// Rows of one record type in Arrow's layout: an array for each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: &'static str,
    columns: &'static [Column],
    arrays: Vec<Array>,
    rows: usize,
}

/// The values of a column, and the rows that have a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    values: Values,
    /// A bit for each row, the lowest bit of a byte first.
    present: Vec<u8>,
    /// Number of rows without a value.
    missing: usize,
}

/// The values of a column. A row without a value has 0 or an empty text here.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Integers.
    Integers(Vec<u64>),
    /// Ratios.
    Ratios(Vec<Millionths>),
    /// Texts.
    Texts(Texts),
}

/// Texts, stored one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    text: String,
    /// The start of each text, and the end of the last (bytes).
    offsets: Vec<usize>,
}

impl Table {
    /// A table without rows.
    pub fn of<R: Record>() -> Self {
        Self::of_type(&RecordType::of::<R>())
    }

    pub(crate) fn of_type(record: &RecordType) -> Self {
        let arrays = record.columns.iter().map(|column| Array::of(column.content)).collect();
        Self { name: record.name, columns: record.columns, arrays, rows: 0 }
    }

    /// The name of the record type.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its columns.
    pub const fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// The number of rows.
    pub const fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The values of all columns, in their order.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// The values of all columns, to be stored elsewhere without a copy.
    pub fn into_arrays(self) -> Vec<Array> {
        self.arrays
    }

    /// The values of a column; `None` if there is no column of this name.
    pub fn array(&self, column: &str) -> Option<&Array> {
        let place = self.columns.iter().position(|one| one.name == column)?;
        self.arrays.get(place)
    }

    /// Appends a row. The record must be of the table's type.
    pub(crate) fn add<R: Record>(&mut self, record: &R) {
        debug_assert!(R::NAME == self.name, "a table has records of one type");
        let mut arrays = self.arrays.iter_mut();
        let added = record.values(|value| {
            let array = arrays.next().ok_or(())?;
            array.add(value);
            Ok(())
        });
        debug_assert!(added == Ok::<(), ()>(()), "a record has the values of its columns");
        self.rows += 1;
    }

    /// Appends a row of text, as in a file.
    ///
    /// # Errors The reason in words, if a field does not have its column's type.
    pub(crate) fn parse<'r>(&mut self, row: impl Iterator<Item = &'r str>) -> Result<(), String> {
        let mut fields = row;
        for (column, array) in self.columns.iter().zip(&mut self.arrays) {
            let field = fields.next().ok_or_else(|| format!("no {}", column.name))?;
            let value = column.parse(field);
            array.add(value.ok_or_else(|| format!("{} {field:?} is no number", column.name))?);
        }
        self.rows += 1;
        Ok(())
    }
}

impl Array {
    fn of(content: Content) -> Self {
        let values = match content {
            Content::Integer => Values::Integers(Vec::new()),
            Content::Ratio => Values::Ratios(Vec::new()),
            Content::Text => Values::Texts(Texts { text: String::new(), offsets: vec![0] }),
        };
        Self { values, present: Vec::new(), missing: 0 }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, including those of rows without one.
    pub const fn values(&self) -> &Values {
        &self.values
    }

    /// A bit for each row that is set if it has a value: for row n, bit n % 8 of byte n / 8.
    pub fn present(&self) -> &[u8] {
        &self.present
    }

    /// Number of rows without a value.
    pub const fn missing(&self) -> usize {
        self.missing
    }

    /// [`values`](Self::values) and [`present`](Self::present), to be stored elsewhere without a copy.
    pub fn into_parts(self) -> (Values, Vec<u8>) {
        (self.values, self.present)
    }

    /// Whether a row has a value.
    pub fn has(&self, row: usize) -> bool {
        self.present.get(row / 8).is_some_and(|byte| byte & 1 << (row % 8) != 0)
    }

    /// The value of a row; none beyond the last row.
    pub fn value(&self, row: usize) -> Value<'_> {
        if !self.has(row) {
            return Value::Missing;
        }
        match &self.values {
            Values::Integers(values) => Value::Integer(values[row]),
            Values::Ratios(values) => Value::Ratio(values[row]),
            Values::Texts(texts) => Value::Text(texts.get(row)),
        }
    }

    fn add(&mut self, value: Value<'_>) {
        let row = self.len();
        if row.is_multiple_of(8) {
            self.present.push(0);
        }
        match (&mut self.values, value) {
            (Values::Integers(values), Value::Integer(value)) => values.push(value),
            (Values::Ratios(values), Value::Ratio(value)) => values.push(value),
            (Values::Texts(texts), Value::Text(text)) => texts.add(text),
            (values, value) => {
                debug_assert!(value == Value::Missing, "a column holds values of one type");
                values.add_none();
                self.missing += 1;
                return;
            }
        }
        self.present[row / 8] |= 1 << (row % 8);
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Ratios(values) => values.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    fn add_none(&mut self) {
        match self {
            Self::Integers(values) => values.push(0),
            Self::Ratios(values) => values.push(Millionths(0)),
            Self::Texts(texts) => texts.add(""),
        }
    }
}

impl Texts {
    /// The number of texts.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All texts, without separators.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The start of each text, and the end of the last (bytes).
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// [`text`](Self::text) and [`offsets`](Self::offsets), to be stored elsewhere without a copy.
    pub fn into_parts(self) -> (String, Vec<usize>) {
        (self.text, self.offsets)
    }

    /// One of the texts.
    ///
    /// # Panics If there is no such row.
    pub fn get(&self, row: usize) -> &str {
        &self.text[self.offsets[row]..self.offsets[row + 1]]
    }

    fn add(&mut self, text: &str) {
        self.text.push_str(text);
        self.offsets.push(self.text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PauseEvent, PauseRecord, UtilisationSample};

    fn pause(port: u16, duration_ps: Option<u64>) -> PauseRecord<'static> {
        PauseRecord {
            time_ps: 7,
            node: format!("leaf-{port}").into(),
            port,
            priority: 3,
            event: PauseEvent::Resume,
            quanta: 0,
            duration_ps,
        }
    }

    #[test]
    fn rows_come_back_column_by_column() {
        let mut table = Table::of::<PauseRecord<'_>>();
        for row in 0..20_u16 {
            table.add(&pause(row, (row % 3 == 0).then_some(u64::from(row) * 5)));
        }
        assert_eq!((table.name(), table.len()), ("pfc", 20));
        let durations = table.array("duration_ps").unwrap();
        assert_eq!((durations.len(), durations.missing()), (20, 13));
        assert_eq!(durations.value(18), Value::Integer(90));
        assert_eq!((durations.value(19), durations.value(20)), (Value::Missing, Value::Missing));
        assert_eq!(durations.present(), [0b0100_1001, 0b1001_0010, 0b0000_0100]);
        let nodes = table.array("node").unwrap();
        assert_eq!((nodes.value(19), nodes.missing()), (Value::Text("leaf-19"), 0));
        assert!(table.array("nodes").is_none());
    }

    /// Values that are read from a file are those that were written to it.
    #[test]
    fn text_is_parsed_as_the_columns_say() {
        let mut table = Table::of::<UtilisationSample<'_>>();
        table.parse(["7", "leaf-0", "3", "25", "0.250000"].into_iter()).unwrap();
        assert_eq!(table.array("utilisation").unwrap().value(0), Value::Ratio(Millionths(250_000)));
        assert_eq!(table.array("rate_bps").unwrap().value(0), Value::Integer(25));
        for wrong in
            [&["7", "leaf-0", "-3", "25", "0.2"][..], &["7"], &["", "leaf-0", "3", "25", "0.2"]]
        {
            let error = Table::of::<UtilisationSample<'_>>().parse(wrong.iter().copied());
            assert!(error.is_err(), "{wrong:?}");
        }
    }
}

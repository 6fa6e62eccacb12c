//! Comma-separated tables whose errors name file, line and column.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::scenario::{Fault, FilePlace, Place, known_names};

/// A table with a header line. Lines that are empty or start with `#` are skipped; fields are
/// trimmed and cannot hold commas.
pub(crate) struct Table {
    file: PathBuf,
    text: Arc<str>,
    columns: Vec<String>,
    rows: Vec<TableLine>,
}

/// A line of the file: its number from 1, and its bytes.
struct TableLine {
    number: u32,
    span: Range<usize>,
}

/// One row of a [`Table`].
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    table: &'a Table,
    line: &'a TableLine,
}

impl Table {
    /// Reads `file`, which may be relative to `folder` and which the scenario names at `key`.
    pub(crate) fn read(
        folder: &Path,
        file: &Path,
        key: &str,
        known: &[&str],
    ) -> Result<Self, Fault> {
        let text = read_input(folder, file, key)?;
        Self::from_text(&folder.join(file), &text, known)
    }

    /// Reads `text`, whose header may have the columns `known`.
    pub(crate) fn from_text(file: &Path, text: &str, known: &[&str]) -> Result<Self, Fault> {
        let text: Arc<str> = text.into();
        let mut lines = numbered_lines(&text)
            .filter(|line| {
                let content = text[line.span.clone()].trim();
                !content.is_empty() && !content.starts_with('#')
            })
            .collect::<Vec<_>>()
            .into_iter();
        let header = lines.next();
        let mut table = Self { file: file.into(), text, columns: vec![], rows: lines.collect() };
        let Some(header) = header else {
            return Err(table.fault("the table is empty", "start with a line of column names"));
        };
        table.columns = table.header(&header, known)?;
        table.check_widths()?;
        Ok(table)
    }

    /// A field too few or too many would silently shift values into other columns.
    fn check_widths(&self) -> Result<(), Fault> {
        let columns = self.columns.len();
        for line in &self.rows {
            let found = fields(&self.text, line.span.clone()).count();
            if found != columns {
                let message = format!("{found} fields in a table of {columns} columns");
                let fault = Fault::at("", message)
                    .help("separate one field for each column by commas, without quotes");
                return Err(self.fault_at(line.span.clone(), "", fault));
            }
        }
        Ok(())
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|line| Row { table: self, line })
    }

    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known == column)
    }

    /// Something wrong with the table as a whole.
    pub(crate) fn fault(&self, message: &str, help: &str) -> Fault {
        let end = self.text.trim_end().len();
        let start = self.text[..end].rfind('\n').map_or(0, |newline| newline + 1);
        self.fault_at(start..end, "", Fault::at("", message).help(help))
    }

    fn header(&self, header: &TableLine, known: &[&str]) -> Result<Vec<String>, Fault> {
        let mut columns: Vec<String> = Vec::new();
        for span in fields(&self.text, header.span.clone()) {
            let name = &self.text[span.clone()];
            let fault = if !known.contains(&name) {
                Fault::at("", format!("there is no column `{name}`")).help(known_names(name, known))
            } else if columns.iter().any(|other| other == name) {
                Fault::at("", format!("the column `{name}` is there twice")).help("keep one")
            } else {
                columns.push(name.into());
                continue;
            };
            return Err(self.fault_at(span, name, fault));
        }
        Ok(columns)
    }

    fn fault_at(&self, span: Range<usize>, key: &str, mut fault: Fault) -> Fault {
        if !span.is_empty() {
            fault.value = Some(format!("\"{}\"", &self.text[span.clone()]));
        }
        let (file, text) = (self.file.clone(), self.text.clone());
        fault.place = Place::File(Box::new(FilePlace { file, text, span, key: key.into() }));
        fault
    }
}

impl<'a> Row<'a> {
    /// The line's number in the file, from 1.
    pub(crate) fn line(self) -> u32 {
        self.line.number
    }

    /// The field of `column`; none where the table has no such column or the field is empty.
    pub(crate) fn field(self, column: &str) -> Option<&'a str> {
        let span = self.span(column)?;
        Some(&self.table.text[span]).filter(|text| !text.is_empty())
    }

    /// The field of `column`, which must be there.
    pub(crate) fn required(self, column: &str) -> Result<&'a str, Fault> {
        self.field(column).ok_or_else(|| {
            let problem = if self.table.has(column) { "is empty" } else { "is missing" };
            let fault = Fault::at("", format!("the column `{column}` {problem}"));
            self.blame(column, fault.help(format!("give every line a `{column}`")))
        })
    }

    /// The field of `column` as a `T`.
    pub(crate) fn parsed<T: FromStr<Err: ToString>>(self, column: &str) -> Result<T, Fault> {
        let parsed = self.required(column)?.parse();
        parsed.map_err(|error: T::Err| self.blame(column, Fault::worded(&error.to_string())))
    }

    /// The field of `column` as a whole number.
    pub(crate) fn whole(self, column: &str) -> Result<u64, Fault> {
        let text = self.required(column)?;
        text.parse().map_err(|_| {
            let fault = Fault::at("", format!("`{text}` is not a whole number"));
            self.blame(column, fault.help("write digits alone"))
        })
    }

    /// The field of `column` as a number.
    pub(crate) fn number(self, column: &str) -> Result<f64, Fault> {
        let text = self.required(column)?;
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            let fault = Fault::at("", format!("`{text}` is not a number"));
            self.blame(column, fault.help("write a decimal number"))
        })
    }

    /// `fault` at the field of `column`, or at the line if there is none.
    pub(crate) fn blame(self, column: &str, fault: Fault) -> Fault {
        let span = self.span(column).filter(|span| !span.is_empty());
        self.table.fault_at(span.unwrap_or(self.line.span.clone()), column, fault)
    }

    fn span(self, column: &str) -> Option<Range<usize>> {
        let index = self.table.columns.iter().position(|known| known == column)?;
        fields(&self.table.text, self.line.span.clone()).nth(index)
    }
}

/// The text of `file`, which may be relative to `folder` and which the scenario names at `key`.
pub(crate) fn read_input(folder: &Path, file: &Path, key: &str) -> Result<String, Fault> {
    let path = folder.join(file);
    rocelab_fabric::read_named_text(&path).map_err(|error| {
        let help = match error.kind() {
            ErrorKind::InvalidData => "give a file of text in UTF-8",
            ErrorKind::InvalidInput | ErrorKind::IsADirectory => "give a file",
            _ => "give a path relative to the scenario's folder",
        };
        Fault::at(key, format!("`{}` cannot be read: {error}", path.display())).help(help)
    })
}

/// The lines of `text` without their ends.
fn numbered_lines(text: &str) -> impl Iterator<Item = TableLine> {
    let mut start = 0;
    (1..).zip(text.split_inclusive('\n')).map(move |(number, line)| {
        let span = start..start + line.trim_end().len();
        start += line.len();
        TableLine { number, span }
    })
}

/// The trimmed fields of a line.
fn fields(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = line.start;
    text[line].split(',').map(move |field| {
        let from = start + (field.len() - field.trim_start().len());
        start += field.len() + 1;
        from..from + field.trim().len()
    })
}

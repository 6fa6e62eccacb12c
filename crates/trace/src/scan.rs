//! Words of lines of text, with their columns.

use std::path::Path;
use std::str::FromStr;

use crate::TraceError;

/// A word of a text, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Word<'_> {
    /// The error that `message` says of this word.
    pub(crate) fn error(
        &self,
        path: &Path,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> TraceError {
        TraceError::new(path, message, help).at(self.line, self.column).of_value(shown(self.text))
    }

    /// The number that this word is; `what` says what it means, with its unit.
    pub(crate) fn number<T: FromStr>(&self, path: &Path, what: &str) -> Result<T, TraceError> {
        self.text.parse().map_err(|_| {
            let help = format!("give {what} as a whole number that fits");
            self.error(path, format!("is not {what}"), help)
        })
    }
}

/// A value as errors show it: escaped and cut.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// The blank-separated words of a line, which is the line of this number.
pub(crate) fn words(text: &str, line: usize) -> impl Iterator<Item = Word<'_>> {
    let mut column = 1;
    text.split_inclusive(char::is_whitespace).filter_map(move |piece| {
        let begin = column;
        column += piece.chars().count();
        let text = piece.trim_end();
        (!text.is_empty()).then_some(Word { text, line, column: begin })
    })
}

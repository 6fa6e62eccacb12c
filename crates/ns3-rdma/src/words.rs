//! The words of a file, which white space separates, one after the other.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use crate::error::{InputError, Source};

/// Reads a file's words from the first on.
#[derive(Debug)]
pub(crate) struct Words {
    source: Source,
    next: usize,
    last: Range<usize>,
}

/// A word and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

impl Words {
    /// The words of the `text` of the file at `path`.
    pub(crate) fn new(path: &Path, text: &str) -> Self {
        Self { source: Source::new(path, text), next: 0, last: 0..0 }
    }

    /// The file.
    pub(crate) const fn source(&self) -> &Source {
        &self.source
    }

    /// Where the last word stands.
    pub(crate) fn last(&self) -> Range<usize> {
        self.last.clone()
    }

    /// The next word.
    pub(crate) fn next(&mut self) -> Option<Word> {
        let rest = &self.source.text[self.next..];
        let word = rest.split_whitespace().next()?;
        let start = self.next + rest.find(word)?;
        self.next = start + word.len();
        self.last = start..self.next;
        Some(Word { text: word.to_owned(), span: start..self.next })
    }

    /// The next word, which is the `column` of a record.
    pub(crate) fn column(&mut self, column: &str) -> Result<Word, InputError> {
        self.next().ok_or_else(|| {
            let end = self.source.text.trim_end().len();
            let message = format!("the file ends where `{column}` should stand");
            self.source.blame(end..end, column, message, "add it, or correct the counts before it")
        })
    }

    /// The next word as a number.
    pub(crate) fn number<N: FromStr>(
        &mut self,
        column: &str,
        what: impl Display,
    ) -> Result<(N, Range<usize>), InputError> {
        let word = self.column(column)?;
        match word.text.parse() {
            Ok(number) => Ok((number, word.span)),
            Err(_) => {
                Err(self.source.blame(word.span, column, format!("is not {what}"), "correct it"))
            }
        }
    }

    /// The next word as a finite number that is not negative.
    pub(crate) fn positive(
        &mut self,
        column: &str,
        what: impl Display,
    ) -> Result<(f64, Range<usize>), InputError> {
        let (number, span) = self.number::<f64>(column, &what)?;
        if number.is_finite() && number >= 0.0 {
            return Ok((number, span));
        }
        Err(self.source.blame(span, column, format!("is not {what}"), "correct it"))
    }

    /// The error that `message` says of the `column` at `span`.
    pub(crate) fn blame(
        &self,
        span: Range<usize>,
        column: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> InputError {
        self.source.blame(span, column, message, help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_places() {
        let mut words = Words::new(Path::new("f"), " 1\r\n\t22 x");
        assert_eq!(words.number::<u32>("a", "a number").unwrap(), (1, 1..2));
        assert_eq!(words.next().unwrap().span, 5..7);
        let error = words.number::<u32>("links", "a number").unwrap_err();
        assert_eq!(error.to_string(), "f:2:5: links = x: is not a number; correct it");
        assert!(words.column("rate").unwrap_err().to_string().contains("the file ends"));
    }
}

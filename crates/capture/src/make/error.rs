//! Errors in a description, with their place.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_path_to_error::Segment;
use toml::Spanned;

use super::reading;

/// An error in a description. `Display` is one line: `file:line:column: key = value: what is wrong;
/// what to write instead`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeError {
    file: PathBuf,
    line: usize,
    column: usize,
    what: String,
}

impl std::error::Error for RecipeError {}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file.display(), self.line, self.column, self.what)
    }
}

impl RecipeError {
    /// The line, from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// Makes an error of the TOML reader's error; `path` is the key.
    pub(super) fn of_toml(
        file: &Path,
        text: &str,
        path: &serde_path_to_error::Path,
        error: &toml::de::Error,
    ) -> Self {
        let span = error.span().unwrap_or(0..0);
        let excerpt = excerpt(text, span.clone());
        // `toml::Spanned` uses keys of its own, which are not in the file.
        let mut key = path.iter().filter_map(|segment| match segment {
            Segment::Map { key } if !key.starts_with("$__") => Some(key.as_str()),
            _ => None,
        });
        let what = reading::explained(error.message(), key.next_back(), &excerpt);
        Self::at(file, text, span, what)
    }

    pub(super) fn new(file: &Path, text: &str, fault: Fault) -> Self {
        let what = match fault.span {
            Some(ref span) => {
                let value = excerpt(text, span.clone());
                format!("{} = {value}: {}; {}", fault.key, fault.what, fault.fix)
            }
            None => format!("{}: {}; {}", fault.key, fault.what, fault.fix),
        };
        Self::at(file, text, fault.span.unwrap_or(0..0), what)
    }

    fn at(file: &Path, text: &str, span: Range<usize>, what: String) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Self { file: file.to_owned(), line, column, what }
    }
}

/// The first line at `span`, shortened.
fn excerpt(text: &str, span: Range<usize>) -> String {
    let value = text.get(span).unwrap_or_default();
    value.lines().next().unwrap_or_default().chars().take(60).collect()
}

/// An error in a value.
#[derive(Debug)]
pub(super) struct Fault {
    /// The place of the value, if it is in the text.
    span: Option<Range<usize>>,
    key: &'static str,
    what: String,
    fix: String,
}

impl Fault {
    pub(super) fn new<T>(
        key: &'static str,
        at: &Spanned<T>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::at(key, at.span(), what, fix)
    }

    pub(super) fn at(
        key: &'static str,
        span: Range<usize>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { span: Some(span), key, what: what.into(), fix: fix.into() }
    }

    /// The error for what no description should lead to.
    pub(super) fn unexpected(verb: &Spanned<String>, error: &dyn std::error::Error) -> Self {
        Self::new("verb", verb, error.to_string(), "please report this")
    }

    /// The error for a required key that is missing.
    pub(super) fn missing(
        key: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { span: None, key, what: what.into(), fix: fix.into() }
    }
}

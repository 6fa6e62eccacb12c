//! What is wrong with a description, and where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;

/// Something wrong with a description. `Display` is one line: `file:line:column: key = value: what
/// is wrong; what to write instead`.
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

    pub(super) fn of_toml(file: &Path, text: &str, error: &toml::de::Error) -> Self {
        let message = error.message().trim().replace('\n', " ");
        Self::at(file, text, error.span().unwrap_or(0..0), message)
    }

    pub(super) fn new(file: &Path, text: &str, fault: Fault) -> Self {
        let value = text.get(fault.span.clone()).unwrap_or_default();
        let value: String = value.lines().next().unwrap_or_default().chars().take(60).collect();
        let what = format!("{} = {value}: {}; {}", fault.key, fault.what, fault.fix);
        Self::at(file, text, fault.span, what)
    }

    fn at(file: &Path, text: &str, span: Range<usize>, what: String) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Self { file: file.to_owned(), line, column, what }
    }
}

/// Something wrong with a value.
#[derive(Debug)]
pub(super) struct Fault {
    span: Range<usize>,
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
        Self { span: at.span(), key, what: what.into(), fix: fix.into() }
    }
}

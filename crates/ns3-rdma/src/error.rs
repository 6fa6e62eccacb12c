//! What is wrong with an input, and where; and what the simulator itself would not survive.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One thing that is wrong with a configuration or a file that it names.
///
/// `Display` is one line: `file:line:column: key = value: message; help`.
#[derive(Clone, Debug)]
pub struct InputError(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    source: Source,
    span: Range<usize>,
    key: String,
    value: String,
    message: String,
    help: String,
}

/// A file and its text.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: Arc<str>,
}

impl Source {
    /// The `text` of the file at `path`.
    pub(crate) fn new(path: &Path, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// The error that `message` says of `key` with the value at `span`; `help` is what to do.
    pub(crate) fn blame(
        &self,
        span: Range<usize>,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> InputError {
        InputError(Box::new(Details {
            source: self.clone(),
            value: self.text.get(span.clone()).unwrap_or_default().to_owned(),
            span,
            key: key.to_owned(),
            message: message.into(),
            help: help.into(),
        }))
    }
}

impl InputError {
    /// The same error about a value that nobody wrote.
    pub(crate) fn with_value(mut self, value: impl Into<String>) -> Self {
        self.0.value = value.into();
        self
    }

    /// The file that has the error.
    pub fn file(&self) -> &Path {
        &self.0.source.path
    }

    /// The line in that file, from 1.
    pub fn line(&self) -> usize {
        self.before().matches('\n').count() + 1
    }

    /// The column in the line, in characters, from 1.
    pub fn column(&self) -> usize {
        self.before().rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1
    }

    /// The key of the configuration, or the column of the file.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// The value as it was written, or the default that holds instead.
    pub fn value(&self) -> &str {
        &self.0.value
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to write instead.
    pub fn help(&self) -> &str {
        &self.0.help
    }

    fn before(&self) -> &str {
        let text = &self.0.source.text;
        text.get(..self.0.span.start).unwrap_or(text)
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file().display())?;
        if !self.0.source.text.is_empty() {
            write!(f, ":{}:{}", self.line(), self.column())?;
        }
        match (self.key(), self.value()) {
            ("", "") => {}
            ("", value) => write!(f, ": {value}")?,
            (key, "") => write!(f, ": {key}")?,
            (key, value) if key == value => write!(f, ": {key}")?,
            (key, value) => write!(f, ": {key} = {value}")?,
        }
        write!(f, ": {}; {}", self.0.message, self.0.help)
    }
}

impl std::error::Error for InputError {}

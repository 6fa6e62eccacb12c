//! What is wrong with a scenario, and where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_units::Bandwidth;

/// One thing that is wrong with a scenario, where it stands, and what to write instead.
///
/// `Display` is one line: `file:line:column: key = value: message; help`. The text of the file
/// and the place in it are kept, so that a program can show the line itself. If more was found that does not follow from
/// it, [`all`](Self::all) has that too.
#[derive(Clone, Debug)]
pub struct ScenarioError(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    file: PathBuf,
    text: Arc<str>,
    span: Range<usize>,
    key: String,
    value: String,
    message: String,
    help: Option<String>,
    /// Other errors of the same scenario, which do not follow from this one.
    further: Vec<ScenarioError>,
}

impl ScenarioError {
    /// A file that cannot be read at all.
    pub fn unreadable(file: &Path, error: &std::io::Error) -> Self {
        Self(Box::new(Details {
            file: file.into(),
            text: "".into(),
            span: 0..0,
            key: String::new(),
            value: String::new(),
            message: format!("cannot be read: {error}"),
            help: Some("give the path of a scenario file".into()),
            further: Vec::new(),
        }))
    }

    /// `fault` at `place`.
    pub fn new(place: FilePlace, fault: Fault) -> Self {
        Self(Box::new(Details {
            file: place.file,
            text: place.text,
            span: place.span,
            key: place.key,
            value: fault.value.unwrap_or_default(),
            message: fault.message,
            help: fault.help,
            further: Vec::new(),
        }))
    }

    /// The same, with other errors of the same scenario.
    #[must_use]
    pub fn with_further(mut self, further: Vec<Self>) -> Self {
        self.0.further = further;
        self
    }

    /// This error, and the others that were found with it, in the order in which they were found.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.0.further)
    }

    /// The file in which the error stands: the scenario, a file that it names, or `--set`.
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// The whole text of that file.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The bytes of [`ScenarioError::text`] that are wrong; empty where the file has none.
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }

    /// The line in the file, from 1; 0 if the file could not be read.
    pub fn line(&self) -> usize {
        if self.0.text.is_empty() { 0 } else { self.before().matches('\n').count() + 1 }
    }

    /// The column in the line, in characters, from 1; 0 if the file could not be read.
    pub fn column(&self) -> usize {
        if self.0.text.is_empty() {
            return 0;
        }
        let before = self.before();
        before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1
    }

    /// The key, such as `workload.incast.senders`; a column's name in a CSV file.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// The offending value as it was written, shortened; if none was written the default, which is
    /// said to be one.
    pub fn value(&self) -> &str {
        &self.0.value
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to write instead.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    fn before(&self) -> &str {
        self.0.text.get(..self.0.span.start).unwrap_or(&self.0.text)
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.file.display())?;
        if self.line() > 0 {
            write!(f, ":{}:{}", self.line(), self.column())?;
        }
        match (self.key(), self.value()) {
            ("", _) => {}
            (key, "") => write!(f, ": {key}")?,
            (key, value) => write!(f, ": {key} = {value}")?,
        }
        write!(f, ": {}", self.0.message)?;
        self.help().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for ScenarioError {}

/// An error whose place is still a key: checks make these without knowing the file, and
/// [`Document::report`](super::Document::report) finds the place.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Where it is.
    pub place: Place,
    /// The value, where nobody may have written it.
    pub value: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The port rate that it is about, where values are given by rate.
    pub rate: Option<Bandwidth>,
}

/// Where a fault is.
#[derive(Clone, Debug)]
pub enum Place {
    /// At a key of the scenario.
    Key(String),
    /// In a file that the scenario names.
    File(Box<FilePlace>),
}

/// A place in a file that the scenario names.
#[derive(Clone, Debug)]
pub struct FilePlace {
    /// The file.
    pub file: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// The place in the text (bytes).
    pub span: Range<usize>,
    /// What is called the key there.
    pub key: String,
}

impl Fault {
    /// Something wrong with the value of `key`, which may still be relative (see
    /// [`Fault::within`]).
    pub fn at(key: impl Into<String>, message: impl Into<String>) -> Self {
        let place = Place::Key(key.into());
        Self { place, value: None, message: message.into(), help: None, rate: None }
    }

    /// What `split_help` makes of `message`.
    pub fn worded(message: &str) -> Self {
        let (message, help) = split_help(message);
        Self { help, ..Self::at("", message) }
    }

    /// What to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The value, for keys that may hold a default that nobody wrote.
    pub fn value(mut self, value: impl ToString) -> Self {
        self.value = Some(value.to_string());
        self
    }

    /// The same of a key that stands in the section `to` in place of `from`.
    pub fn moved(mut self, from: &str, to: &str) -> Self {
        if let Place::Key(key) = &mut self.place
            && let Some(rest) = key.strip_prefix(from)
        {
            *key = format!("{to}{rest}");
        }
        self
    }

    /// The port rate that it is about.
    pub fn of_rate(mut self, rate: Bandwidth) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Makes a key that is relative to `section` absolute.
    pub fn within(mut self, section: &str) -> Self {
        if let Place::Key(key) = &mut self.place {
            let separator = if key.is_empty() || key.starts_with('[') { "" } else { "." };
            *key = format!("{section}{separator}{key}");
        }
        self
    }
}

/// Splits `what is wrong: what to write`, as the quantities and serde word it.
pub(crate) fn split_help(message: &str) -> (String, Option<String>) {
    if let Some((what, expected)) = message.split_once(", expected ") {
        return (what.into(), Some(format!("write {expected}")));
    }
    match message.split_once(": ") {
        Some((what, help)) if !what.contains("invalid") => (what.into(), Some(help.into())),
        _ => (message.into(), None),
    }
}

/// `condition`, or else a fault.
pub fn ensure(condition: bool, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
    if condition { Ok(()) } else { Err(fault()) }
}

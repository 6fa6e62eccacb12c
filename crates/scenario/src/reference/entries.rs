//! The keys and values that a configuration has.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::keys::{self, Key, Values};
use super::words::{Word, words};
use crate::{Fault, FilePlace, OriginPlace, ScenarioError};

/// A configuration's keys with their words.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) file: PathBuf,
    text: Arc<str>,
    entries: BTreeMap<&'static str, Entry>,
}

/// The words that follow a key.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Where each stands in the text.
    pub(super) values: Vec<Range<usize>>,
    /// Whether the key stood there before; what is last holds, as in the simulator.
    pub(super) repeated: bool,
}

impl Entries {
    /// Reads the text of the file at `path`.
    pub(super) fn read(text: &str, path: &Path) -> Result<Self, ScenarioError> {
        let mut entries = Self { file: path.into(), text: text.into(), entries: BTreeMap::new() };
        let mut words = words(text);
        while let Some(word) = words.next() {
            let key = entries.key_at(&word)?;
            let values = entries.values_of(key, &word, &mut words)?;
            let repeated = entries.entries.contains_key(key.name);
            if repeated && key.values == Values::Pairs {
                let fault = Fault::at("", format!("`{}` stands there twice", key.name));
                return Err(entries.blame(key.name, word.span, fault.help("keep one of them")));
            }
            entries.entries.insert(key.name, Entry { values, repeated });
        }
        Ok(entries)
    }

    fn key_at(&self, word: &Word<'_>) -> Result<&'static Key, ScenarioError> {
        keys::find(word.text).ok_or_else(|| {
            let fault = Fault::at("", format!("there is no key `{}`", word.text));
            self.blame(word.text, word.span.clone(), fault.help(keys::suggestion(word.text)))
        })
    }

    fn values_of<'a>(
        &self,
        key: &Key,
        at: &Word<'a>,
        words: &mut impl Iterator<Item = Word<'a>>,
    ) -> Result<Vec<Range<usize>>, ScenarioError> {
        let mut next = |what: &str| {
            let word = words.next().filter(|word| keys::find(word.text).is_none());
            word.map(|word| word.span).ok_or_else(|| {
                let fault = Fault::at("", format!("{what} should follow `{}`", key.name));
                self.blame(key.name, at.span.clone(), fault.help("add it"))
            })
        };
        let count = match key.values {
            Values::One => 1,
            Values::Three => 3,
            Values::Pairs => {
                let span = next("the number of pairs")?;
                let pairs: Option<usize> = self.text[span.clone()].parse().ok();
                let pairs = pairs.filter(|&pairs| pairs <= self.text.len()).ok_or_else(|| {
                    let fault = Fault::at("", "this is no number of pairs");
                    let help = "write `2 RATE VALUE RATE VALUE`, with rates in bit/s";
                    self.blame(key.name, span, fault.help(help))
                })?;
                2 * pairs
            }
        };
        (0..count).map(|_| next("a value")).collect()
    }

    /// The entry of `key`, if the file has one.
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// The words of a key and where they stand; none if the file does not have it.
    pub(super) fn values(&self, key: &str) -> Vec<(&str, Range<usize>)> {
        let spans = self.get(key).map_or(&[][..], |entry| &entry.values);
        spans.iter().map(|span| (&self.text[span.clone()], span.clone())).collect()
    }

    /// All keys that the file has, in the order of the list.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        keys::KEYS.iter().filter(|key| self.entries.contains_key(key.name))
    }

    /// The place of a scenario's key that comes from `word`, if the file has that.
    pub(super) fn place(&self, key: String, word: &'static str) -> Option<OriginPlace> {
        let span = self.get(word)?.values.first()?.clone();
        Some(OriginPlace { key, word, span })
    }

    /// The fault at `span`, which says something of `key`.
    pub(super) fn blame(&self, key: &str, span: Range<usize>, fault: Fault) -> ScenarioError {
        let value = &self.text[span.clone()];
        let fault = if value == key { fault } else { fault.value(value) };
        let (file, text, key) = (self.file.clone(), self.text.clone(), key.to_owned());
        ScenarioError::new(FilePlace { file, text, span, key }, fault)
    }

    /// The error of a key that should be there, and why.
    pub(super) fn missing(&self, key: &'static str, why: &str) -> ScenarioError {
        self.missing_with(key, why, &format!("add `{key} ...`"))
    }

    /// Like [`Entries::missing`], with what to write.
    pub(super) fn missing_with(&self, key: &str, why: &str, help: &str) -> ScenarioError {
        let end = self.text.trim_end().len();
        let fault = Fault::at("", format!("the key `{key}` is missing: {why}"));
        self.blame("", end..end, fault.help(help))
    }

    /// The error of a value that TOML cannot hold.
    pub(super) fn unwritable(&self, error: &toml::ser::Error) -> ScenarioError {
        self.blame("", 0..0, Fault::at("", format!("cannot be written as TOML: {error}")))
    }
}

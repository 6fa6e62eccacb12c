//! A scenario's text with its overrides, and the way from a key back to its place in the text.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Fault, FilePlace, Place, ScenarioError};
use super::origin::Origin;
use super::overrides::{Override, segments};

/// The text of a scenario and the `--set key=value` overrides that apply to it.
///
/// Byte positions are those of the file's text followed by the overrides' texts, each after a
/// separator of one byte; `Document::source` maps them back.
#[derive(Clone, Debug, Default)]
pub struct Document {
    file: PathBuf,
    text: Arc<str>,
    overrides: Vec<Override>,
    /// The file of another form that `text` was made of.
    origin: Option<Arc<Origin>>,
}

/// Where a key and its value stand in a document.
struct Location {
    key: String,
    span: Range<usize>,
    /// Whether the whole key is there, and not only a table that it would be in.
    complete: bool,
    is_table: bool,
}

impl Document {
    /// The text of `file`, with these keys set to these values.
    pub fn new(file: &Path, text: &str, overrides: &[(String, String)]) -> Self {
        let mut base = text.len() + 1;
        let overrides = overrides
            .iter()
            .map(|(key, value)| {
                let item = Override::new(key, value, base);
                base = item.span().end + 1;
                item
            })
            .collect();
        Self { file: file.into(), text: text.into(), overrides, origin: None }
    }

    /// A document whose `text` was made of the file `origin`, into which errors point.
    pub fn made_of(origin: Origin, text: &str, overrides: &[(String, String)]) -> Self {
        let document = Self::new(&origin.file, text, overrides);
        Self { origin: Some(Arc::new(origin)), ..document }
    }

    /// What the scenario is called, if not as its file.
    pub fn name(&self) -> Option<&str> {
        self.origin.as_ref()?.name.as_deref()
    }

    /// The file that the scenario was read from.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The folder that relative paths in the scenario start from.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// The document with its overrides applied.
    pub fn root(&self) -> Result<Spanned<DeTable<'_>>, ScenarioError> {
        let mut root = DeTable::parse(&self.text).map_err(|error| {
            let fault = Fault::at("", first_line(error.message()))
                .help("write the file as TOML (https://toml.io)");
            self.report_at(error.span().unwrap_or(0..0), fault)
        })?;
        for item in &self.overrides {
            let outcome = item.apply(root.get_mut());
            outcome.map_err(|fault| self.report_at(item.span(), fault))?;
        }
        Ok(root)
    }

    /// Whether a key is written, in the file or by an override.
    pub fn says(&self, key: &str) -> bool {
        self.root().is_ok_and(|root| locate(root.get_ref(), key).complete)
    }

    /// Whether an override writes a key, whatever the file says.
    pub fn overrides(&self, key: &str) -> bool {
        self.root().is_ok_and(|root| {
            let place = locate(root.get_ref(), key);
            place.complete && self.is_override(place.span.start)
        })
    }

    /// The error with the place of its key.
    pub fn report(&self, mut fault: Fault) -> ScenarioError {
        let key = match &fault.place {
            Place::File(place) => return ScenarioError::new((**place).clone(), fault),
            Place::Key(key) => key.clone(),
        };
        let Ok(root) = self.root() else { return self.report_at(0..0, fault) };
        let location = locate(root.get_ref(), &key);
        if location.complete {
            let excerpt = self.excerpt(location.span.clone());
            // A table with a header of its own has no text that would help.
            if !location.is_table || excerpt.starts_with('{') {
                fault.value = Some(excerpt);
            }
        } else if let Some(value) = fault.value.as_mut().filter(|value| is_a_value(value)) {
            value.push_str(" by default");
        }
        fault.place = Place::Key(location.key);
        self.report_at(location.span, fault)
    }

    /// The error at `span` of the document.
    pub fn report_at(&self, span: Range<usize>, fault: Fault) -> ScenarioError {
        if let (Some(origin), Place::Key(key)) = (&self.origin, &fault.place)
            && !self.is_override(span.start)
        {
            return origin.report(&key.clone(), fault);
        }
        let (file, text, base) = self.source(span.start);
        let within = |position: usize| position.saturating_sub(base).min(text.len());
        let key = match &fault.place {
            Place::Key(key) => key.clone(),
            Place::File(place) => place.key.clone(),
        };
        let span = within(span.start)..within(span.end);
        ScenarioError::new(FilePlace { file, text, span, key }, fault)
    }

    /// The text at `span`, shortened to one line.
    pub fn excerpt(&self, span: Range<usize>) -> String {
        const LONGEST: usize = 60;
        let (_, text, base) = self.source(span.start);
        let range = span.start.saturating_sub(base)..span.end.saturating_sub(base);
        let excerpt = text.get(range).unwrap_or_default();
        let line = first_line(excerpt);
        if line.len() == excerpt.len() && line.chars().count() <= LONGEST {
            line.into()
        } else {
            line.chars().take(LONGEST).chain("...".chars()).collect()
        }
    }

    /// The text at `span`, as it is written.
    pub fn text_at(&self, span: Range<usize>) -> String {
        let (_, text, base) = self.source(span.start);
        let range = span.start.saturating_sub(base)..span.end.saturating_sub(base);
        text.get(range).unwrap_or_default().to_owned()
    }

    /// Whether `span` is the value of an override, and not its key.
    pub fn is_set_value(&self, span: &Range<usize>) -> bool {
        self.overrides.iter().any(|item| item.value_span().contains(&span.start))
    }

    fn is_override(&self, position: usize) -> bool {
        self.overrides.iter().any(|item| item.span().start <= position)
    }

    /// Which text holds `position`: its name, itself, and where it begins.
    fn source(&self, position: usize) -> (PathBuf, Arc<str>, usize) {
        match self.overrides.iter().rfind(|item| item.span().start <= position) {
            Some(item) => ("--set".into(), item.text(), item.span().start),
            None => (self.file.clone(), self.text.clone(), 0),
        }
    }
}

/// Whether there is a value where none is written.
fn is_a_value(value: &str) -> bool {
    !matches!(value, "" | "none")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Walks to `path`, as far as the document goes.
fn locate(root: &DeTable<'_>, path: &str) -> Location {
    let mut here = Location { key: String::new(), span: 0..0, complete: true, is_table: true };
    let mut table = Some(root);
    for (name, index) in segments(path) {
        let found =
            table.and_then(|table| table.iter().find(|(key, _)| key.get_ref().as_ref() == name));
        let dot = if here.key.is_empty() { "" } else { "." };
        let Some((key, mut value)) = found else {
            here.complete = false;
            let index = index.map_or(String::new(), |index| format!("[{index}]"));
            here.key = format!("{}{dot}{name}{index}", here.key);
            continue;
        };
        here.key = format!("{}{dot}{name}", here.key);
        here.span = value_or_key(key.span(), value);
        if let (Some(index), DeValue::Array(array)) = (index, value.get_ref()) {
            here.key = format!("{}[{index}]", here.key);
            match array.get(index) {
                Some(element) => {
                    value = element;
                    here.span = value_or_key(key.span(), element);
                }
                None => here.complete = false,
            }
        }
        table = value.get_ref().as_table();
        here.is_table = table.is_some();
    }
    here
}

/// A table is pointed at by its key, anything else by itself.
fn value_or_key(key: Range<usize>, value: &Spanned<DeValue<'_>>) -> Range<usize> {
    let span = value.span();
    match value.get_ref() {
        DeValue::Table(_) if span.is_empty() => key,
        _ => span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str, overrides: &[(&str, &str)]) -> Document {
        let overrides: Vec<_> =
            overrides.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        Document::new(Path::new("x.toml"), text, &overrides)
    }

    #[test]
    fn a_key_is_found_in_the_text() {
        let document = document("a = 1\n[b.c]\nd = \"é\"\ne = [{ f = 2 }]\n", &[]);
        let error = document.report(Fault::at("b.c.e[0].f", "wrong").help("right"));
        assert_eq!(error.to_string(), "x.toml:4:12: b.c.e[0].f = 2: wrong; right");
        let error = document.report(Fault::at("b.c.missing", "wrong").value(7));
        assert_eq!(error.to_string(), "x.toml:2:1: b.c.missing = 7 by default: wrong");
    }

    #[test]
    fn an_override_is_found_in_the_command_line() {
        let document = document("[a]\nb = 1\n", &[("a.b", "20ms"), ("a.c.d", "[1, { e = 5 }]")]);
        let error = document.report(Fault::at("a.b", "wrong"));
        assert_eq!(error.to_string(), "--set:1:5: a.b = 20ms: wrong");
        let error = document.report(Fault::at("a.c.d[1].e", "wrong"));
        assert_eq!(error.to_string(), "--set:1:17: a.c.d[1].e = 5: wrong");
    }

    #[test]
    fn an_override_of_a_choice_replaces_it() {
        let document =
            document("[congestion_control.dcqcn]\n", &[("congestion_control.none", "{}")]);
        let has = |key| locate(document.root().unwrap().get_ref(), key).complete;
        assert!(has("congestion_control.none"));
        assert!(!has("congestion_control.dcqcn"));
    }

    #[test]
    fn an_algorithm_may_be_named_alone() {
        let text = "[congestion_control.dcqcn]\n[class.3.congestion_control.hpcc]\neta = 0.9\n";
        let set = [("congestion_control", "timely"), ("class.3.congestion_control", "\"swift\"")];
        let document = document(text, &set);
        let has = |key| locate(document.root().unwrap().get_ref(), key).complete;
        assert!(has("congestion_control.timely") && !has("congestion_control.dcqcn"));
        assert!(has("class.3.congestion_control.swift") && !has("class.3.congestion_control.hpcc"));
        let error = document.report(Fault::at("congestion_control.timely", "wrong"));
        assert!(error.to_string().starts_with("--set:1:20: congestion_control.timely"), "{error}");
    }

    #[test]
    fn a_key_with_a_gap_is_refused() {
        for key in ["switch..alpha", ".switch", "switch.", "switch. .alpha", ""] {
            let error = document("", &[(key, "1")]).root().unwrap_err();
            assert!(error.to_string().contains("a name is missing between its dots"), "{error}");
        }
    }

    #[test]
    fn an_override_of_a_scalar_as_a_table_is_refused() {
        let error = document("a = 1\n", &[("a.b", "1")]).root().unwrap_err();
        assert_eq!(error.file(), Path::new("--set"));
        assert!(error.to_string().contains("`a` is no table"), "{error}");
    }
}

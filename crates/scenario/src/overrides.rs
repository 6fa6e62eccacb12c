//! `--set key=value`: values that replace those of the file.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Fault;

/// Tables of which at most one key is meant: an override that names another replaces the first.
const CHOICES: [&str; 3] = ["profile", "topology", "switch.scheduler"];
/// Such a table wherever it stands: in the scenario, a class, a workload.
const CHOICE_ANYWHERE: &str = "congestion_control";

const HELP: &str = "write --set section.key=value, or --set list[0].key=value";

/// One `key=value`.
#[derive(Clone, Debug)]
pub(super) struct Override {
    /// `key=value`, as on the command line.
    text: Arc<str>,
    key_len: usize,
    /// The position of `text` in the document.
    base: usize,
}

impl Override {
    /// Of `key` to `value`; its text begins at `base` of the document.
    pub(super) fn new(key: &str, value: &str, base: usize) -> Self {
        Self { text: format!("{key}={value}").into(), key_len: key.len(), base }
    }

    /// `key=value`.
    pub(super) fn text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// Where [`Override::text`] is in the document.
    pub(super) fn span(&self) -> Range<usize> {
        self.base..self.base + self.text.len()
    }

    /// Sets the key in the document's tree.
    pub(super) fn apply<'i>(&'i self, root: &mut DeTable<'i>) -> Result<(), Fault> {
        set(root, self)
    }

    fn key(&self) -> &str {
        &self.text[..self.key_len]
    }

    fn value(&self) -> &str {
        &self.text[self.key_len + 1..]
    }

    /// Where the value is in the document.
    pub(super) fn value_span(&self) -> Range<usize> {
        self.value_base()..self.span().end
    }

    fn value_base(&self) -> usize {
        self.base + self.key_len + 1
    }
}

fn set<'i>(root: &mut DeTable<'i>, item: &'i Override) -> Result<(), Fault> {
    let refused = |message: String| Fault::at(item.key(), message).value(item.value()).help(HELP);
    let has_gap = item.key().split('.').any(|part| part.trim().is_empty());
    if has_gap {
        return Err(refused(format!(
            "`{}` is no key: a name is missing between its dots",
            item.key()
        )));
    }
    let value = chosen(item, override_value(item));
    let mut segments = segments_in(root, item.key());
    let Some(last) = segments.pop() else { return Err(refused("the key is empty".into())) };
    let mut table = root;
    let mut path = String::new();
    for (name, index) in segments {
        table =
            child(table, &path, name, index, item).map_err(|fault| fault.value(item.value()))?;
        path = if path.is_empty() { name.into() } else { format!("{path}.{name}") };
    }
    let (name, index) = last;
    if name.is_empty() || index.is_some() {
        return Err(refused(format!("`{}` is no key that can be set", item.key())));
    }
    choose(table, &path, name);
    table.remove(name); // the old key would keep its span
    table.insert(spanned_key(name, item), value);
    Ok(())
}

/// The table `name` (or its element `index`) in `table`, made if it is absent.
fn child<'t, 'i>(
    table: &'t mut DeTable<'i>,
    path: &str,
    name: &'i str,
    index: Option<usize>,
    item: &'i Override,
) -> Result<&'t mut DeTable<'i>, Fault> {
    if index.is_some() && !table.contains_key(name) {
        let key = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let fault = Fault::at(item.key(), format!("the file has no [[{key}]]"));
        return Err(fault.help("write it into the file first"));
    }
    choose(table, path, name);
    let span = item.span();
    let value = table
        .entry(spanned_key(name, item))
        .or_insert_with(|| Spanned::new(span, DeValue::Table(DeTable::new())));
    // Some keys have a word or a table, such as `sample = "default"`: who sets something below wants the table.
    if index.is_none() && matches!(value.get_ref(), DeValue::String(_)) {
        *value.get_mut() = DeValue::Table(DeTable::new());
    }
    let refused = |message: String, help: String| Fault::at(item.key(), message).help(help);
    let no_table = || refused(format!("`{name}` is no table"), HELP.into());
    match value.get_mut() {
        DeValue::Table(table) if index.unwrap_or(0) == 0 => Ok(table),
        DeValue::Array(array) => {
            let count = array.len();
            let tables = if count == 1 { "table" } else { "tables" };
            if index.is_none() && count != 1 {
                let help = format!("say which, as in `{name}[0]`");
                return Err(refused(format!("`{name}` is a list of {count} {tables}"), help));
            }
            let place = index.unwrap_or(0);
            let Some(element) = array.get_mut(place) else {
                let message = format!("`{name}` has {count} {tables}, counted from 0");
                return Err(refused(message, "name one that the file has".into()));
            };
            match element.get_mut() {
                DeValue::Table(table) => Ok(table),
                _ => Err(no_table()),
            }
        }
        _ => Err(no_table()),
    }
}

/// The parts of the key path `key`, where an element of an array may be written `faults[0]` or
/// `faults.0`.
fn segments_in<'k>(root: &DeTable<'_>, key: &'k str) -> Vec<(&'k str, Option<usize>)> {
    let mut parts: Vec<(&str, Option<usize>)> = Vec::new();
    let mut here: Option<&DeValue<'_>> = None;
    let mut table = Some(root);
    for (name, index) in segments(key) {
        if let (Some(DeValue::Array(array)), Ok(place), Some(last)) =
            (here, name.parse::<usize>(), parts.last_mut())
            && last.1.is_none()
        {
            last.1 = Some(place);
            here = array.get(place).map(Spanned::get_ref);
        } else {
            parts.push((name, index));
            here = table.and_then(|table| table.get(name)).map(Spanned::get_ref);
            if let (Some(DeValue::Array(array)), Some(place)) = (here, index) {
                here = array.get(place).map(Spanned::get_ref);
            }
        }
        table = here.and_then(DeValue::as_table);
    }
    parts
}

/// Where `path` is a choice, drops what was chosen before `name`.
fn choose(table: &mut DeTable<'_>, path: &str, name: &str) {
    let last = path.rsplit('.').next();
    if CHOICES.contains(&path) || last == Some(CHOICE_ANYWHERE) {
        let others: Vec<_> =
            table.keys().map(|key| key.get_ref().clone()).filter(|key| key != name).collect();
        for other in others {
            table.remove(other.as_ref());
        }
    }
}

fn spanned_key<'i>(name: &'i str, item: &Override) -> Spanned<Cow<'i, str>> {
    Spanned::new(item.base..item.base + item.key_len, Cow::Borrowed(name))
}

/// An algorithm that is named alone, `congestion_control=hpcc`, has its default parameters.
fn chosen<'i>(item: &Override, value: Spanned<DeValue<'i>>) -> Spanned<DeValue<'i>> {
    let is_label = item.key().starts_with("labels.");
    let is_choice = item.key().rsplit('.').next() == Some(CHOICE_ANYWHERE) && !is_label;
    let span = value.span();
    match value.into_inner() {
        DeValue::String(name) if is_choice => {
            let nothing = Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
            let table = DeTable::from_iter([(Spanned::new(span.clone(), name), nothing)]);
            Spanned::new(span, DeValue::Table(table))
        }
        other => Spanned::new(span, other),
    }
}

/// The override's value as TOML, or else as the text that it is.
fn override_value(item: &Override) -> Spanned<DeValue<'_>> {
    let (text, base) = (item.value(), item.value_base());
    match DeValue::parse(text) {
        Ok(mut value) => {
            shift(&mut value, base);
            value
        }
        Err(_) => Spanned::new(base..base + text.len(), DeValue::String(Cow::Borrowed(text))),
    }
}

/// Moves every span by `base`.
fn shift(value: &mut Spanned<DeValue<'_>>, base: usize) {
    let span = value.span();
    let taken = std::mem::replace(value.get_mut(), DeValue::Boolean(false));
    let moved = match taken {
        DeValue::Array(mut array) => {
            array.iter_mut().for_each(|element| shift(element, base));
            DeValue::Array(array)
        }
        DeValue::Table(table) => {
            let entries = table.into_iter().map(|(key, mut value)| {
                shift(&mut value, base);
                let span = key.span();
                (Spanned::new(span.start + base..span.end + base, key.into_inner()), value)
            });
            DeValue::Table(entries.collect())
        }
        other => other,
    };
    *value = Spanned::new(span.start + base..span.end + base, moved);
}

/// The parts of a key path such as `workload.incast[1].senders`.
pub(super) fn segments(path: &str) -> Vec<(&str, Option<usize>)> {
    path.split('.')
        .filter(|part| !part.is_empty())
        .map(|part| match part.split_once('[') {
            Some((name, rest)) => (name, rest.trim_end_matches(']').parse().ok()),
            None => (part, None),
        })
        .collect()
}

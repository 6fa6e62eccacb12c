//! From text to [`Scenario`]: turns what the TOML reader says into an error that helps.

use serde_path_to_error::Path as KeyPath;

use super::error::split_help;
use super::{Document, Fault, Scenario, ScenarioError, known_names};

/// Reads the scenario that `document` holds.
pub(super) fn read(document: Document) -> Result<Scenario, ScenarioError> {
    let root = document.root()?;
    let outcome: Result<Scenario, _> =
        serde_path_to_error::deserialize(toml::Deserializer::from(root));
    match outcome {
        Ok(scenario) => Ok(Scenario { document, ..scenario }),
        Err(error) => Err(refused(&document, error.path(), error.inner())),
    }
}

fn refused(document: &Document, path: &KeyPath, error: &toml::de::Error) -> ScenarioError {
    let span = error.span().unwrap_or(0..0);
    let (message, help) = explained(error.message());
    let path = if path.iter().next().is_none() { String::new() } else { path.to_string() };
    let excerpt = document.excerpt(span.clone());
    let mut fault = match absent_key(error.message(), &excerpt) {
        Some(key) if ends_with_key(&path, key) => Fault::at(path, message),
        Some(key) => Fault::at(joined(&path, key), message),
        None if takes_one_name(error.message()) => Fault::at(path, message),
        None => Fault::at(path, message).value(excerpt),
    };
    fault.help = help;
    document.report_at(span, fault)
}

/// The key that the message is about, where there is no value to show: one that is missing, or
/// one that does not exist.
fn absent_key<'a>(message: &'a str, excerpt: &str) -> Option<&'a str> {
    // An unknown name is a table's key in `[topology.NAME]`, and a value in `recovery = "NAME"`.
    let name = quoted_after(message, "unknown variant").filter(|name| *name == excerpt);
    unknown_field(message).or(quoted_after(message, "missing field")).or(name)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

fn ends_with_key(path: &str, key: &str) -> bool {
    path == key || path.ends_with(&format!(".{key}"))
}

/// What is wrong and what to write, from serde's wording.
fn explained(message: &str) -> (String, Option<String>) {
    let names = expected_names(message);
    if let Some(field) = unknown_field(message) {
        return (format!("there is no key `{field}`"), Some(known_names(field, &names)));
    }
    if let Some(variant) = quoted_after(message, "unknown variant") {
        return (format!("there is no `{variant}`"), Some(known_names(variant, &names)));
    }
    if let Some(field) = quoted_after(message, "missing field") {
        let help = match field {
            "topology" => "add a table `[topology.NAME]`, such as `[topology.leaf-spine]`".into(),
            _ => format!("add `{field} = ...`, or a table of that name"),
        };
        return (format!("the key `{field}` is missing"), Some(help));
    }
    if takes_one_name(message) {
        let help = "write exactly one `[section.NAME]` and keep its parameters in it";
        return ("exactly one name belongs here".into(), Some(help.into()));
    }
    split_help(&plain_numbers(message))
}

/// Names of Rust's integer types, in words.
fn plain_numbers(message: &str) -> String {
    let types = [
        ("expected u8", "expected a whole number from 0 to 255"),
        ("expected u16", "expected a whole number from 0 to 65535"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected u64", "expected a whole number from 0 up"),
        ("expected f64", "expected a number"),
    ];
    let found = types.iter().find(|(name, _)| message.ends_with(name));
    found.map_or_else(|| message.into(), |(name, words)| message.replace(name, words))
}

/// A choice such as `[topology.NAME]` with no name or several.
fn takes_one_name(message: &str) -> bool {
    message.contains("wanted exactly 1 element")
}

fn unknown_field(message: &str) -> Option<&str> {
    quoted_after(message, "unknown field")
}

/// The name in backquotes after `start`.
fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    let rest = message.strip_prefix(start)?.trim_start().strip_prefix('`')?;
    rest.split('`').next()
}

/// The names in backquotes after "expected".
fn expected_names(message: &str) -> Vec<&str> {
    let expected = message.rsplit_once("expected").map_or("", |(_, names)| names);
    expected.split('`').skip(1).step_by(2).collect()
}

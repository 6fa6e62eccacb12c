//! From text to [`Scenario`]: turns what the TOML reader says into an error that helps.

use std::ops::Range;

use serde_path_to_error::Path as KeyPath;
use toml::de::DeValue;

use super::error::split_help;
use super::{Document, Fault, Scenario, ScenarioError, further_errors, known_names};

/// Reads the scenario that `document` holds.
pub(super) fn read(document: Document) -> Result<Scenario, ScenarioError> {
    match read_without(&document, &[]) {
        Ok(scenario) => Ok(Scenario { document, ..scenario }),
        Err(first) => {
            let further =
                further_errors::after(&first, |keys| read_without(&document, keys).map(drop));
            Err(first.with_further(further))
        }
    }
}

/// Reads it without these keys.
fn read_without(document: &Document, keys: &[String]) -> Result<Scenario, ScenarioError> {
    let mut root = document.root()?;
    // What a sweep does with a scenario is no part of it.
    let sweep = root.get_mut().remove("sweep");
    let names_scenario = |sweep: toml::Spanned<DeValue<'_>>| {
        sweep.get_ref().as_table().is_some_and(|sweep| sweep.contains_key("scenario"))
    };
    if sweep.is_some_and(names_scenario) {
        let fault = Fault::at("sweep.scenario", "this is the plan of a sweep, and no scenario");
        return Err(document.report(fault.help("run it by `rocelab sweep`")));
    }
    keys.iter().for_each(|key| further_errors::take_out(root.get_mut(), key));
    serde_path_to_error::deserialize(toml::Deserializer::from(root))
        .map_err(|error| refused(document, error.path(), error.inner()))
}

/// What serde says of a table where there may be several.
const ONE_OF_MANY: &str = "invalid type: map, expected a sequence";

fn refused(document: &Document, path: &KeyPath, error: &toml::de::Error) -> ScenarioError {
    let span = error.span().unwrap_or(0..0);
    let bounded = with_bounds(path, error.message());
    let (message, help) = explained(bounded.as_deref().unwrap_or(error.message()));
    let path = if path.iter().next().is_none() { String::new() } else { path.to_string() };
    let help = if error.message() == ONE_OF_MANY {
        Some(format!("write a list: `[[{path}]]`, in double brackets, above each of its tables"))
    } else if path == "switch.ecn" && quoted_after(error.message(), "missing field").is_some() {
        Some(ECN_TOGETHER.into())
    } else {
        help
    };
    let mut fault = match absent_key(document, span.clone(), error.message()) {
        Some(key) if ends_with_key(&path, key) => Fault::at(path, message),
        Some(key) => Fault::at(joined(&path, key), message),
        None if takes_one_name(error.message()) => Fault::at(path, message),
        None => {
            let key = key_of_value(path, error.message());
            Fault::at(key, message).value(document.excerpt(span.clone()))
        }
    };
    fault.help = help;
    document.report_at(span, fault)
}

/// The key that the message is about, where there is no value to show: one that is missing, or
/// one that does not exist.
fn absent_key<'a>(document: &Document, span: Range<usize>, message: &'a str) -> Option<&'a str> {
    // An unknown name is a table's key in `[topology.NAME]`, and a value in `recovery = "NAME"`.
    let name = quoted_after(message, "unknown variant")
        .filter(|name| *name == document.excerpt(span.clone()) && !document.is_set_value(&span));
    unknown_field(message).or(quoted_after(message, "missing field")).or(name)
}

/// The key of a value that names nothing: where a name is chosen, the path ends with that name.
fn key_of_value(path: String, message: &str) -> String {
    let alone = message.starts_with("invalid type: unit variant");
    let last = path.rsplit('.').next().filter(|_| alone);
    let name = quoted_after(message, "unknown variant").or(last);
    let key = name.and_then(|name| path.strip_suffix(name)?.strip_suffix('.'));
    key.map_or_else(|| path.clone(), str::to_owned)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

fn ends_with_key(path: &str, key: &str) -> bool {
    path == key || path.ends_with(&format!(".{key}"))
}

/// `ecn` without all of its keys: the others do not keep their defaults, which hold for another port rate.
const ECN_TOGETHER: &str = "write kmin, kmax and pmax together, as in `ecn = { kmin = \"100KB\", kmax = \"400KB\", pmax = 0.2 }`, \
     which are the defaults at 25Gbps (`per_rate`)";

/// What is wrong and what to write, from serde's wording.
fn explained(message: &str) -> (String, Option<String>) {
    let names = expected_names(message);
    if let Some(field) = unknown_field(message) {
        return (format!("there is no key `{field}`"), Some(known_names(field, &names)));
    }
    if let Some(variant) = quoted_after(message, "unknown variant") {
        let help = if variant.contains("flap") && names.contains(&"link-down") {
            "a link that flaps is a \"link-down\" with `lasts`, `repeat` and `interval`".into()
        } else {
            known_names(variant, &names)
        };
        return (format!("there is no `{variant}`"), Some(help));
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
    if message == "wanted string or table" {
        let help = "write a name in quotes, or a table of that name: `[section.NAME]`";
        return ("a name belongs here".into(), Some(help.into()));
    }
    split_help(&plain(message))
}

/// What Rust and serde call things, in the words of TOML.
fn plain(message: &str) -> String {
    let Some((found, expected)) = message.split_once(", expected ") else { return message.into() };
    let found = found.replace("invalid type: map", "invalid type: a table");
    let found = found.replace("invalid type: sequence", "invalid type: a list");
    let found = found.replace("invalid type: unit variant", "invalid type: a name alone");
    if let Some(length) = expected.strip_prefix("an array of length ") {
        return format!("{found}, expected a list of {length}");
    }
    let word = WORDS.iter().find(|(name, _)| *name == expected).map(|(_, word)| *word);
    let is_table = ["struct ", "newtype struct ", "struct variant ", "map", "a map"];
    let is_list = ["tuple", "a tuple", "array ", "an array"];
    let expected = match word {
        Some(word) => word,
        None if is_table.iter().any(|start| expected.starts_with(start)) => "a table",
        None if is_list.iter().any(|start| expected.starts_with(start)) => "a list",
        None => expected,
    };
    format!("{found}, expected {expected}")
}

/// The message of serde about what is no whole number, or too large or small for its type, with the bounds of its key.
fn with_bounds(path: &KeyPath, message: &str) -> Option<String> {
    let (found, expected) = message.split_once(", expected ")?;
    let largest = match expected {
        "u8" => Some(u8::MAX.into()),
        "u16" => Some(u16::MAX.into()),
        "u32" => Some(u32::MAX.into()),
        "u64" | "usize" => None,
        _ => return None,
    };
    let expected = super::bounds::in_words(path, largest)?;
    Some(format!("{found}, expected {expected}"))
}

/// The same for whole expectations.
const WORDS: [(&str, &str); 11] = [
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number from 0 up"),
    ("usize", "a whole number from 0 up"),
    ("f64", "a number"),
    ("a boolean", "true or false"),
    ("a string", "text in quotes"),
    ("a sequence", "a list"),
    ("newtype variant", "a table of that name: `[section.NAME]`"),
    ("unit variant", "a name in quotes"),
];

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

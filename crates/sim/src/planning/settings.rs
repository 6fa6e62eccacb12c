//! What a scenario says beside what would hold without it.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::resolve::with_defaults;
use crate::scenario::{Scenario, ScenarioError};

/// A value of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, with those of its tables: `switch.ecn.kmin`, `workload.flows.list[0].bytes`.
    pub key: String,
    /// The value as TOML.
    pub value: String,
    /// What would hold without the line.
    pub default: DefaultValue,
}

/// What holds where a scenario does not have a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// The same value.
    Same,
    /// Another value, as TOML.
    Other(String),
    /// None: the feature is off, or something else decides.
    None,
    /// The key cannot be left out.
    Required,
}

/// A step from a table or list to what it holds.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// Every value of the scenario in the file at `path`, such as `scenario.resolved.toml` of results, with its default:
/// each, and each table, is left out in turn, and the rest read again.
///
/// # Errors
/// As [`Scenario::load`].
pub fn settings(path: &Path) -> Result<Vec<Setting>, ScenarioError> {
    let scenario = Scenario::load(path, &[])?;
    let document = table_of(&scenario).unwrap_or_default();
    let mut places = Vec::new();
    add_places(&Value::Table(document.clone()), &mut Vec::new(), &mut places);
    let mut tables = Defaults { document: &document, path, same: BTreeMap::new() };
    let setting = |place: &Vec<Step>| Setting {
        key: key_of(place),
        value: value_at(&document, place).map(Value::to_string).unwrap_or_default(),
        default: tables.of(place),
    };
    Ok(places.iter().map(setting).collect())
}

/// Finds what holds without parts of a document.
struct Defaults<'a> {
    document: &'a Table,
    path: &'a Path,
    /// Whether tables are the same if they are left out as a whole, by key.
    same: BTreeMap<String, bool>,
}

impl Defaults<'_> {
    /// What holds without the value at `place`: `kmin` cannot be left out alone, but all of `switch.ecn` can.
    fn of(&mut self, place: &[Step]) -> DefaultValue {
        let tables = (1..place.len()).rev().map(|length| &place[..length]);
        for table in tables.filter(|table| matches!(table.last(), Some(Step::Key(_)))) {
            let key = key_of(table);
            let known = self.same.get(&key).copied();
            let same = known.unwrap_or_else(|| self.without(table) == DefaultValue::Same);
            self.same.insert(key, same);
            if same {
                return DefaultValue::Same;
            }
        }
        self.without(place)
    }

    fn without(&self, place: &[Step]) -> DefaultValue {
        let rest = without(self.document, place).and_then(|rest| toml::to_string(&rest).ok());
        let read = rest.and_then(|rest| Scenario::parse(&rest, self.path, &[]).ok());
        let Some(default) = read.as_ref().and_then(table_of) else { return DefaultValue::Required };
        match value_at(&default, place) {
            None => DefaultValue::None,
            Some(value) if Some(value) == value_at(self.document, place) => DefaultValue::Same,
            Some(value) => DefaultValue::Other(value.to_string()),
        }
    }
}

/// The scenario as a table, with the defaults that depend on other values.
fn table_of(scenario: &Scenario) -> Option<Table> {
    with_defaults(scenario).to_toml().ok()?.parse().ok()
}

/// The places of all values below `value`. A list of plain values is one value.
fn add_places(value: &Value, place: &mut Vec<Step>, places: &mut Vec<Vec<Step>>) {
    let is_table = |one: &Value| one.is_table();
    let below: Vec<(Step, &Value)> = match value {
        Value::Table(table) if !table.is_empty() => {
            table.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect()
        }
        Value::Array(list) if list.iter().any(is_table) => {
            list.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect()
        }
        _ => return places.push(place.clone()),
    };
    for (step, value) in below {
        place.push(step);
        add_places(value, place, places);
        place.pop();
    }
}

fn key_of(place: &[Step]) -> String {
    let mut key = String::new();
    for step in place {
        match step {
            Step::Key(name) if key.is_empty() => key.push_str(name),
            Step::Key(name) => key.extend([".", name]),
            Step::Index(index) => key += &format!("[{index}]"),
        }
    }
    key
}

fn value_at<'a>(document: &'a Table, place: &[Step]) -> Option<&'a Value> {
    let (first, rest) = place.split_first()?;
    let Step::Key(first) = first else { return None };
    rest.iter().try_fold(document.get(first)?, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

/// The document without what is at `place`.
fn without(document: &Table, place: &[Step]) -> Option<Table> {
    let mut document = Value::Table(document.clone());
    let (Step::Key(last), tables) = place.split_last()? else { return None };
    let table = tables.iter().try_fold(&mut document, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })?;
    table.as_table_mut()?.remove(last)?;
    match document {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_told_from_its_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scenario.toml");
        let text = "stop = \"20ms\"\n[roce]\nversion = 2\npath_mtu = 4096\n[topology.single-switch]\nhosts = 3\n\
                    link = { rate = \"100Gbps\", cable = \"3m\" }\n[workload.incast]\nsenders = 2\n\
                    bytes = \"1MB\"\n[[workload.flows]]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }]\n";
        std::fs::write(&path, text).unwrap();
        let settings = settings(&path).unwrap();
        let of = |key: &str| {
            let found = settings.iter().find(|one| one.key == key);
            let found = found.unwrap_or_else(|| panic!("{key} in {settings:?}"));
            (found.value.as_str(), found.default.clone())
        };
        assert_eq!(of("roce.path_mtu"), ("4096", DefaultValue::Other("1024".to_owned())));
        assert_eq!(of("seed"), ("1", DefaultValue::Same));
        assert_eq!(of("stop"), ("\"20ms\"", DefaultValue::None));
        assert_eq!(of("topology.single-switch.hosts"), ("3", DefaultValue::Required));
        assert_eq!(of("switch.lossless"), ("[3]", DefaultValue::Same));
        // DCQCN needs marks, and so marking has thresholds that nobody wrote.
        let thresholds = settings.iter().filter(|one| one.key.starts_with("switch.ecn."));
        assert!(thresholds.clone().count() >= 3);
        assert!(thresholds.clone().all(|one| one.default == DefaultValue::Same), "{settings:?}");
        assert!(settings.iter().any(|one| {
            one.key.ends_with("list[0].bytes") && one.default == DefaultValue::Required
        }));
    }
}

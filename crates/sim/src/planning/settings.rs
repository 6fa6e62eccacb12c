//! What a scenario says beside what would hold without it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rocelab_units::Bandwidth;
use toml::{Table, Value};

use super::resolve::{effective, host_rate};
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

type Place = Vec<Step>;

/// Every value of the scenario in the file at `path`, such as `scenario.resolved.toml` of results, with its default:
/// each, and each table, is left out in turn, and the rest read again. Those in tables of a list that have the same keys
/// are left out together: a list of thousands is not read thousands of times.
///
/// # Errors
/// As [`Scenario::load`].
pub fn settings(path: &Path) -> Result<Vec<Setting>, ScenarioError> {
    let scenario = Scenario::load(path, &[])?;
    let rate = host_rate(&scenario);
    let document = table_of(&scenario, rate).unwrap_or_default();
    let mut defaults = Defaults::new((&document, rate), path);
    let places = values(&document);
    let setting = |place: &Place| Setting {
        key: key_of(place),
        value: value_at(&document, place).map(Value::to_string).unwrap_or_default(),
        default: defaults.of(place),
    };
    Ok(places.iter().map(setting).collect())
}

/// Finds what holds without parts of a document.
struct Defaults<'a> {
    document: &'a Table,
    /// The rate of all hosts' links, if they have the same, which some defaults follow from.
    rate: Option<Bandwidth>,
    path: &'a Path,
    /// The places of all values and tables, by their pattern: see [`pattern_of`].
    alike: BTreeMap<String, Vec<Place>>,
    /// What holds without those that were left out already, by key.
    known: BTreeMap<String, DefaultValue>,
    /// How often the rest of the document was read.
    readings: usize,
}

impl<'a> Defaults<'a> {
    fn new((document, rate): (&'a Table, Option<Bandwidth>), path: &'a Path) -> Self {
        let mut alike: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for place in values(document) {
            for length in 1..=place.len() {
                let part = &place[..length];
                // Values follow each other, so a table is seen once for each of them.
                if matches!(part.last(), Some(Step::Key(_))) && seen.insert(key_of(part)) {
                    alike.entry(pattern_of(document, part)).or_default().push(part.to_vec());
                }
            }
        }
        Self { document, rate, path, alike, known: BTreeMap::new(), readings: 0 }
    }

    /// What holds without the value at `place`: `kmin` cannot be left out alone, but all of `switch.ecn` can.
    fn of(&mut self, place: &[Step]) -> DefaultValue {
        let tables = (1..place.len()).rev().map(|length| &place[..length]);
        for table in tables.filter(|table| matches!(table.last(), Some(Step::Key(_)))) {
            if self.without(table) == DefaultValue::Same {
                return DefaultValue::Same;
            }
        }
        self.without(place)
    }

    fn without(&mut self, place: &[Step]) -> DefaultValue {
        let key = key_of(place);
        if !self.known.contains_key(&key) {
            self.leave_out(&pattern_of(self.document, place));
        }
        self.known.get(&key).cloned().unwrap_or(DefaultValue::Required)
    }

    /// Reads the document without all values of a pattern.
    fn leave_out(&mut self, pattern: &str) {
        self.readings += 1;
        let places = self.alike.get(pattern).map(Vec::as_slice).unwrap_or_default();
        let rest = without(self.document, places).and_then(|rest| toml::to_string(&rest).ok());
        let read = rest.and_then(|rest| Scenario::parse(&rest, self.path, &[]).ok());
        let read = read.as_ref().and_then(|scenario| table_of(scenario, self.rate));
        for place in places {
            let default = match &read {
                None => DefaultValue::Required,
                Some(read) => default_at(self.document, read, place),
            };
            self.known.insert(key_of(place), default);
        }
    }
}

/// What holds at a place according to a document in which it was left out.
fn default_at(document: &Table, read: &Table, place: &[Step]) -> DefaultValue {
    match value_at(read, place) {
        None => DefaultValue::None,
        Some(value) if Some(value) == value_at(document, place) => DefaultValue::Same,
        Some(value) => DefaultValue::Other(value.to_string()),
    }
}

/// The key of a place, with the keys of a table in place of its number in a list. Tables with other keys may need what
/// these may leave out.
fn pattern_of(document: &Table, place: &[Step]) -> String {
    let mut pattern = String::new();
    for (length, step) in (1..).zip(place) {
        match step {
            Step::Key(name) => pattern.extend([".", name]),
            Step::Index(_) => {
                let table = value_at(document, &place[..length]).and_then(Value::as_table);
                let keys: Vec<&str> = table.into_iter().flatten().map(|(key, _)| &**key).collect();
                pattern += &format!("[{}]", keys.join(" "));
            }
        }
    }
    pattern
}

/// The places of all values of a document.
fn values(document: &Table) -> Vec<Place> {
    let mut places = Vec::new();
    for (key, value) in document {
        add_places(value, &mut vec![Step::Key(key.clone())], &mut places);
    }
    places
}

/// The scenario as a table, with the defaults that depend on other values.
fn table_of(scenario: &Scenario, rate: Option<Bandwidth>) -> Option<Table> {
    effective(scenario, rate).to_toml().ok()?.parse().ok()
}

/// The places of all values below `value`. A list of plain values is one value.
fn add_places(value: &Value, place: &mut Place, places: &mut Vec<Place>) {
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

/// The document without what is at these places.
fn without(document: &Table, places: &[Place]) -> Option<Table> {
    let mut document = Value::Table(document.clone());
    for place in places {
        let (Step::Key(last), tables) = place.split_last()? else { return None };
        let table = tables.iter().try_fold(&mut document, |value, step| match step {
            Step::Key(key) => value.get_mut(key),
            Step::Index(index) => value.get_mut(index),
        })?;
        table.as_table_mut()?.remove(last)?;
    }
    match document {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::Planning;
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

    const RATE: Option<Bandwidth> = Some(Bandwidth::from_gbps(100));

    /// Results have all values of presets written out: nobody chose these.
    #[test]
    fn values_of_presets_are_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scenario.toml");
        let rest = "[topology.single-switch]\nhosts = 3\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
                    [workload.incast]\nsenders = 2\nbytes = \"1MB\"\n";
        for (chosen, differing) in [
            ("", &[][..]),
            ("[congestion_control.dcqcn]\npreset = \"hpcc\"\ng = 0.1\n", &["preset", "g"]),
        ] {
            std::fs::write(&path, format!("{chosen}{rest}")).unwrap();
            let scenario = Scenario::load(&path, &[]).unwrap();
            std::fs::write(&path, scenario.resolved().to_toml().unwrap()).unwrap();
            let settings = settings(&path).unwrap();
            let of_algorithm: Vec<_> =
                settings.iter().filter(|one| one.key.starts_with("congestion_control.")).collect();
            assert!(of_algorithm.len() > 5, "{settings:?}");
            let others = of_algorithm.iter().filter(|one| one.default != DefaultValue::Same);
            let mut names: Vec<_> = others.map(|one| one.key.rsplit('.').next().unwrap()).collect();
            names.sort_by_key(|name| differing.iter().position(|one| one == name));
            assert_eq!(names, differing, "{settings:?}");
        }
    }

    /// A scenario with a list of so many flows, of which every second one has a priority of its own.
    fn with_flows(folder: &Path, flows: usize) -> (PathBuf, Table) {
        let list: String = (0..flows)
            .map(|flow| {
                let priority = if flow % 2 == 0 { "" } else { "priority = 4" };
                format!("[[workload.flows.list]]\nfrom = \"host-0\"\nto = \"host-1\"\nbytes = \"{}KB\"\n{priority}\n", flow + 1)
            })
            .collect();
        let path = folder.join("flows.toml");
        let text = format!(
            "[topology.single-switch]\nhosts = 3\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n{list}"
        );
        std::fs::write(&path, text).unwrap();
        let document = table_of(&Scenario::load(&path, &[]).unwrap(), RATE).unwrap();
        (path, document)
    }

    /// A scenario is not read again for each element of a list.
    #[test]
    fn lists_of_thousands_are_read_as_often_as_short_ones() {
        let folder = tempfile::tempdir().unwrap();
        let readings = |flows| {
            let (path, document) = with_flows(folder.path(), flows);
            let mut defaults = Defaults::new((&document, RATE), &path);
            let places = values(&document);
            let found: Vec<_> =
                places.iter().map(|place| (key_of(place), defaults.of(place))).collect();
            assert!(found.len() > 3 * flows, "{}", found.len());
            (defaults.readings, found)
        };
        let (few, found) = readings(4);
        let of =
            |key: &str| found.iter().find(|(other, _)| other.ends_with(key)).unwrap().1.clone();
        assert_eq!(of("list[3].bytes"), DefaultValue::Required);
        assert_eq!(of("list[3].priority"), DefaultValue::None);
        let (many, found) = readings(2_000);
        assert_eq!(many, few);
        assert!(few < 150, "{few}");
        assert_eq!(found.iter().filter(|(key, _)| key.ends_with(".bytes")).count(), 2_000);
    }
}

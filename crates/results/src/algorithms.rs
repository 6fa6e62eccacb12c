//! The congestion control of a run, read from the scenario as it ran.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use crate::{ResultsError, SCENARIO_TOML};

/// The section that names an algorithm for the whole scenario.
const SECTION: &str = "congestion_control";

/// A congestion control that a scenario names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlgorithmChoice {
    /// The section that names it, such as `congestion_control` or `class.3.congestion_control`.
    pub section: String,
    /// Its name, such as `dcqcn`.
    pub name: String,
    /// Its parameters as text, by key, without those that follow from a preset or from the path.
    pub parameters: BTreeMap<String, String>,
}

impl AlgorithmChoice {
    /// Its name, and its preset if there is one: `dcqcn (preset paper)`.
    pub fn title(&self) -> String {
        match self.parameters.get("preset") {
            Some(preset) => format!("{} (preset {preset})", self.name),
            None => self.name.clone(),
        }
    }
}

/// All of them in the order of their sections; empty if there is no such file.
pub(crate) fn read(folder: &Path) -> Result<Vec<AlgorithmChoice>, ResultsError> {
    let path = folder.join(SCENARIO_TOML);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(&path).map_err(ResultsError::read(&path))?;
    let scenario: Table = toml::from_str(&text)
        .map_err(|error| ResultsError::Malformed { path, reason: error.to_string() })?;
    let mut found = Vec::new();
    add(&scenario, "", &mut found);
    // The algorithm of the whole scenario comes first.
    found.sort_by_key(|choice| choice.section != SECTION);
    Ok(found)
}

fn add(table: &Table, place: &str, found: &mut Vec<AlgorithmChoice>) {
    for (key, value) in table {
        let section = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        match value {
            Value::Table(named) if key == SECTION => {
                found.extend(named.iter().map(|(name, parameters)| AlgorithmChoice {
                    section: section.clone(),
                    name: name.clone(),
                    parameters: parameters_of(parameters),
                }));
            }
            Value::Table(inner) => add(inner, &section, found),
            Value::Array(all) => {
                for (index, one) in all.iter().enumerate() {
                    if let Value::Table(inner) = one {
                        add(inner, &format!("{section}[{index}]"), found);
                    }
                }
            }
            _ => {}
        }
    }
}

fn parameters_of(value: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let table = value.as_table().into_iter().flatten();
    table.map(|(key, value)| (key.clone(), text(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(text: &str) -> Vec<AlgorithmChoice> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SCENARIO_TOML), text).unwrap();
        read(folder.path()).unwrap()
    }

    #[test]
    fn every_section_that_names_one_is_found() {
        let found = read_from(
            "[class.3.congestion_control.hpcc]\neta = \"0.9\"\n\
             [congestion_control.dcqcn]\npreset = \"paper\"\nfast_recovery = 5\n\
             [[workload.incast]]\nsenders = 1\n\
             [[workload.incast]]\ncongestion_control = { none = {} }\n",
        );
        let titles: Vec<_> =
            found.iter().map(|choice| (choice.section.as_str(), choice.title())).collect();
        assert_eq!(
            titles,
            [
                ("congestion_control", "dcqcn (preset paper)".to_owned()),
                ("class.3.congestion_control", "hpcc".to_owned()),
                ("workload.incast[1].congestion_control", "none".to_owned()),
            ]
        );
        assert_eq!(found[0].parameters["fast_recovery"], "5");
        assert!(read_from("seed = 1\n").is_empty());
        assert!(read(tempfile::tempdir().unwrap().path()).unwrap().is_empty());
    }
}

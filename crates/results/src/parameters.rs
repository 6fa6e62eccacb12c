//! The effective parameters of a run, read from the scenario as it ran.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use crate::{ResultsError, SCENARIO_TOML};

/// Every key of the scenario with its value as text; empty if there is no such file.
pub(crate) fn read(folder: &Path) -> Result<BTreeMap<String, String>, ResultsError> {
    let path = folder.join(SCENARIO_TOML);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = std::fs::read_to_string(&path).map_err(ResultsError::read(&path))?;
    let scenario: Table = toml::from_str(&text)
        .map_err(|error| ResultsError::Malformed { path, reason: error.to_string() })?;
    let mut found = BTreeMap::new();
    add(&Value::Table(scenario), "", &mut found);
    Ok(found)
}

fn add(value: &Value, key: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) if !table.is_empty() => {
            for (name, inner) in table {
                let inner_key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                add(inner, &inner_key, found);
            }
        }
        Value::Array(all) if all.iter().any(Value::is_table) => {
            for (index, inner) in all.iter().enumerate() {
                add(inner, &format!("{key}[{index}]"), found);
            }
        }
        Value::String(text) => {
            found.insert(key.to_owned(), text.clone());
        }
        other => {
            found.insert(key.to_owned(), other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_place() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap().is_empty());
        let text = "seed = 1\n[congestion_control.none]\n[switch]\nlossless = [3, 4]\n\
                    [[workload.incast]]\nbytes = \"1MB\"\n[[workload.incast]]\nsenders = 2\n";
        std::fs::write(folder.path().join(SCENARIO_TOML), text).unwrap();
        let found = read(folder.path()).unwrap();
        let expected = [
            ("congestion_control.none", "{}"),
            ("seed", "1"),
            ("switch.lossless", "[3, 4]"),
            ("workload.incast[0].bytes", "1MB"),
            ("workload.incast[1].senders", "2"),
        ];
        let found: Vec<_> = found.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
        assert_eq!(found, expected);
        std::fs::write(folder.path().join(SCENARIO_TOML), "no scenario").unwrap();
        assert!(matches!(read(folder.path()), Err(ResultsError::Malformed { .. })));
    }
}

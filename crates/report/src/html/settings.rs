//! The scenario of a run: its values, and which of them are not the defaults.

use serde_json::json;

use super::samples::Quantity;
use super::tables::Table;

/// A value of a scenario, as the caller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioSetting {
    /// The key, with those of its tables: `switch.ecn.kmin`.
    pub key: String,
    /// The value as TOML.
    pub value: String,
    /// What would hold without it.
    pub default: SettingDefault,
}

/// What holds where a scenario does not have a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingDefault {
    /// The same value.
    Same,
    /// Another value, as TOML.
    Other(String),
    /// None: the feature is off, or something else decides.
    None,
    /// The key cannot be left out.
    Required,
}

/// Two tables: what the scenario says of its own accord, and what is left at its default; none without settings.
pub(crate) fn settings(settings: &[ScenarioSetting]) -> Vec<Table> {
    if settings.is_empty() {
        return Vec::new();
    }
    let (same, own): (Vec<_>, Vec<_>) =
        settings.iter().partition(|one| one.default == SettingDefault::Same);
    let key = |one: &&ScenarioSetting| json!(one.key);
    let value = |one: &&ScenarioSetting| json!(one.value.trim_matches('"'));
    let default = |one: &&ScenarioSetting| {
        json!(match &one.default {
            SettingDefault::Same => "the same",
            SettingDefault::Other(value) => value.trim_matches('"'),
            SettingDefault::None => "none",
            SettingDefault::Required => "must be given",
        })
    };
    let file = "scenario.resolved.toml";
    vec![
        Table::of(
            ("settings", "What differs from the defaults", file),
            (0, false),
            &own,
            &[
                ("Key", Quantity::Text, &key),
                ("Value", Quantity::Text, &value),
                ("Default", Quantity::Text, &default),
            ],
        ),
        Table::of(
            ("defaults", "What is as by default", file),
            (0, false),
            &same,
            &[("Key", Quantity::Text, &key), ("Value", Quantity::Text, &value)],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_comes_apart_from_defaults() {
        let setting = |key: &str, value: &str, default| ScenarioSetting {
            key: key.to_owned(),
            value: value.to_owned(),
            default,
        };
        let tables = settings(&[
            setting("roce.path_mtu", "4096", SettingDefault::Other("1024".to_owned())),
            setting("seed", "1", SettingDefault::Same),
            setting("stop", "\"20ms\"", SettingDefault::None),
            setting("workload.incast.senders", "2", SettingDefault::Required),
        ]);
        let rows = [
            vec![json!("roce.path_mtu"), json!("4096"), json!("1024")],
            vec![json!("stop"), json!("20ms"), json!("none")],
            vec![json!("workload.incast.senders"), json!("2"), json!("must be given")],
        ];
        assert_eq!(tables[0].rows, rows);
        assert_eq!(tables[1].rows, [[json!("seed"), json!("1")]]);
        assert!(settings(&[]).is_empty());
    }
}

//! One combination of values.

use std::fmt;

use crate::Setting;

/// A point of a sweep: what is set for one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// What is set, in the order of the sweep's file; a later setting may replace a part of an earlier one.
    pub settings: Vec<Setting>,
}

impl Point {
    /// This point with more settings.
    pub(crate) fn with(&self, more: &[Setting]) -> Self {
        Self { settings: [&self.settings, more].concat() }
    }

    /// The settings as overrides of a scenario.
    pub fn overrides(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|one| (one.key.clone(), one.text.clone())).collect()
    }

    /// What is set for a key.
    pub fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().rfind(|setting| setting.key == key)
    }
}

/// `switch.alpha=1/16 seed=3`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, setting) in self.settings.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            write!(f, "{space}{}={}", setting.key, setting.value.to_text())?;
        }
        Ok(())
    }
}

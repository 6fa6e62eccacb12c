//! A key with a value.

use std::ops::Range;

/// A key of a scenario, set to a value for one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The key, as for `--set`: `switch.ecn.kmin`.
    pub key: String,
    /// The value as TOML.
    pub text: String,
    /// What tables say of it.
    pub value: SettingValue,
    /// Where the value, or what it was drawn from, stands in the text of the sweep (bytes).
    pub span: Range<usize>,
}

/// A value as a table has it.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Anything else: a text without its quotes, or TOML.
    Text(String),
}

impl SettingValue {
    /// The value in a column of texts.
    pub fn to_text(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Setting {
    /// The seed of a run.
    pub fn seed(seed: i64, span: Range<usize>) -> Self {
        let value = SettingValue::Integer(seed);
        Self { key: "seed".to_owned(), text: seed.to_string(), value, span }
    }
}

//! A traffic class by its number.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A priority, 0 to 7 (IEEE 802.1Q), as the name of a table or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Priority(u8);

impl Priority {
    /// The priority of this number, if there is one.
    pub const fn new(number: u8) -> Option<Self> {
        if number <= 7 { Some(Self(number)) } else { None }
    }

    /// Its number, 0 to 7.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl TryFrom<String> for Priority {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text.parse().ok().and_then(Self::new);
        number.ok_or_else(|| format!("priority {text} does not exist: use a priority from 0 to 7"))
    }
}

impl From<Priority> for String {
    fn from(priority: Priority) -> Self {
        priority.0.to_string()
    }
}

/// The JSON Schema of a table with a `T` for each of some priorities.
pub fn by_priority_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let value = generator.subschema_for::<T>().to_value();
    let properties: serde_json::Map<_, _> =
        (0..=7).map(|priority: u8| (priority.to_string(), value.clone())).collect();
    schemars::json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

//! `[class.N]`: what the flows of one priority do otherwise than all others.

use rocelab_transport::Algorithm;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A priority, 0 to 7, as the name of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Priority(u8);

impl Priority {
    /// The priority of this number, if there is one.
    pub const fn new(number: u8) -> Option<Self> {
        if number <= 7 { Some(Self(number)) } else { None }
    }

    /// Its number.
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

/// The JSON Schema of all classes: a table for each priority.
pub(super) fn classes_schema(generator: &mut SchemaGenerator) -> Schema {
    let class = generator.subschema_for::<ClassConfig>().to_value();
    let properties: serde_json::Map<_, _> =
        (0..=7).map(|priority: u8| (priority.to_string(), class.clone())).collect();
    schemars::json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// `[class.N]`: the flows of priority N.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassConfig {
    /// How they react to congestion, if their workload does not say. Default: as all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
}

//! The JSON Schema of `[sweep]`, which is no part of a scenario: `rocelab sweep` reads it.

use serde_json::{Value, json};

/// The schema of the table.
pub(crate) fn sweep_schema() -> Value {
    let list = json!({ "type": "array", "minItems": 1 });
    // A list for each key; keys with dots need no quotes, so that tables may be within tables.
    let lists = json!({ "type": "object", "additionalProperties": { "anyOf": [list, { "type": "object" }] } });
    json!({
        "description": "Values that `rocelab sweep` runs the scenario with.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "scenario": {
                "description": "The scenario, if it is not in this file.",
                "type": "string"
            },
            "seeds": {
                "description": "How many seeds, from 1 on, or a list of them.",
                "anyOf": [
                    { "type": "integer", "minimum": 1 },
                    { "type": "array", "minItems": 1, "items": { "type": "integer", "minimum": 0 } }
                ]
            },
            "grid": described(&lists, "Lists: each value with each value of all others."),
            "zip": {
                "description": "Lists whose first values belong together, then the second: any number of `[[sweep.zip]]`.",
                "type": "array",
                "items": lists
            },
            "points": {
                "description": "Settings that belong together: any number of `[[sweep.points]]`.",
                "type": "array",
                "items": { "type": "object" }
            },
            "random": {
                "description": "Values that are drawn.",
                "type": "object",
                "additionalProperties": false,
                "required": ["draws", "keys"],
                "properties": {
                    "draws": { "description": "How many points are drawn.", "type": "integer", "minimum": 1 },
                    "seed": { "description": "Where the draws start.", "type": "integer", "minimum": 0, "default": 1 },
                    "keys": {
                        "description": "For each key a list, or a range: `{ from = 1, to = 100, scale = \"log\" }`.",
                        "type": "object"
                    }
                }
            }
        }
    })
}

fn described(schema: &Value, description: &str) -> Value {
    let mut schema = schema.clone();
    schema["description"] = description.into();
    schema
}

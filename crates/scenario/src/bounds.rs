//! Bounds of numbers, as the schema says them.

use serde_json::Value;
use serde_path_to_error::{Path as KeyPath, Segment};

use super::Scenario;

/// The bounds of the whole number at a path in a scenario, in words, where its type has a largest one or none; nothing where the schema
/// says nothing, or several things.
pub(super) fn in_words(path: &KeyPath, largest: Option<u64>) -> Option<String> {
    let schema = Scenario::json_schema();
    let mut found = vec![&schema];
    for segment in path.iter() {
        let places = choices(&schema, found).into_iter();
        found = places.flat_map(|place| parts(place, segment)).collect();
    }
    let numbers = choices(&schema, found).into_iter().filter(|place| place["type"] != "null");
    let mut bounds: Vec<_> = numbers.map(|place| (&place["minimum"], &place["maximum"])).collect();
    bounds.dedup();
    match bounds[..] {
        [(least, most)] if least.is_u64() || most.is_u64() => {
            let least = least.as_u64().unwrap_or(0);
            let up = || "up".to_owned();
            let most = most.as_u64().or(largest).map_or_else(up, |most| format!("to {most}"));
            Some(format!("a whole number from {least} {most}"))
        }
        _ => None,
    }
}

/// What each of some schemas stands for: references are followed, and choices are told apart.
fn choices<'a>(root: &'a Value, schemas: Vec<&'a Value>) -> Vec<&'a Value> {
    let mut open = schemas;
    let mut found = Vec::new();
    while let Some(schema) = open.pop() {
        let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
        let of = |key: &str| schema[key].as_array().into_iter().flatten();
        open.extend(name.and_then(|name| root.pointer(name)));
        open.extend(of("anyOf").chain(of("oneOf")).chain(of("allOf")));
        let points = ["$ref", "anyOf", "oneOf"].iter().any(|key| !schema[key].is_null());
        let says = ["properties", "minimum", "maximum"].iter().any(|key| !schema[key].is_null());
        if says || !points {
            found.push(schema);
        }
    }
    found
}

/// The schemas of a part of what a schema describes.
fn parts<'a>(schema: &'a Value, segment: &Segment) -> Option<&'a Value> {
    match segment {
        Segment::Seq { .. } => schema.get("items"),
        Segment::Map { key } | Segment::Enum { variant: key } => {
            let named = schema.get("properties").and_then(|all| all.get(key));
            named.or_else(|| schema.get("additionalProperties").filter(|any| any.is_object()))
        }
        Segment::Unknown => None,
    }
}

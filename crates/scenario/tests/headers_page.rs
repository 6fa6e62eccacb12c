//! Scenario keys that `docs/headers.md` names exist.

use std::collections::BTreeSet;

use rocelab_scenario::Scenario;
use serde_json::Value;

/// Stands for any name of a table: `workload.NAME.verb`.
const ANY: &str = "NAME";

/// The column of keys in a table of fields, from 0, and how many columns there are.
const KEYS: usize = 4;
const COLUMNS: usize = 7;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/headers.md");
    std::fs::read_to_string(path).expect("the page")
}

/// The words in backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// All forms of what a schema describes: of references what they lead to, of lists their items.
fn forms<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Value> {
    let mut found = vec![schema];
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        found.extend(forms(target.expect("a definition"), root));
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        let alternatives = schema[several].as_array().into_iter().flatten();
        found.extend(alternatives.flat_map(|one| forms(one, root)));
    }
    if schema["items"].is_object() {
        found.extend(forms(&schema["items"], root));
    }
    found
}

/// Whether a scenario has a key, such as `roce.hop_limit`.
fn has(key: &str, root: &Value) -> bool {
    let mut here = vec![root];
    for part in key.split('.') {
        let mut next = Vec::new();
        for form in here.into_iter().flat_map(|schema| forms(schema, root)) {
            let properties = form["properties"].as_object().into_iter().flatten();
            next.extend(properties.filter(|(name, _)| part == ANY || part == *name).map(|of| of.1));
        }
        here = next;
    }
    !here.is_empty()
}

/// The keys in the column of keys, and what else in the page begins as a key of a table does.
fn keys<'a>(page: &'a str, root: &Value) -> BTreeSet<&'a str> {
    let mut keys = BTreeSet::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        if cells.len() == COLUMNS {
            keys.extend(quoted(cells[KEYS]));
        }
        let with_point = quoted(line).filter_map(|text| Some((text, text.split_once('.')?.0)));
        let known = with_point.filter(|(_, first)| root["properties"].get(first).is_some());
        keys.extend(known.map(|(text, _)| text.split(' ').next().unwrap_or(text)));
    }
    keys
}

#[test]
fn every_key_that_the_page_names_exists() {
    let (page, schema) = (page(), Scenario::json_schema());
    let keys = keys(&page, &schema);
    assert!(keys.len() > 40, "{keys:?}");
    let unknown: Vec<_> = keys.into_iter().filter(|key| !has(key, &schema)).collect();
    assert!(unknown.is_empty(), "docs/headers.md names keys that do not exist: {unknown:?}");
    assert!(!has("roce.no_such_key", &schema) && !has("workload.NAME.no_such_key", &schema));
}

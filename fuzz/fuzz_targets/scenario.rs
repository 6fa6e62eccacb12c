//! Any text is a scenario or an error, never a panic; what is accepted is written and read back.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_sim::{Planning, Scenario};

/// Larger networks are valid, but would only show how much memory there is.
const MOST_NODES: u64 = 64;
const MOST_FLOWS: usize = 1_000;

fuzz_target!(|text: &str| {
    let path = Path::new("fuzz.toml");
    let Ok(scenario) = Scenario::parse(text, path, &[]) else { return };
    // Files are out of the fuzzer's hands.
    if !scenario.input_files().is_empty() {
        return;
    }
    let topology = serde_json::to_value(&scenario.topology).expect("a topology is plain data");
    if largest_number(&topology) > MOST_NODES {
        return;
    }
    let Ok(plan) = scenario.plan_within(MOST_FLOWS) else { return };
    let Ok(resolved) = scenario.resolved().to_toml() else { return };
    let again = Scenario::parse(&resolved, path, &[]).expect("the resolved scenario is valid");
    let again = again.plan_within(MOST_FLOWS).expect("the resolved scenario has a plan");
    assert_eq!(again.flows, plan.flows);
});

fn largest_number(value: &serde_json::Value) -> u64 {
    match value {
        serde_json::Value::Number(number) => number.as_u64().unwrap_or(u64::MAX),
        serde_json::Value::Array(items) => items.iter().map(largest_number).max().unwrap_or(0),
        serde_json::Value::Object(map) => map.values().map(largest_number).max().unwrap_or(0),
        _ => 0,
    }
}

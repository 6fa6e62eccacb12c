//! Every kind of bad input gives one error with file, line, key, value and what to write instead.

mod app;
mod congestion_control;
mod faults;
mod host_model;
mod ingress;
mod layer2;
mod link;
mod multicast;
mod ports;
mod profile;
mod reading;
mod roce;
mod route;
mod server;
mod slow_receiver;
mod switch;
mod tcp;
mod telemetry;
mod topology;
mod workload;

use std::path::{Path, PathBuf};

use rocelab_sim::{Planning, Scenario, ScenarioError};

/// What an error must say.
struct Expected<'a> {
    /// `file:line`; the file's name alone.
    place: &'a str,
    key: &'a str,
    value: &'a str,
    /// A part of the message.
    message: &'a str,
    /// A part of the help.
    help: &'a str,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn plan(toml: &str, overrides: &[(&str, &str)]) -> Result<(), ScenarioError> {
    let overrides: Vec<_> =
        overrides.iter().map(|&(key, value)| (key.into(), value.into())).collect();
    let scenario = Scenario::parse(toml, &folder().join("s.toml"), &overrides)?;
    scenario.plan().map(drop)
}

#[track_caller]
fn check(toml: &str, expected: Expected<'_>) {
    check_error(&plan(toml, &[]).expect_err("this scenario was accepted"), &expected);
}

#[track_caller]
fn check_error(error: &ScenarioError, expected: &Expected<'_>) {
    let text = error.to_string();
    let file = error.file().file_name().unwrap_or_default().to_string_lossy();
    assert_eq!(format!("{file}:{}", error.line()), expected.place, "place of: {text}");
    assert_eq!(error.key(), expected.key, "key of: {text}");
    assert_eq!(error.value(), expected.value, "value of: {text}");
    assert!(error.message().contains(expected.message), "message of: {text}");
    let help = error.help().unwrap_or_default();
    assert!(!expected.help.is_empty() && help.contains(expected.help), "help of: {text}");
    assert!(!text.contains('\n'), "more than a line: {text}");
    assert!(error.column() > 0 && error.span().end <= error.text().len(), "span of: {text}");
}

/// A scenario of four hosts; `extra` begins on line 1, the base after it.
fn with(extra: &str) -> String {
    format!("{extra}\n{TOPOLOGY}{WORKLOAD}")
}

const TOPOLOGY: &str = "[topology.single-switch]\nhosts = 4\n\
                        link = { rate = \"100Gbps\", cable = \"3m\" }\n";
const WORKLOAD: &str = "[workload.incast]\nsenders = 3\nbytes = \"1MB\"\n";

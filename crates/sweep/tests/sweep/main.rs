//! Sweeps from their text to their tables.

mod errors;
mod plans;
mod tables;

use std::path::Path;

use rocelab_scenario::ScenarioError;
use rocelab_sweep::Sweep;

/// A scenario of three hosts that runs in a moment.
const SMALL: &str = "[topology.single-switch]\nhosts = 3\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
     [workload.incast]\nsenders = 2\nbytes = \"10KB\"\n";

/// That scenario with a `[sweep]` below it.
fn sweep(text: &str) -> Result<Sweep, ScenarioError> {
    Sweep::parse(&format!("{SMALL}{text}"), Path::new("plan.toml"), &[])
}

/// The points as text.
fn points(text: &str) -> Vec<String> {
    let sweep = sweep(text).unwrap_or_else(|error| panic!("{error}"));
    sweep.points().iter().map(ToString::to_string).collect()
}

//! Builds the topology, and finds the places of what is wrong with it.

use rocelab_fabric::Topology;
use rocelab_fabric::topology::TopologyError;

use crate::scenario::{Fault, FilePlace, Place, Scenario};

/// The scenario's topology, which is connected and has at least two hosts.
pub(super) fn build(scenario: &Scenario) -> Result<Topology, Fault> {
    let section = format!("topology.{}", scenario.topology.name());
    let topology = scenario
        .topology
        .build(scenario.folder())
        .map_err(|error| placed(error).within(&section))?;
    topology.check().map_err(|fault| {
        Fault::at(&section, fault.to_string()).help("give every node a path to every other")
    })?;
    Ok(topology)
}

fn placed(error: TopologyError) -> Fault {
    match error {
        TopologyError::Parameter { key, value, problem, fix } => {
            Fault::at(key, problem).value(value).help(fix)
        }
        TopologyError::Unreadable { key, path, problem, fix } => {
            Fault::at(key, format!("`{}` cannot be read: {problem}", path.display())).help(fix)
        }
        TopologyError::File { path, line, column, value, problem, fix } => {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let start = position(&text, line, column);
            let end = text.len().min(start + value.len());
            let mut fault = Fault::at("", problem).value(value).help(fix);
            let key = format!("line {line}");
            fault.place = Place::File(Box::new(FilePlace {
                file: path,
                text: text.into(),
                span: start..end,
                key,
            }));
            fault
        }
        other => Fault::at("", other.to_string()),
    }
}

/// The byte position of a line and column, both from 1.
fn position(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n');
    let start: usize = lines.clone().take(line.saturating_sub(1)).map(str::len).sum();
    let line = lines.clone().nth(line.saturating_sub(1)).unwrap_or_default();
    let within = line.char_indices().nth(column.saturating_sub(1));
    start + within.map_or(line.len(), |(position, _)| position)
}

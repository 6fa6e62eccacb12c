//! The link directions of a rule.

use rocelab_fabric::{NodeId, Topology};

use crate::scenario::{Fault, FaultConfig};

/// Every link direction from `from` to `to`, by the port that sends: node and port number.
pub(super) fn directions(
    config: &FaultConfig,
    topology: &Topology,
) -> Result<Vec<(NodeId, u16)>, Fault> {
    let node = |key: &str, name: &Option<String>| {
        name.as_ref().map(|name| node(key, name, topology)).transpose()
    };
    let (from, to) = (node("from", &config.from)?, node("to", &config.to)?);
    let adjacency = topology.adjacency();
    let mut found = Vec::new();
    for sender in (0u32..).take(topology.nodes.len()) {
        if from.is_some_and(|from| from != sender) {
            continue;
        }
        for (number, neighbour) in (0u16..).zip(adjacency.ports_of(sender)) {
            if to.is_none_or(|to| to == neighbour.node) {
                found.push((sender, number));
            }
        }
    }
    match (found.is_empty(), from, to) {
        (true, Some(from), Some(to)) => Err(no_link(from, to, topology)),
        _ => Ok(found),
    }
}

fn node(key: &str, name: &str, topology: &Topology) -> Result<NodeId, Fault> {
    topology.node_by_name(name.trim()).ok_or_else(|| {
        Fault::at(key, format!("there is no node `{name}`"))
            .help(format!("there are {}", topology.describe_names()))
    })
}

fn no_link(from: NodeId, to: NodeId, topology: &Topology) -> Fault {
    let name = |node: NodeId| topology.nodes[node as usize].name.as_str();
    let adjacency = topology.adjacency();
    let mut neighbours: Vec<_> =
        adjacency.ports_of(from).iter().map(|port| name(port.node)).collect();
    neighbours.dedup();
    neighbours.truncate(8);
    Fault::at("to", format!("no link goes from `{}` to `{}`", name(from), name(to))).help(format!(
        "`{}` has links to {}",
        name(from),
        neighbours.join(", ")
    ))
}

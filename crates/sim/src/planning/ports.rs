//! Ports by name, wherever a scenario lists some.

use std::collections::BTreeSet;

use rocelab_fabric::topology::{Adjacency, NodeSelector, PortReferenceError, matches_pattern};
use rocelab_fabric::{NodeId, Topology};

use crate::plan::CapturePlan;
use crate::scenario::{CaptureConfig, Fault, ensure};

pub(super) fn capture(config: &CaptureConfig, topology: &Topology) -> Result<CapturePlan, Fault> {
    ensure(config.snap_length > 0, || {
        Fault::at("capture.snap_length", "captures would hold no byte of any frame")
            .help("give at least 1, or leave it out to keep whole frames")
    })?;
    let ports = named("capture.ports", &config.ports, topology)?;
    ensure(ports.len() < usize::from(u16::MAX), || {
        Fault::at("capture.ports", format!("{} ports are too many for a capture", ports.len()))
            .help("name fewer than 65535")
    })?;
    Ok(CapturePlan {
        ports,
        fcs: config.fcs,
        format: config.format,
        snap_length: config.snap_length,
    })
}

/// The ports that `texts` name, in their order, each once: `NODES` for all ports of these nodes, or `NODES:PORTS`. Nodes are
/// texts of [`NodeSelector`], and ports `3`, `0..3` (both ends included) or `*`.
pub(super) fn named(
    key: &str,
    texts: &[String],
    topology: &Topology,
) -> Result<Vec<(NodeId, u16)>, Fault> {
    ensure(!texts.is_empty(), || {
        Fault::at(key, "no port is named").help("name a port, such as \"host-0\" or \"leaf-0:3\"")
    })?;
    found(key, texts, Lookup { topology, adjacency: &topology.adjacency(), hosts: true })
}

/// The ports of switches that `texts` name: as [`named`], but that a text for several nodes means switches alone, and
/// one that names a host is wrong.
pub(super) fn of_switches(
    key: &str,
    texts: &[String],
    topology: &Topology,
) -> Result<Vec<(NodeId, u16)>, Fault> {
    ensure(!texts.is_empty(), || {
        Fault::at(key, "no port is named").help("name a port of a switch, such as \"leaf-0:3\"")
    })?;
    let lookup = Lookup { topology, adjacency: &topology.adjacency(), hosts: false };
    let ports = found(key, texts, lookup)?;
    let of_host = ports.iter().find(|(node, _)| topology.is_host(*node));
    ensure(of_host.is_none(), || {
        let name = of_host.map_or("", |(node, _)| &topology.nodes[*node as usize].name);
        Fault::at(key, format!("`{name}` is a host"))
            .help("name ports of switches, such as \"leaf-0:3\", or whole switches")
    })?;
    Ok(ports)
}

fn found(key: &str, texts: &[String], lookup: Lookup<'_>) -> Result<Vec<(NodeId, u16)>, Fault> {
    let (mut ports, mut seen) = (Vec::new(), BTreeSet::new());
    for (index, text) in texts.iter().enumerate() {
        let found = lookup.ports(text);
        for port in found.map_err(|fault| fault.within(&format!("{key}[{index}]")))? {
            if seen.insert(port) {
                ports.push(port);
            }
        }
    }
    Ok(ports)
}

/// A topology in which ports are looked up.
struct Lookup<'a> {
    topology: &'a Topology,
    adjacency: &'a Adjacency,
    /// Whether texts for several nodes mean hosts too.
    hosts: bool,
}

impl Lookup<'_> {
    /// The ports that a text names, of which there is at least one.
    fn ports(&self, text: &str) -> Result<Vec<(NodeId, u16)>, Fault> {
        let (nodes, ports) = match text.rsplit_once(':') {
            Some((nodes, ports)) => (nodes.trim(), Some(ports.trim())),
            None => (text.trim(), None),
        };
        let of_node = |node: NodeId| {
            let count = u16::try_from(self.adjacency.ports_of(node).len()).unwrap_or(u16::MAX);
            (0..count).map(move |port| (node, port))
        };
        if let Some(node) = self.topology.node_by_name(text.trim()) {
            return Ok(of_node(node).collect());
        }
        let nodes = self.nodes(nodes)?;
        match ports {
            None | Some("*") => Ok(nodes.into_iter().flat_map(of_node).collect()),
            Some(ports) => {
                let (first, last) = match ports.split_once("..") {
                    Some((first, last)) => (first.trim(), last.trim()),
                    None => (ports, ports),
                };
                let mut found = Vec::new();
                for node in nodes {
                    let [first, last] = [self.port(node, first)?, self.port(node, last)?];
                    ensure(first <= last, || {
                        Fault::at("", "the range ends before it begins")
                            .help("write the lower port first")
                    })?;
                    found.extend((first..=last).map(|port| (node, port)));
                }
                Ok(found)
            }
        }
    }

    /// The port of a node with the number `text`.
    fn port(&self, node: NodeId, text: &str) -> Result<u16, Fault> {
        let name = || self.topology.nodes[node as usize].name.clone();
        let ports = self.adjacency.ports_of(node).len();
        let error = match text.parse::<u16>() {
            _ if ports == 0 => PortReferenceError::NoPorts { name: name() },
            Ok(port) if usize::from(port) < ports => return Ok(port),
            Ok(port) => PortReferenceError::NoSuchPort { name: name(), port, ports },
            Err(_) => PortReferenceError::NotANumber { name: name(), text: text.into() },
        };
        Err(fault(&error))
    }

    /// The nodes that a text names, of which there is at least one.
    fn nodes(&self, text: &str) -> Result<Vec<NodeId>, Fault> {
        if let Some(node) = self.topology.node_by_name(text) {
            return Ok(vec![node]);
        }
        let is_meant = |&(node, _): &(NodeId, _)| self.hosts || self.topology.is_switch(node);
        let all = (0u32..).zip(&self.topology.nodes).filter(is_meant);
        let found: Vec<NodeId> = match NodeSelector::new(text) {
            NodeSelector::All => all.map(|(node, _)| node).collect(),
            NodeSelector::Like(pattern) => all
                .filter(|(_, node)| matches_pattern(&node.name, pattern))
                .map(|(node, _)| node)
                .collect(),
            NodeSelector::Range(first, last) => {
                let [first, last] = [self.node(first)?, self.node(last)?];
                ensure(first <= last, || {
                    Fault::at("", "the range ends before it begins")
                        .help("write the lower node first")
                })?;
                (first..=last).collect()
            }
            NodeSelector::One(name) => vec![self.node(name)?],
        };
        ensure(!found.is_empty(), || self.missing(text))?;
        Ok(found)
    }

    fn node(&self, name: &str) -> Result<NodeId, Fault> {
        self.topology.node_by_name(name).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> Fault {
        let names = self.topology.describe_names();
        fault(&PortReferenceError::NoSuchNode { name: name.into(), names })
    }
}

fn fault(error: &PortReferenceError) -> Fault {
    let text = error.to_string();
    let (problem, fix) = text.split_once("; ").unwrap_or((&text, "name a port that exists"));
    Fault::at("", problem).help(fix)
}

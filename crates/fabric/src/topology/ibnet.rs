//! Subnets of InfiniBand as `ibnetdiscover` prints them.
//!
//! Channel adapters become hosts, and have one cable each. Nodes have their description as a name, where it is one that a scenario
//! can use and no other node has it, else their identifier (`S-0002c9020041b3a8`). GUIDs and port numbers of the file are kept beside
//! the network: they decide LIDs and routes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rocelab_subnet::{
    InputError, Node as SubnetNode, NodeKind as SubnetKind, PortId, ibnetdiscover,
};
use rocelab_units::Bandwidth;

use super::graph::is_name;
use super::limits::{MAX_LINKS, MAX_NODES};
use super::link_config::LinkProperties;
use super::tiers::number_tiers;
use super::{Node, NodeId, NodeKind, Topology, TopologyError, TopologyLink};

/// What a file says of a subnet of InfiniBand beside its nodes and links.
#[derive(Debug, PartialEq, Eq)]
pub struct Cabling {
    /// The nodes, in the order of the network's, with all cables.
    pub subnet: rocelab_subnet::Topology,
    /// By node: the number in the file of each of its ports, in the order of its links.
    port_numbers: Vec<Vec<u8>>,
}

impl Cabling {
    /// The number that the file gives to a port of a node.
    pub fn number(&self, node: NodeId, port: usize) -> Option<u8> {
        self.port_numbers.get(node as usize)?.get(port).copied()
    }

    /// The port of a node that has this number in the file.
    pub fn port(&self, node: NodeId, number: u8) -> Option<u16> {
        let port = self.port_numbers.get(node as usize)?.iter().position(|&one| one == number)?;
        u16::try_from(port).ok()
    }
}

/// Reads the text of the file at `path`. Cables have the rate that the file says, such as `4xHDR`, else that of `link`, and all have its
/// length.
pub(super) fn parse(
    text: &str,
    path: &Path,
    link: LinkProperties,
) -> Result<Topology, TopologyError> {
    let subnet = ibnetdiscover::read(path, text).map_err(|error| placed(text, &error))?;
    check(&subnet, path, text)?;
    let mut topology = Topology { nodes: named_nodes(subnet.nodes()), ..Topology::default() };
    let mut port_numbers = vec![Vec::new(); topology.nodes.len()];
    for (end, far, rate) in cables(&subnet) {
        let rate = rate.unwrap_or(link.rate);
        let [a, b] = [end, far].map(|end| u32::try_from(end.node).unwrap_or(NodeId::MAX));
        topology.links.push(TopologyLink { a, b, rate, delay: link.delay, loss: 0.0 });
        for end in [end, far] {
            port_numbers[end.node].push(end.port);
        }
    }
    number_tiers(&mut topology);
    topology.cabling = Some(Arc::new(Cabling { subnet, port_numbers }));
    Ok(topology)
}

/// Each cable once, with its ends and rate.
fn cables(
    subnet: &rocelab_subnet::Topology,
) -> impl Iterator<Item = (PortId, PortId, Option<Bandwidth>)> + '_ {
    (0..).zip(subnet.nodes()).flat_map(move |(node, of)| {
        of.ports().filter_map(move |(port, own)| {
            let (end, far) = (PortId { node, port }, own.peer?);
            let speed = own.speed.or_else(|| subnet.nodes()[far.node].port(far.port)?.speed);
            let rate = speed.map(|speed| Bandwidth::from_bps(speed.bits_per_second()));
            (end < far).then_some((end, far, rate))
        })
    })
}

/// What a simulated network cannot have.
fn check(subnet: &rocelab_subnet::Topology, path: &Path, text: &str) -> Result<(), TopologyError> {
    let fault_at = |(line, column): (usize, usize), value: String, problem: &str, fix: &str| {
        let (problem, fix) = (problem.into(), fix.into());
        TopologyError::File { path: path.into(), line, column, value, problem, fix }
    };
    let fault = |node: &SubnetNode, problem: &str, fix: &str| {
        fault_at(place_of(text, node), node.name.clone(), problem, fix)
    };
    for (index, node) in subnet.nodes().iter().enumerate() {
        if node.kind == SubnetKind::Router {
            let fix = "leave out its section and cables";
            return Err(fault(node, "routers between subnets are not simulated", fix));
        }
        let cables = node.ports().filter(|(_, port)| port.peer.is_some()).count();
        if node.kind == SubnetKind::ChannelAdapter && cables != 1 {
            let problem = format!("a host has one cable, and this channel adapter has {cables}");
            return Err(fault(node, &problem, "keep one cable, or leave the adapter out"));
        }
        if cables == 0 {
            return Err(fault(node, "this switch has no cable", "leave out its section"));
        }
        let mut looped =
            node.ports().filter(|(_, own)| own.peer.is_some_and(|far| far.node == index));
        if let Some((port, _)) = looped.next() {
            let problem = "a cable from a switch to itself is not simulated";
            let place = place_of_port(text, node, port);
            return Err(fault_at(place, format!("[{port}]"), problem, "leave it out"));
        }
    }
    let (nodes, links) = (subnet.nodes().len(), cables(subnet).count());
    if nodes as u64 > MAX_NODES as u64 || links as u64 > MAX_LINKS as u64 {
        let problem = format!("{nodes} nodes and {links} cables are more than can be simulated");
        let fix = format!("keep at most {MAX_NODES} nodes and {MAX_LINKS} cables");
        return Err(fault(&subnet.nodes()[0], &problem, &fix));
    }
    Ok(())
}

/// The nodes with names of their own that a scenario can use.
fn named_nodes(nodes: &[SubnetNode]) -> Vec<Node> {
    let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
    nodes.iter().for_each(|node| *uses.entry(&node.name).or_default() += 1);
    let is_usable = |node: &SubnetNode| is_name(&node.name) && uses[node.name.as_str()] == 1;
    let mut taken: BTreeSet<String> =
        nodes.iter().filter(|node| is_usable(node)).map(|node| node.name.clone()).collect();
    let name = |node: &SubnetNode| {
        if is_usable(node) {
            return node.name.clone();
        }
        let mut name = ibnetdiscover::identifier(node);
        while !taken.insert(name.clone()) {
            name.push('-'); // Another node has it as its description.
        }
        name
    };
    let mut name = name;
    let kind = |node: &SubnetNode| match node.kind {
        SubnetKind::Switch => NodeKind::Switch { tier: 0 },
        SubnetKind::ChannelAdapter | SubnetKind::Router => NodeKind::Host,
    };
    nodes.iter().map(|node| Node { name: name(node), kind: kind(node) }).collect()
}

/// The error of the reader, at its place in the text.
fn placed(text: &str, error: &InputError) -> TopologyError {
    let line = error.line().max(1);
    let of_line = text.lines().nth(line - 1).unwrap_or_default();
    let before = of_line.find(error.value()).map(|start| &of_line[..start]);
    TopologyError::File {
        path: error.file().into(),
        line,
        column: before.map_or(0, |before| before.chars().count()) + 1,
        value: error.value().into(),
        problem: error.message().into(),
        fix: error.help().into(),
    }
}

/// The line and column, from 1, of a node's name in quotes where its section begins; those of the beginning if there is none. Cables
/// to the node may stand before it, with its name.
fn place_of(text: &str, node: &SubnetNode) -> (usize, usize) {
    let [identifier, name] =
        [&ibnetdiscover::identifier(node), &node.name].map(|one| format!("\"{one}\""));
    let begins = |of: &&str| !of.trim_start().starts_with(['[', '#']);
    let with = |quoted: &str| {
        let mut sections = (1..).zip(text.lines()).filter(|(_, of)| begins(of));
        sections.find(|(_, of)| of.contains(quoted))
    };
    let found = with(&identifier).or_else(|| with(&name));
    found.map_or((1, 1), |(line, of)| {
        let start = of.find(&name).or_else(|| of.find(&identifier)).unwrap_or(0);
        (line, of[..start].chars().count() + 2)
    })
}

/// The line and column, from 1, of the line of a port in the section of its node; those of the section if there is none.
fn place_of_port(text: &str, node: &SubnetNode, port: u8) -> (usize, usize) {
    let section = place_of(text, node);
    let cables = (1..).zip(text.lines()).skip(section.0);
    let mut cables = cables.take_while(|(_, of)| of.trim_start().starts_with(['[', '#']));
    let start = format!("[{port}]");
    let found = cables.find(|(_, of)| of.trim_start().starts_with(&start));
    found.map_or(section, |(line, of)| (line, of.len() - of.trim_start().len() + 1))
}

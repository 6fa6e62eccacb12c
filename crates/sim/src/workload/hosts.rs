//! Hosts by name.

use std::collections::BTreeSet;

use rocelab_fabric::topology::{NodeSelector, matches_pattern};
use rocelab_fabric::{NodeId, Topology};
use rocelab_units::Bandwidth;

use super::NvlinkPlan;
use super::servers::Servers;
use crate::scenario::{Fault, ServerConfig, ensure};

/// The hosts of a topology that has been checked: at least two, each with one link.
pub(crate) struct HostDirectory {
    names: Vec<String>,
    hosts: Vec<NodeId>,
    /// By node; zero for switches.
    link_rates: Vec<Bandwidth>,
    /// What there is, for messages.
    described: String,
    lookup: Vec<(String, NodeId)>,
    servers: Servers,
    nvlink: NvlinkPlan,
    /// By node, in a network of several parts without paths between them: the first node of its part.
    parts: Vec<NodeId>,
}

impl HostDirectory {
    pub(crate) fn new(topology: &Topology) -> Self {
        let mut link_rates = vec![Bandwidth::default(); topology.nodes.len()];
        for link in &topology.links {
            for end in [link.a, link.b] {
                if topology.is_host(end) {
                    link_rates[end as usize] = link.rate;
                }
            }
        }
        let names: Vec<String> = topology.nodes.iter().map(|node| node.name.clone()).collect();
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let mut lookup: Vec<_> =
            hosts.iter().map(|&host| (names[host as usize].clone(), host)).collect();
        lookup.sort();
        let described = described(topology);
        Self {
            names,
            hosts,
            link_rates,
            described,
            lookup,
            servers: Servers::default(),
            nvlink: NvlinkPlan::default(),
            parts: if topology.is_in_parts { parts(topology) } else { Vec::new() },
        }
    }

    /// The same hosts, of which some are ports of servers: of those that a scenario describes, and of those of the topology.
    pub(crate) fn with_servers(
        mut self,
        servers: &[ServerConfig],
        topology: &Topology,
    ) -> Result<Self, Fault> {
        self.servers = Servers::new(servers, topology, &self)?;
        self.nvlink = NvlinkPlan::new(self.servers.domains());
        Ok(self)
    }

    /// The hosts that NVLink joins.
    pub(crate) fn nvlink(&self) -> &NvlinkPlan {
        &self.nvlink
    }

    /// Whether there is a path from one host to another over the network.
    pub(crate) fn check_joined(&self, from: NodeId, to: NodeId) -> Result<(), Fault> {
        let part = |node: NodeId| self.parts.get(node as usize);
        ensure(part(from) == part(to), || {
            let [from, to] = [from, to].map(|host| self.name(host));
            let text = format!("no path through the network joins `{from}` and `{to}`");
            Fault::at("", text).value(to).help(
                "name hosts of one rail, let a program relay over NVLink, or take a topology that joins rails",
            )
        })
    }

    /// The names of all hosts and switches.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Hosts and switches together.
    pub(crate) fn node_count(&self) -> usize {
        self.names.len()
    }

    /// Every host, ascending.
    pub(crate) fn all(&self) -> &[NodeId] {
        &self.hosts
    }

    pub(crate) fn name(&self, node: NodeId) -> &str {
        &self.names[node as usize]
    }

    pub(crate) fn link_rate(&self, host: NodeId) -> Bandwidth {
        self.link_rates[host as usize]
    }

    /// The host called `name`, if there is one.
    fn find(&self, name: &str) -> Option<NodeId> {
        let found = self.lookup.binary_search_by(|(known, _)| known.as_str().cmp(name));
        found.ok().map(|index| self.lookup[index].1)
    }

    /// The host called `name`.
    pub(crate) fn one(&self, name: &str) -> Result<NodeId, Fault> {
        self.find(name).ok_or_else(|| {
            if let Some(ports) = self.servers.ports_of(name) {
                let text = format!("`{name}` is a server, and has {} ports", ports.len());
                let first = ports.first().map_or("", |&port| self.name(port));
                return Fault::at("", text)
                    .help(format!("name one of its ports, such as `{first}`"));
            }
            let fault = Fault::at("", format!("there is no host `{name}`"));
            fault.help(self.what_there_is())
        })
    }

    /// Hosts, and servers if there are any, for messages.
    fn what_there_is(&self) -> String {
        let hosts = format!("the hosts are {}", self.described);
        match self.servers.described() {
            Some(servers) => format!("{hosts}; the servers are {servers}"),
            None => hosts,
        }
    }

    /// The host that a flow comes from: `from` is a host or a server, of which one port is chosen.
    pub(crate) fn source(&self, from: &str, to: &str) -> Result<NodeId, Fault> {
        // The receiver's port is known if it is named.
        let peer_port = self.find(to).and_then(|port| self.servers.place_of(port));
        self.end(from, peer_port)
    }

    /// The host that a flow from `source` goes to: `to` is a host or a server, of which one port is chosen.
    pub(crate) fn destination(&self, to: &str, source: NodeId) -> Result<NodeId, Fault> {
        self.end(to, self.servers.place_of(source))
    }

    fn end(&self, name: &str, peer_port: Option<usize>) -> Result<NodeId, Fault> {
        self.servers.select(name, peer_port).map_or_else(|| self.one(name), Ok)
    }

    /// The host with the number `node`.
    pub(crate) fn check_node(&self, node: NodeId) -> Result<NodeId, Fault> {
        self.hosts.binary_search(&node).map(|_| node).map_err(|_| {
            let fault = Fault::at("", format!("node {node} is no host of this topology"));
            fault.help(format!("the hosts are {}", self.described))
        })
    }

    /// The hosts that `selection` names, by texts of [`NodeSelector`], of hosts, or of servers, which are all of
    /// their ports; all hosts without a selection. In the order of the text, each once. A fault's key is `key`.
    pub(crate) fn selected(
        &self,
        key: &str,
        selection: Option<&[String]>,
    ) -> Result<Vec<NodeId>, Fault> {
        let Some(selection) = selection else { return Ok(self.hosts.clone()) };
        let mut chosen = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, text) in selection.iter().enumerate() {
            let place = format!("{key}[{index}]");
            for host in self.range(text).map_err(|fault| fault.within(&place))? {
                ensure(seen.insert(host), || {
                    Fault::at(&place, format!("`{}` is named twice", self.name(host)))
                        .help("name every host once")
                })?;
                chosen.push(host);
            }
        }
        Ok(chosen)
    }

    /// The hosts that one text names, in the order of their numbers; of servers in the order of their ports.
    fn range(&self, text: &str) -> Result<Vec<NodeId>, Fault> {
        if let Some(ports) = self.servers.ports_of(text.trim()) {
            return Ok(ports.to_vec());
        }
        match NodeSelector::new(text) {
            NodeSelector::One(name) => Ok(vec![self.one(name)?]),
            NodeSelector::Range(first, last) => self.between(first, last),
            NodeSelector::All => Ok(self.hosts.clone()),
            NodeSelector::Like(pattern) => self.like(pattern),
        }
    }

    /// Those from one to another, both included: hosts, or ports of servers.
    fn between(&self, first: &str, last: &str) -> Result<Vec<NodeId>, Fault> {
        if let Some(ports) = self.servers.range(first, last) {
            ensure(!ports.is_empty(), || {
                Fault::at("", "the range ends before it begins")
                    .help("write the earlier server first")
            })?;
            return Ok(ports);
        }
        let (first, last) = (self.one(first)?, self.one(last)?);
        ensure(first <= last, || {
            Fault::at("", "the range ends before it begins").help("write the lower host first")
        })?;
        let inside = |host: &NodeId| (first..=last).contains(host);
        Ok(self.hosts.iter().copied().filter(inside).collect())
    }

    /// The hosts whose names are like a pattern, and the ports of such servers.
    fn like(&self, pattern: &str) -> Result<Vec<NodeId>, Fault> {
        let mut found = self.servers.like(pattern);
        // A host whose server is like it too is named once.
        let ports: BTreeSet<NodeId> = found.iter().copied().collect();
        let hosts = self.hosts.iter().copied().filter(|host| !ports.contains(host));
        found.extend(hosts.filter(|&host| matches_pattern(self.name(host), pattern)));
        ensure(!found.is_empty(), || {
            let fault = Fault::at("", format!("no host is like `{pattern}`"));
            fault.help(self.what_there_is())
        })?;
        Ok(found)
    }
}

/// By node: the first node of the part that it is in.
fn parts(topology: &Topology) -> Vec<NodeId> {
    let adjacency = topology.adjacency();
    let mut parts = vec![NodeId::MAX; topology.nodes.len()];
    for first in (0..).take(topology.nodes.len()) {
        if parts[first as usize] != NodeId::MAX {
            continue;
        }
        let mut open = vec![first];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut parts[node as usize], first) != first {
                open.extend(adjacency.ports_of(node).iter().map(|port| port.node));
            }
        }
    }
    parts
}

/// The hosts' names, without the switches'.
fn described(topology: &Topology) -> String {
    let hosts = topology.hosts().map(|id| topology.nodes[id as usize].clone()).collect();
    Topology { nodes: hosts, ..Topology::default() }.describe_names()
}

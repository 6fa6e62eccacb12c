//! Nodes, ports and links, as they are cabled.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::guid::Guid;
use crate::link_speed::LinkSpeed;

/// Ports of a switch, beside port 0. A forwarding table has 8 bits for a port, and 255 says that there is none.
pub const MOST_PORTS: u8 = 254;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A host or target channel adapter: packets begin and end there.
    ChannelAdapter,
    /// Forwards inside the subnet, by LID.
    Switch,
    /// Forwards between subnets. To this subnet it is an end.
    Router,
}

impl NodeKind {
    /// Its name in OpenSM's files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChannelAdapter => "Channel Adapter",
            Self::Switch => "Switch",
            Self::Router => "Router",
        }
    }
}

/// A port of a node of a [`Topology`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortId {
    /// The index of the node.
    pub node: usize,
    /// The number of the port, from 1; 0 is a switch itself.
    pub port: u8,
}

/// A port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The GUID. All ports of a switch have that of the switch.
    pub guid: Guid,
    /// The other end of its cable, if it has one.
    pub peer: Option<PortId>,
    /// What that carries, if the file says so.
    pub speed: Option<LinkSpeed>,
}

/// A channel adapter, switch or router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub kind: NodeKind,
    /// Its GUID.
    pub guid: Guid,
    /// The GUID of the system of which it is a part, such as a chassis; its own if it is alone.
    pub system: Guid,
    /// Its description (`NodeDescription`), for readers.
    pub name: String,
    /// Its ports by number; the first one is port 0 of a switch, and nothing of other nodes.
    ports: Vec<Port>,
}

impl Node {
    /// A node whose `ports` have no cable yet; a port's GUID is that of a switch, or the node's plus the number of
    /// the port.
    pub fn new(kind: NodeKind, guid: Guid, name: impl Into<String>, ports: u8) -> Self {
        let port = |number: u8| {
            let offset = if kind == NodeKind::Switch { 0 } else { u64::from(number) };
            Port { guid: Guid::new(guid.number().wrapping_add(offset)), peer: None, speed: None }
        };
        Self { kind, guid, system: guid, name: name.into(), ports: (0..=ports).map(port).collect() }
    }

    /// The greatest number of a port.
    pub fn port_count(&self) -> u8 {
        u8::try_from(self.ports.len().saturating_sub(1)).unwrap_or(u8::MAX)
    }

    /// The port with this number.
    pub fn port(&self, number: u8) -> Option<&Port> {
        let exists = number > 0 || self.kind == NodeKind::Switch;
        exists.then(|| self.ports.get(usize::from(number))).flatten()
    }

    /// Its ports with their numbers, from 1.
    pub fn ports(&self) -> impl Iterator<Item = (u8, &Port)> {
        (0..=u8::MAX).zip(&self.ports).skip(1)
    }

    /// Gives a port of a channel adapter or a router another GUID.
    ///
    /// # Errors [`TopologyError::NoSuchPort`].
    pub fn set_port_guid(&mut self, number: u8, guid: Guid) -> Result<(), TopologyError> {
        let error = TopologyError::NoSuchPort { name: self.name.clone(), port: number };
        if number == 0 || self.kind == NodeKind::Switch {
            return Err(error);
        }
        self.ports.get_mut(usize::from(number)).ok_or(error)?.guid = guid;
        Ok(())
    }
}

/// Why nodes and links are no topology.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A cable needs a port that the node has not.
    #[error("{name} has no port {port}")]
    NoSuchPort {
        /// The node.
        name: String,
        /// The port.
        port: u8,
    },
    /// A port would have two cables.
    #[error("port {port} of {name} is already connected to port {peer_port} of {peer}")]
    Taken {
        /// The node.
        name: String,
        /// The port.
        port: u8,
        /// The node that it is connected to.
        peer: String,
        /// The port there.
        peer_port: u8,
    },
    /// A cable leads from a port to itself.
    #[error("port {port} of {name} is connected to itself")]
    ToItself {
        /// The node.
        name: String,
        /// The port.
        port: u8,
    },
    /// Two nodes, or two ports, have one GUID.
    #[error("{first} and {second} have the same GUID {guid}")]
    SameGuid {
        /// One node.
        first: String,
        /// The other.
        second: String,
        /// Their GUID.
        guid: Guid,
    },
    /// A switch has more ports than a forwarding table can name.
    #[error("{name} has {ports} ports, and a forwarding table can name {MOST_PORTS}")]
    TooManyPorts {
        /// The node.
        name: String,
        /// Its ports.
        ports: u8,
    },
}

/// Nodes and their cables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
}

impl Topology {
    /// All nodes, in the order in which they were added.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Adds a node without cables, and returns its index.
    ///
    /// # Errors [`TopologyError::TooManyPorts`].
    pub fn add(&mut self, node: Node) -> Result<usize, TopologyError> {
        let ports = node.port_count();
        if ports > MOST_PORTS {
            return Err(TopologyError::TooManyPorts { name: node.name, ports });
        }
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// Gives a port of a channel adapter or a router another GUID.
    ///
    /// # Errors [`TopologyError::NoSuchPort`].
    pub(crate) fn set_port_guid(
        &mut self,
        node: usize,
        port: u8,
        guid: Guid,
    ) -> Result<(), TopologyError> {
        self.nodes[node].set_port_guid(port, guid)
    }

    /// Says what the cable of a port carries. Nothing happens if the node has no such port.
    pub(crate) fn set_speed(&mut self, end: PortId, speed: LinkSpeed) {
        if let Some(port) = self.nodes[end.node].ports.get_mut(usize::from(end.port)) {
            port.speed = Some(speed);
        }
    }

    /// The same nodes without any cable.
    #[must_use]
    pub fn without_cables(&self) -> Self {
        let mut bare = self.clone();
        bare.nodes.iter_mut().flat_map(|node| &mut node.ports).for_each(|port| port.peer = None);
        bare
    }

    /// Connects two ports. To connect them again changes nothing.
    ///
    /// # Errors [`TopologyError::NoSuchPort`], [`TopologyError::Taken`], [`TopologyError::ToItself`].
    pub fn connect(&mut self, one: PortId, other: PortId) -> Result<(), TopologyError> {
        if one == other {
            let name = self.nodes[one.node].name.clone();
            return Err(TopologyError::ToItself { name, port: one.port });
        }
        self.check_free(one, other)?;
        self.check_free(other, one)?;
        for (end, peer) in [(one, other), (other, one)] {
            self.nodes[end.node].ports[usize::from(end.port)].peer = Some(peer);
        }
        Ok(())
    }

    /// Whether `end` may be connected to `wanted`.
    fn check_free(&self, end: PortId, wanted: PortId) -> Result<(), TopologyError> {
        let node = &self.nodes[end.node];
        let port = (end.port > 0).then(|| node.port(end.port)).flatten();
        let Some(port) = port else {
            return Err(TopologyError::NoSuchPort { name: node.name.clone(), port: end.port });
        };
        match port.peer {
            Some(peer) if peer != wanted => Err(TopologyError::Taken {
                name: node.name.clone(),
                port: end.port,
                peer: self.nodes[peer.node].name.clone(),
                peer_port: peer.port,
            }),
            _ => Ok(()),
        }
    }

    /// Checks that no two nodes, and no two ports of channel adapters and routers, have one GUID.
    ///
    /// # Errors [`TopologyError::SameGuid`].
    pub fn check_guids(&self) -> Result<(), TopologyError> {
        self.check_distinct(|node| vec![node.guid])?;
        self.check_distinct(|node| match node.kind {
            NodeKind::Switch => vec![node.guid],
            _ => node.ports().map(|(_, port)| port.guid).collect(),
        })
    }

    fn check_distinct(&self, guids: impl Fn(&Node) -> Vec<Guid>) -> Result<(), TopologyError> {
        let mut seen = BTreeSet::new();
        for node in &self.nodes {
            let Some(guid) = guids(node).into_iter().find(|&guid| !seen.insert(guid)) else {
                continue;
            };
            let first = self.nodes.iter().find(|other| guids(other).contains(&guid));
            let first = first.map(|other| other.name.clone()).unwrap_or_default();
            return Err(TopologyError::SameGuid { first, second: node.name.clone(), guid });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Topology {
        let mut topology = Topology::default();
        topology.add(Node::new(NodeKind::Switch, Guid::new(0x20), "S", 2)).unwrap();
        topology.add(Node::new(NodeKind::ChannelAdapter, Guid::new(0x10), "H", 1)).unwrap();
        topology
    }

    #[test]
    fn a_cable_has_two_ends() {
        let mut topology = pair();
        let (switch, host) = (PortId { node: 0, port: 2 }, PortId { node: 1, port: 1 });
        topology.connect(switch, host).unwrap();
        topology.connect(host, switch).unwrap();
        assert_eq!(topology.nodes()[1].port(1).unwrap().peer, Some(switch));
        let other = PortId { node: 0, port: 1 };
        let error = topology.connect(other, host).unwrap_err();
        assert_eq!(error.to_string(), "port 1 of H is already connected to port 2 of S");
        assert_eq!(topology.nodes()[0].port(1).unwrap().peer, None);
    }

    #[test]
    fn ports_that_do_not_exist_are_refused() {
        let mut topology = pair();
        let host = PortId { node: 1, port: 1 };
        for port in [0, 3] {
            let error = topology.connect(host, PortId { node: 0, port }).unwrap_err();
            assert_eq!(error, TopologyError::NoSuchPort { name: "S".to_owned(), port });
        }
        assert!(matches!(topology.connect(host, host), Err(TopologyError::ToItself { .. })));
        let large = Node::new(NodeKind::Switch, Guid::new(1), "large", u8::MAX);
        assert!(matches!(topology.add(large), Err(TopologyError::TooManyPorts { .. })));
    }

    #[test]
    fn guids_are_unique() {
        let mut topology = pair();
        assert_eq!(topology.check_guids(), Ok(()));
        let same = Node::new(NodeKind::ChannelAdapter, Guid::new(0xf), "G", 2);
        topology.add(same).unwrap();
        let error = topology.check_guids().unwrap_err();
        assert_eq!(error.to_string(), "H and G have the same GUID 0x0000000000000011");
    }
}

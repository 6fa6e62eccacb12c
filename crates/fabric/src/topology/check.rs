//! Checks that nodes and links make a network that can run.

use thiserror::Error;

use super::limits::{MAX_DELAY, MAX_LINKS, MAX_NODES, MAX_PORTS, RATES};
use super::{NodeId, Topology, TopologyLink};

/// What is wrong with a graph of nodes and links. Links are indices into [`Topology::links`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TopologyFault {
    /// Fewer than two hosts: nobody could communicate.
    #[error("a network needs at least 2 hosts, and this one has {hosts}")]
    TooFewHosts {
        /// How many there are.
        hosts: usize,
    },
    /// More nodes than [`MAX_NODES`].
    #[error("{nodes} nodes are more than {MAX_NODES}")]
    TooManyNodes {
        /// How many there are.
        nodes: usize,
    },
    /// More links than [`MAX_LINKS`].
    #[error("{links} links are more than {MAX_LINKS}")]
    TooManyLinks {
        /// How many there are.
        links: usize,
    },
    /// An end of a link is not a node.
    #[error("there is no node {node}")]
    NoSuchNode {
        /// The link.
        link: usize,
        /// The end that does not exist.
        node: NodeId,
    },
    /// Both ends of a link are one node.
    #[error("the link goes from a node to itself")]
    SelfLoop {
        /// The link.
        link: usize,
    },
    /// A link between two hosts of several.
    #[error("the link joins two hosts, and others are reached through switches")]
    HostToHost {
        /// The link.
        link: usize,
    },
    /// A link with a rate of zero.
    #[error("the link's rate is zero")]
    ZeroRate {
        /// The link.
        link: usize,
    },
    /// A rate outside [`RATES`].
    #[error("the link's rate is not from {} to {}", RATES.start(), RATES.end())]
    RateOutOfRange {
        /// The link.
        link: usize,
    },
    /// A delay above [`MAX_DELAY`].
    #[error("the link's propagation delay is more than {MAX_DELAY}")]
    DelayTooLong {
        /// The link.
        link: usize,
    },
    /// A probability of loss that is not from 0 to 1.
    #[error("the link's loss is not between 0 and 1")]
    LossOutOfRange {
        /// The link.
        link: usize,
    },
    /// A host with a second link.
    #[error("a host has one NIC with one port, and this is a second link of `{name}`")]
    SeveralHostLinks {
        /// The second link.
        link: usize,
        /// The host.
        name: String,
    },
    /// A node with more links than [`MAX_PORTS`].
    #[error("`{name}` has more than {MAX_PORTS} links")]
    TooManyPorts {
        /// The first link too many.
        link: usize,
        /// The node.
        name: String,
    },
    /// A node without a link.
    #[error("`{name}` has no link")]
    Isolated {
        /// The node.
        node: NodeId,
        /// Its name.
        name: String,
    },
    /// Parts of the network without a path between them.
    #[error("there is no path between `{from}` and `{to}`")]
    Disconnected {
        /// The first link of the part that node 0 does not reach.
        link: usize,
        /// The first node.
        from: String,
        /// The first node that it does not reach.
        to: String,
    },
}

impl TopologyFault {
    /// The link that is at fault, if one is.
    pub(super) const fn link(&self) -> Option<usize> {
        match *self {
            Self::NoSuchNode { link, .. }
            | Self::SelfLoop { link }
            | Self::HostToHost { link }
            | Self::ZeroRate { link }
            | Self::RateOutOfRange { link }
            | Self::DelayTooLong { link }
            | Self::LossOutOfRange { link }
            | Self::SeveralHostLinks { link, .. }
            | Self::TooManyPorts { link, .. }
            | Self::Disconnected { link, .. } => Some(link),
            _ => None,
        }
    }
}

impl Topology {
    /// Checks that this is a network that can run: every node has a link and a path to every other (but for a topology
    /// that [may be in parts](Self::is_in_parts)), and every host has exactly one link. Parallel links between two switches are allowed.
    ///
    /// # Errors The first fault, in order of the links, then of the nodes.
    pub fn check(&self) -> Result<(), TopologyFault> {
        self.check_size()?;
        let mut ports = vec![0u32; self.nodes.len()];
        for (index, link) in self.links.iter().enumerate() {
            self.check_link(index, link)?;
            for node in [link.a, link.b] {
                ports[node as usize] += 1;
                self.check_ports(index, node, ports[node as usize])?;
            }
        }
        if let Some((node, _)) = (0..).zip(&ports).find(|&(_, &ports)| ports == 0) {
            return Err(TopologyFault::Isolated { node, name: self.name(node) });
        }
        self.check_connected()
    }

    /// Whether every node has a path to every other, over all links.
    ///
    /// # Panics
    /// As [`Topology::adjacency`].
    pub fn is_connected(&self) -> bool {
        self.reached_from_first().iter().all(|&reached| reached)
    }

    fn check_size(&self) -> Result<(), TopologyFault> {
        let (nodes, links, hosts) = (self.nodes.len(), self.links.len(), self.host_count());
        if nodes > MAX_NODES {
            return Err(TopologyFault::TooManyNodes { nodes });
        }
        if links > MAX_LINKS {
            return Err(TopologyFault::TooManyLinks { links });
        }
        if hosts < 2 {
            return Err(TopologyFault::TooFewHosts { hosts });
        }
        Ok(())
    }

    fn check_link(&self, index: usize, link: &TopologyLink) -> Result<(), TopologyFault> {
        let no_such = [link.a, link.b].into_iter().find(|&end| end as usize >= self.nodes.len());
        if let Some(node) = no_such {
            return Err(TopologyFault::NoSuchNode { link: index, node });
        }
        if link.a == link.b {
            return Err(TopologyFault::SelfLoop { link: index });
        }
        // Two hosts may be linked back to back, if there is nothing else.
        if self.is_host(link.a) && self.is_host(link.b) && self.nodes.len() > 2 {
            return Err(TopologyFault::HostToHost { link: index });
        }
        if link.rate.bits_per_second() == 0 {
            return Err(TopologyFault::ZeroRate { link: index });
        }
        if !RATES.contains(&link.rate) {
            return Err(TopologyFault::RateOutOfRange { link: index });
        }
        if link.delay > MAX_DELAY {
            return Err(TopologyFault::DelayTooLong { link: index });
        }
        if !(0.0..=1.0).contains(&link.loss) {
            return Err(TopologyFault::LossOutOfRange { link: index });
        }
        Ok(())
    }

    fn check_ports(&self, link: usize, node: NodeId, ports: u32) -> Result<(), TopologyFault> {
        if ports > 1 && self.is_host(node) {
            return Err(TopologyFault::SeveralHostLinks { link, name: self.name(node) });
        }
        if ports as usize > MAX_PORTS {
            return Err(TopologyFault::TooManyPorts { link, name: self.name(node) });
        }
        Ok(())
    }

    fn check_connected(&self) -> Result<(), TopologyFault> {
        if self.is_in_parts {
            return Ok(());
        }
        let reached = self.reached_from_first();
        let Some(lost) = reached.iter().position(|&reached| !reached) else { return Ok(()) };
        let link = self.links.iter().position(|link| !reached[link.a as usize]).unwrap_or(0);
        Err(TopologyFault::Disconnected {
            link,
            from: self.nodes[0].name.clone(),
            to: self.nodes[lost].name.clone(),
        })
    }

    fn reached_from_first(&self) -> Vec<bool> {
        let adjacency = self.adjacency();
        let mut reached = vec![false; self.nodes.len()];
        let mut open = Vec::new();
        if let Some(first) = reached.first_mut() {
            *first = true;
            open.push(0);
        }
        while let Some(node) = open.pop() {
            for neighbour in adjacency.ports_of(node) {
                if !std::mem::replace(&mut reached[neighbour.node as usize], true) {
                    open.push(neighbour.node);
                }
            }
        }
        reached
    }

    fn name(&self, node: NodeId) -> String {
        self.nodes[node as usize].name.clone()
    }
}

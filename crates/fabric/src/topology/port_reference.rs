//! Names of ports in a scenario: `host-0`, `leaf-0:3`.

use thiserror::Error;

use super::{NodeId, Topology};

/// Why a text is not the name of a port.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PortReferenceError {
    /// No node has that name.
    #[error("there is no node `{name}`; there are {names}")]
    NoSuchNode {
        /// The name as it was given.
        name: String,
        /// The names that exist.
        names: String,
    },
    /// The node has several ports, and the text names none of them.
    #[error("`{name}` has {ports} ports; write which one, as in `{name}:0`")]
    MissingPort {
        /// The node.
        name: String,
        /// How many ports it has.
        ports: usize,
    },
    /// What follows the colon is not a number.
    #[error("`{text}` is not a port number; write one as in `{name}:0`")]
    NotANumber {
        /// The node.
        name: String,
        /// What was given as its port.
        text: String,
    },
    /// The node has no such port.
    #[error("`{name}` has no port {port}; its ports are 0 to {last}", last = ports - 1)]
    NoSuchPort {
        /// The node.
        name: String,
        /// What was given as its port.
        port: u16,
        /// How many ports it has, at least 1.
        ports: usize,
    },
    /// The node has no ports at all.
    #[error("`{name}` has no link, so it has no port")]
    NoPorts {
        /// The node.
        name: String,
    },
}

impl Topology {
    /// The port with the name `text`: a node and a port number, as in `leaf-0:3`, or only the node
    /// if it has a single port, as in `host-0`.
    ///
    /// # Errors Why there is no such port, and which ports exist.
    pub fn port_by_name(&self, text: &str) -> Result<(NodeId, u16), PortReferenceError> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name.trim(), Some(port.trim())),
            None => (text.trim(), None),
        };
        let Some(node) = self.node_by_name(name) else {
            let names = self.describe_names();
            return Err(PortReferenceError::NoSuchNode { name: name.into(), names });
        };
        let name = || name.to_owned();
        let ports = self.port_count(node);
        let port = match port {
            _ if ports == 0 => return Err(PortReferenceError::NoPorts { name: name() }),
            None if ports == 1 => 0,
            None => return Err(PortReferenceError::MissingPort { name: name(), ports }),
            Some(text) => text
                .parse()
                .map_err(|_| PortReferenceError::NotANumber { name: name(), text: text.into() })?,
        };
        if usize::from(port) >= ports {
            return Err(PortReferenceError::NoSuchPort { name: name(), port, ports });
        }
        Ok((node, port))
    }

    /// The number of a node's ports. It takes a pass over the links: for many nodes, use
    /// [`Topology::adjacency`].
    pub fn port_count(&self, node: NodeId) -> usize {
        let ends =
            |link: &super::TopologyLink| usize::from(link.a == node) + usize::from(link.b == node);
        self.links.iter().map(ends).sum()
    }
}

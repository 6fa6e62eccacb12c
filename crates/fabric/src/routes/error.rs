//! Why there are no routes, or no path.

use thiserror::Error;

use crate::topology::{MAX_LINKS, MAX_NODES, MAX_PORTS, NodeId};

/// What routes cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The list of active links does not have one entry for each link.
    #[error("{active} links are marked active or inactive, but there are {links}")]
    ActiveLinks {
        /// Entries of the list.
        active: usize,
        /// Links of the topology.
        links: usize,
    },
    /// The network is larger than [`MAX_NODES`] or [`MAX_LINKS`].
    #[error("a network has at most {MAX_NODES} nodes and {MAX_LINKS} links")]
    TooLarge,
    /// An end of a link is not a node.
    #[error("link {link} ends at node {node}, which does not exist")]
    NoSuchNode {
        /// The link.
        link: usize,
        /// The end that does not exist.
        node: NodeId,
    },
    /// A node has more ports than [`MAX_PORTS`].
    #[error("node {node} has more than {MAX_PORTS} ports")]
    TooManyPorts {
        /// The node.
        node: NodeId,
    },
    /// No subnet manager makes forwarding tables: it reaches no switch.
    #[error("no subnet manager reaches a switch")]
    NoManager,
    /// A host has more than one active link.
    #[error("host {host} has several active links")]
    SeveralHostLinks {
        /// The host.
        host: NodeId,
    },
}

/// Why there is no path from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PathError {
    /// A node that is no host, or does not exist.
    #[error("node {node} is not a host")]
    NotAHost {
        /// The node.
        node: NodeId,
    },
    /// The active links do not connect the two.
    #[error("there is no path from node {from} to node {to}")]
    Unreachable {
        /// Where the path would start.
        from: NodeId,
        /// Where it would end.
        to: NodeId,
    },
    /// Static routes lead into a loop.
    #[error("the path from node {from} to node {to} leads in a circle")]
    Loop {
        /// Where the path starts.
        from: NodeId,
        /// Where it should end.
        to: NodeId,
    },
}

//! Where the nodes and ports of a part of a network are.

use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;

use super::part::{Part, PortPlaces};
use super::path::Paths;

/// Which nodes are in a part of a network, where their ports are, and the paths of packets over these.
#[derive(Debug)]
pub(super) struct Layout {
    /// The ports of the plan's topology.
    pub(super) adjacency: Arc<Adjacency>,
    /// Which nodes are here, and where their ports are in the list of ports.
    pub(super) part: Part,
    pub(super) places: PortPlaces,
    /// The paths of flows over these ports.
    pub(super) paths: Paths,
    /// The unit of each node, if there is more than one.
    pub(super) units: Vec<u32>,
}

impl Layout {
    /// The port of a node's link, if it is here: the node's own, or that at the other end of a link
    /// that is cut.
    pub(super) fn port_at_link(&self, node: NodeId, link: u32) -> Option<u32> {
        self.places.at_link(node, link, &self.adjacency, self.part.cut())
    }
}

//! A network as data to draw.

use rocelab_units::{Bandwidth, Duration};
use serde::{Deserialize, Serialize};

/// A network, for drawings and tables. Positions are in any unit; pictures scale them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyMap {
    /// Nodes; links refer to them by index.
    pub nodes: Vec<MapNode>,
    /// Full-duplex links.
    pub links: Vec<MapLink>,
}

/// A node of a [`TopologyMap`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapNode {
    /// Its name.
    pub name: String,
    /// Host or switch.
    pub kind: MapNodeKind,
    /// Distance from the hosts: 0 at the hosts themselves, 1 at the switches next to them.
    pub tier: u8,
    /// Position from left to right.
    pub x: f64,
    /// Position from top to bottom.
    pub y: f64,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapNodeKind {
    /// A server.
    Host,
    /// A switch.
    Switch,
}

/// A link of a [`TopologyMap`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapLink {
    /// Index of one end's node.
    pub a: usize,
    /// Index of the other end's node.
    pub b: usize,
    /// Rate of each direction.
    pub rate: Bandwidth,
    /// Propagation delay of each direction.
    pub delay: Duration,
}

/// The content of `topology.json`.
#[derive(Deserialize, Serialize)]
pub(crate) struct NodesFile {
    pub(crate) nodes: Vec<MapNode>,
}

//! A topology as data to draw.

use rocelab_fabric::{NodeKind, Topology};
use rocelab_results::{MapLink, MapNode, MapNodeKind, TopologyMap};

/// Nodes at their places and the links between them, for tables and drawings.
pub fn topology_map(topology: &Topology) -> TopologyMap {
    let layout = topology.layout();
    let nodes = topology.nodes.iter().zip(layout.nodes).map(|(node, placed)| MapNode {
        name: placed.name,
        kind: match node.kind {
            NodeKind::Host => MapNodeKind::Host,
            NodeKind::Switch { .. } => MapNodeKind::Switch,
        },
        tier: placed.tier,
        x: placed.x,
        y: placed.y,
    });
    let links = topology.links.iter().map(|link| MapLink {
        a: link.a as usize,
        b: link.b as usize,
        rate: link.rate,
        delay: link.delay,
    });
    TopologyMap { nodes: nodes.collect(), links: links.collect() }
}

//! The network as HPCC's ns-3 simulator sees it, and its search for shortest paths.

use super::super::NONE;
use crate::topology::{NodeId, Topology};

/// Nodes and links, with at most one link between two nodes.
///
/// The simulator keeps one link for each pair of nodes. Of parallel links, the last of the topology
/// replaces the others, so no packet uses them.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// Where each node's edges start, and where the last one's end.
    starts: Vec<usize>,
    /// The edges of all nodes, node by node, ascending by neighbour.
    edges: Vec<Edge>,
    is_switch: Vec<bool>,
}

/// An edge from a node to its neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The neighbour.
    pub(super) to: NodeId,
    /// The neighbour's port on the link.
    pub(super) far_port: u16,
    /// An index into [`Topology::links`].
    pub(super) link: u32,
}

impl Graph {
    /// The graph of a topology whose links end at nodes that exist, and whose nodes have fewer than
    /// 2^16 ports. There is no edge between two nodes if the last of their links is not `active`.
    pub(super) fn new(topology: &Topology, active: &[bool]) -> Self {
        let adjacency = topology.adjacency();
        let (mut starts, mut edges) = (vec![0], Vec::new());
        let mut of_node = Vec::new();
        for node in (0..).take(topology.nodes.len()) {
            of_node.clear();
            let ports = adjacency.ports_of(node).iter().filter(|port| port.node != node);
            of_node.extend(ports.map(|port| (port.node, port.link)));
            of_node.sort_unstable();
            let last_of_pair = of_node.chunk_by(|a, b| a.0 == b.0).filter_map(<[_]>::last);
            let usable = last_of_pair.filter(|(_, link)| active[*link as usize]);
            edges.extend(usable.map(|&(to, link)| {
                let far_port = adjacency.port_of_link(to, link).unwrap_or_default();
                Edge { to, far_port: u16::try_from(far_port).unwrap_or(u16::MAX), link }
            }));
            starts.push(edges.len());
        }
        let is_switch = (0..).take(topology.nodes.len()).map(|node| !topology.is_host(node));
        Self { starts, edges, is_switch: is_switch.collect() }
    }

    pub(super) fn node_count(&self) -> usize {
        self.is_switch.len()
    }

    /// The edges of a node, ascending by neighbour.
    pub(super) fn edges(&self, node: NodeId) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.starts[node]..self.starts[node + 1]]
    }

    /// The edge of a host to its switch, if the host has exactly one neighbour and that is a
    /// switch.
    pub(super) fn attachment(&self, host: NodeId) -> Option<Edge> {
        match *self.edges(host) {
            [edge] if self.is_switch[edge.to as usize] => Some(edge),
            _ => None,
        }
    }
}

/// A breadth-first search over the graph, reused for the next.
#[derive(Debug)]
pub(super) struct Search<'a> {
    graph: &'a Graph,
    /// Number of links from the origin to each node; [`NONE`] if there is no path.
    distances: Vec<u32>,
    /// The nodes to expand, nearest first.
    order: Vec<NodeId>,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let nodes = graph.node_count();
        Self { graph, distances: vec![NONE; nodes], order: Vec::with_capacity(nodes) }
    }

    /// Searches from `origin`. Paths pass through switches only. `visit(from, edge, first)` is
    /// called for every edge that leads away from the origin, in the order of discovery; `first` is
    /// true if the edge discovers its node.
    pub(super) fn run(&mut self, origin: NodeId, mut visit: impl FnMut(NodeId, &Edge, bool)) {
        self.distances.fill(NONE);
        self.order.clear();
        self.distances[origin as usize] = 0;
        self.order.push(origin);
        let mut head = 0;
        while let Some(&node) = self.order.get(head) {
            head += 1;
            let distance = self.distances[node as usize] + 1;
            for edge in self.graph.edges(node) {
                let known = &mut self.distances[edge.to as usize];
                let first = *known == NONE;
                if first {
                    *known = distance;
                    if self.graph.is_switch[edge.to as usize] {
                        self.order.push(edge.to);
                    }
                }
                if *known == distance {
                    visit(node, edge, first);
                }
            }
        }
    }
}

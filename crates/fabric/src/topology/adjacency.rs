//! What is at the other end of each port.

use super::{NodeId, Topology};

/// The far end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The node there.
    pub node: NodeId,
    /// The link between, an index into [`Topology::links`].
    pub link: u32,
}

/// Every node's ports, in compressed sparse rows: port `p` of a node is element `p` of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// Where each node's row starts, and where the last one ends.
    starts: Vec<u32>,
    neighbours: Vec<Neighbour>,
}

impl Adjacency {
    pub(super) fn new(topology: &Topology) -> Self {
        let mut starts = vec![0u32; topology.nodes.len() + 1];
        for link in &topology.links {
            starts[link.a as usize + 1] += 1;
            starts[link.b as usize + 1] += 1;
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        let mut neighbours = vec![Neighbour { node: 0, link: 0 }; total as usize];
        for (index, link) in (0..).zip(&topology.links) {
            for (node, other) in [(link.a, link.b), (link.b, link.a)] {
                let slot = &mut next[node as usize];
                neighbours[*slot as usize] = Neighbour { node: other, link: index };
                *slot += 1;
            }
        }
        Self { starts, neighbours }
    }

    /// The node's ports in order of their numbers; none for a node that does not exist.
    #[inline]
    pub fn ports_of(&self, node: NodeId) -> &[Neighbour] {
        let node = node as usize;
        match (self.starts.get(node), self.starts.get(node + 1)) {
            (Some(&start), Some(&end)) => &self.neighbours[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The index of a node's port 0 if all ports of all nodes are numbered in node order. It is for
    /// tables of ports that have no row for each node.
    #[inline]
    pub fn first_port_index(&self, node: NodeId) -> usize {
        self.starts[node as usize] as usize
    }

    /// The port at `node` of a link; of a link from a node to itself, the first.
    pub fn port_of_link(&self, node: NodeId, link: u32) -> Option<usize> {
        // The ports of a row are in the order of their links.
        self.ports_of(node).binary_search_by_key(&link, |port| port.link).ok()
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>()
            + self.neighbours.capacity() * size_of::<Neighbour>()
    }
}

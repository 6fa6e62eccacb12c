//! Topologies that tests make.

use rocelab_subnet::{Guid, Node, NodeKind, PortId, Topology};

/// Builds a topology: switches first, so that a switch runs the subnet manager.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) topology: Topology,
    /// For each node, the port that is used next.
    next: Vec<u8>,
    adapters: u64,
}

impl Builder {
    /// Adds so many switches, and returns the first.
    pub(crate) fn switches(&mut self, count: usize, ports: u8) -> usize {
        let first = self.next.len();
        for index in first..first + count {
            let guid = Guid::new(0x20_0000 + index as u64);
            let node = Node::new(NodeKind::Switch, guid, format!("S{index}"), ports);
            self.topology.add(node).expect("switch");
            self.next.push(1);
        }
        first
    }

    /// Connects the next ports of two nodes.
    pub(crate) fn link(&mut self, one: usize, other: usize) {
        let ends = [one, other].map(|node| {
            let port = self.next[node];
            self.next[node] += 1;
            PortId { node, port }
        });
        self.topology.connect(ends[0], ends[1]).expect("free ports");
    }

    /// Adds a channel adapter to a switch.
    pub(crate) fn host(&mut self, switch: usize) {
        let guid = Guid::new(0x10_0000 + 2 * self.adapters);
        let name = format!("H{}", self.adapters);
        self.adapters += 1;
        let host = Node::new(NodeKind::ChannelAdapter, guid, name, 1);
        let host = self.topology.add(host).expect("host");
        self.next.push(1);
        self.link(switch, host);
    }
}

/// A fat tree of three levels with switches of `k` ports: edge switches are the first, then come those above them, then
/// the roots.
pub(crate) fn fat_tree(k: u8) -> Topology {
    let half = usize::from(k / 2);
    let pods = usize::from(k);
    let mut builder = Builder::default();
    let edges = builder.switches(pods * half, k);
    let middles = builder.switches(pods * half, k);
    let roots = builder.switches(half * half, k);
    for edge in 0..pods * half {
        for _ in 0..half {
            builder.host(edges + edge);
        }
    }
    for pod in 0..pods {
        for edge in 0..half {
            for middle in 0..half {
                builder.link(edges + pod * half + edge, middles + pod * half + middle);
            }
        }
        for middle in 0..half {
            for root in 0..half {
                builder.link(middles + pod * half + middle, roots + middle * half + root);
            }
        }
    }
    builder.topology
}

/// A torus, or a mesh if it does not `wrap`, with one host at each switch.
pub(crate) fn grid(dimensions: &[usize], wrap: bool) -> Topology {
    let count: usize = dimensions.iter().product();
    let ports = u8::try_from(2 * dimensions.len() + 1).expect("few dimensions");
    let mut topology = Builder::default();
    topology.switches(count, ports);
    let mut strides = vec![1; dimensions.len()];
    for dimension in (0..dimensions.len().saturating_sub(1)).rev() {
        strides[dimension] = strides[dimension + 1] * dimensions[dimension + 1];
    }
    for switch in 0..count {
        for (number, (&size, &stride)) in dimensions.iter().zip(&strides).enumerate() {
            let at = switch / stride % size;
            if at + 1 == size && !wrap {
                continue;
            }
            let neighbour = switch - at * stride + (at + 1) % size * stride;
            let port = u8::try_from(2 * number).expect("few dimensions");
            let ends = [(switch, port + 2), (neighbour, port + 1)];
            let [one, other] = ends.map(|(node, port)| PortId { node, port });
            topology.topology.connect(one, other).expect("free ports");
        }
    }
    for switch in 0..count {
        topology.next[switch] = ports;
        topology.host(switch);
    }
    topology.topology
}

/// A connected topology: `parents` make a tree, `cables` add more, `hosts` hang on switches; all modulo what there is.
pub(crate) fn connected(parents: &[usize], cables: &[(usize, usize)], hosts: &[usize]) -> Topology {
    let mut builder = Builder::default();
    let count = parents.len() + 1;
    builder.switches(count, 64);
    for (child, parent) in parents.iter().enumerate() {
        builder.link(child + 1, parent % (child + 1));
    }
    for (one, other) in cables {
        let (one, other) = (one % count, other % count);
        if one != other {
            builder.link(one, other);
        }
    }
    for host in hosts {
        builder.host(host % count);
    }
    builder.topology
}

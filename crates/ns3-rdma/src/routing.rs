//! Shortest paths by the number of hops, and the choice among them.

use std::collections::VecDeque;

use crate::topology::Topology;

/// Ports by which nodes forward.
///
/// Link `i` joins the ports `2 i` and `2 i + 1`, so the other end of a port differs in the last bit.
#[derive(Debug)]
pub(crate) struct Routes {
    nodes: usize,
    /// By node, which row of routes leads there; [`NO_ROW`] if no packet ever does.
    rows: Vec<u32>,
    /// By row and node.
    routes: Vec<Route>,
    /// The next hops of all routes.
    ports: Vec<u32>,
}

/// No row of routes.
const NO_ROW: u32 = u32::MAX;

/// The next hops of a node towards a destination: the ports of the shortest paths in the order of
/// their links.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Route {
    first: u32,
    /// How many; 0 if no path leads there.
    pub(crate) count: u32,
    /// Whether the destination is at the other end of a link of this node. There is no choice then.
    pub(crate) is_direct: bool,
}

impl Routes {
    /// The routes of all nodes to the `destinations`, which are hosts.
    pub(crate) fn new(topology: &Topology, destinations: impl IntoIterator<Item = u32>) -> Self {
        let nodes = topology.is_switch.len();
        let ports = ports_of(topology);
        let (routes, ports_of_routes) = (Vec::new(), Vec::new());
        let mut found = Self { nodes, rows: vec![NO_ROW; nodes], routes, ports: ports_of_routes };
        for host in destinations {
            if found.rows[host as usize] == NO_ROW {
                found.rows[host as usize] = number(found.routes.len() / nodes);
                found.routes.resize(found.routes.len() + nodes, Route::default());
                found.add(topology, &ports, host as usize);
            }
        }
        found
    }

    /// Adds the routes to `host`, found from there on.
    fn add(&mut self, topology: &Topology, ports: &[Vec<u32>], host: usize) {
        let node_at = |port: u32| topology.links[port as usize / 2].nodes[port as usize % 2];
        let beyond = |port: u32| node_at(port ^ 1) as usize;
        let mut distances = vec![u32::MAX; self.nodes];
        distances[host] = 0;
        let mut waiting = VecDeque::from([host]);
        while let Some(node) = waiting.pop_front() {
            for next in ports[node].iter().map(|&port| beyond(port)) {
                if distances[next] == u32::MAX {
                    distances[next] = distances[node] + 1;
                    waiting.push_back(next);
                }
            }
        }
        for node in (0..self.nodes).filter(|&node| node != host && distances[node] != u32::MAX) {
            let first = self.ports.len();
            let is_nearer = |port: &u32| distances[beyond(*port)] + 1 == distances[node];
            self.ports.extend(ports[node].iter().copied().filter(is_nearer));
            let row = self.rows[host] as usize;
            self.routes[row * self.nodes + node] = Route {
                first: number(first),
                count: number(self.ports.len() - first),
                is_direct: distances[node] == 1,
            };
        }
    }

    /// Whether a path leads from one node to another.
    pub(crate) fn connect(&self, from: u32, to: u32) -> bool {
        self.rows[to as usize] != NO_ROW && self.of(from, to).count > 0
    }

    /// Links from one node to another, which are [connected](Self::connect).
    pub(crate) fn hops(&self, from: u32, to: u32, topology: &Topology) -> usize {
        let (mut node, mut hops) = (from, 0);
        while node != to {
            let port = self.port(self.of(node, to), 0) ^ 1;
            node = topology.links[port as usize / 2].nodes[port as usize % 2];
            hops += 1;
        }
        hops
    }

    /// The route of `node` to `destination`.
    #[inline]
    pub(crate) fn of(&self, node: u32, destination: u32) -> Route {
        self.routes[self.rows[destination as usize] as usize * self.nodes + node as usize]
    }

    /// The port that comes `choice`th among a route's.
    #[inline]
    pub(crate) fn port(&self, route: Route, choice: u32) -> u32 {
        self.ports[(route.first + choice) as usize]
    }
}

/// A number of nodes, ports or routes: topologies are limited.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The ports of each node in the order of their links.
pub(crate) fn ports_of(topology: &Topology) -> Vec<Vec<u32>> {
    let mut ports = vec![Vec::new(); topology.is_switch.len()];
    for (link, number) in topology.links.iter().zip(0u32..) {
        ports[link.nodes[0] as usize].push(2 * number);
        ports[link.nodes[1] as usize].push(2 * number + 1);
    }
    ports
}

/// What the choice among paths is made of: addresses, and the number of the protocol.
#[inline]
pub(crate) const fn flow_hash(source: u32, destination: u32, protocol: u32) -> u32 {
    source.wrapping_mul(59) ^ destination ^ protocol
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::time::Arithmetic;

    /// Two hosts, each at a switch of its own; three switches between these, one of them farther.
    #[test]
    fn the_shortest_paths_stand_in_the_order_of_links() {
        let text = "7 5 8\n2 3 4 5 6\n0 2 1Gbps 1us 0\n2 5 1Gbps 1us 0\n2 4 1Gbps 1us 0\n\
                    2 6 1Gbps 1us 0\n6 5 1Gbps 1us 0\n5 3 1Gbps 1us 0\n4 3 1Gbps 1us 0\n\
                    3 1 1Gbps 1us 0";
        let topology = Topology::parse(Path::new("t"), text, Arithmetic::Linux).unwrap();
        let routes = Routes::new(&topology, [0, 1]);
        let route = routes.of(2, 1);
        assert_eq!((route.count, route.is_direct), (2, false));
        assert_eq!([0, 1].map(|choice| routes.port(route, choice)), [2, 4]);
        let route = routes.of(3, 1);
        assert_eq!((route.count, route.is_direct), (1, true));
        assert_eq!(routes.port(route, 0), 14);
        assert!(routes.connect(0, 1) && routes.connect(1, 0));
        assert_eq!(routes.hops(0, 1, &topology), 4);
    }
}

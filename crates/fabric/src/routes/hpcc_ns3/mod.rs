//! Routes as HPCC's ns-3 simulator computes them. The order of next hops matters: a flow's hash is
//! an index into it.

mod graph;
mod hash;
mod pairs;

use super::build::{check, most_ports};
use super::port_sets::{PortSetBuilder, PortSetId, PortSets};
use super::{NONE, RouteError};
use crate::topology::{NodeId, Topology};
use graph::{Graph, Search};
pub use pairs::{HostPair, PairProperties, PathsTo};

/// The forwarding tables of all switches in HPCC's ns-3 simulator.
///
/// For each destination, that simulator searches breadth-first from the destination, through
/// switches only, and visits neighbours in ascending order of their ids. The next hops of a switch
/// are in the order in which the search expands them. A flow takes the next hop with the index hash
/// modulo their number.
///
/// * Of parallel links between two nodes, the last in the topology carries everything.
/// * Hosts with several links are reached over the nearest of them. Which one such a host sends on
///   is not decided here.
/// * Hosts with one link to the same switch share the entries of all other switches.
#[derive(Clone, Debug)]
pub struct HpccNs3Routes {
    /// Indexed by [`NodeId`].
    destinations: Vec<Destination>,
    /// The row of each switch, indexed by [`NodeId`]; [`NONE`] for a host.
    rows: Vec<u32>,
    /// Row by row, a column for each distinct destination.
    cells: Vec<PortSetId>,
    columns: usize,
    sets: PortSets,
}

/// A host, as a destination.
#[derive(Clone, Copy, Debug)]
struct Destination {
    /// Its column; [`NONE`] for a switch.
    column: u32,
    /// The switch at the other end of its only link; [`NONE`] if there is no such switch.
    switch: NodeId,
    /// That switch's port to the host.
    port: u16,
}

impl HpccNs3Routes {
    /// The routes over all links.
    ///
    /// # Errors What routes cannot represent of the topology.
    pub fn new(topology: &Topology) -> Result<Self, RouteError> {
        Self::over(topology, &topology.all_links_active())
    }

    /// The routes over the links that are `active`, by index into [`Topology::links`]. If the last
    /// of several parallel links is not active, none of the others replaces it.
    ///
    /// # Errors What routes cannot represent of the topology or of the list of links.
    pub fn over(topology: &Topology, active: &[bool]) -> Result<Self, RouteError> {
        check(topology, active)?;
        let most_ports = most_ports(topology, &topology.adjacency())?;
        let graph = Graph::new(topology, active);
        let (destinations, origins) = destinations(topology, &graph);
        let mut rows = vec![NONE; topology.nodes.len()];
        for (row, switch) in (0..).zip(topology.switches()) {
            rows[switch as usize] = row;
        }
        let mut sets = PortSetBuilder::new(most_ports);
        let cells = fill(&graph, &rows, &origins, &mut sets);
        Ok(Self { destinations, rows, cells, columns: origins.len(), sets: sets.finish() })
    }

    /// The ports by which `switch` may forward to the host `destination`, in the order that a hash
    /// indexes. Empty if there is no path, or if `switch` is not a switch or `destination` not a
    /// host.
    #[inline]
    pub fn next_hops(&self, switch: NodeId, destination: NodeId) -> &[u16] {
        self.set(switch, destination).map_or(&[], |set| self.sets.ports(set))
    }

    /// The port by which `switch` forwards a packet from the host `source` to the host
    /// `destination`: one of [`Self::next_hops`]; `None` if there is none. `ports` is the packet's
    /// UDP source port plus 2^16 times its destination port.
    ///
    /// If there is only one port, nothing is hashed.
    #[inline]
    pub fn egress(
        &self,
        switch: NodeId,
        destination: NodeId,
        source: NodeId,
        ports: u32,
    ) -> Option<u16> {
        let set = self.set(switch, destination)?;
        if let Some(port) = self.sets.as_single(set) {
            return Some(port);
        }
        let next_hops = self.sets.ports(set);
        let words = [Self::address(source), Self::address(destination), ports];
        let hash = hash::murmur3(words, switch);
        let (hash, count) = (hash as usize, next_hops.len());
        // A mask is several times faster than a division, and most switches have 2^n uplinks.
        let place =
            if count.is_power_of_two() { hash & (count - 1) } else { hash.checked_rem(count)? };
        next_hops.get(place).copied()
    }

    /// The IPv4 address of a host: 11.x.y.1, with its id in x and y.
    #[inline]
    pub const fn address(host: NodeId) -> u32 {
        0x0b00_0001u32.wrapping_add(host.wrapping_mul(0x100))
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.destinations.capacity() * size_of::<Destination>()
            + self.rows.capacity() * size_of::<u32>()
            + self.cells.capacity() * size_of::<PortSetId>()
            + self.sets.heap_bytes()
    }

    #[inline]
    fn set(&self, switch: NodeId, destination: NodeId) -> Option<PortSetId> {
        let destination = self.destinations.get(destination as usize)?;
        if destination.switch == switch {
            return (switch != NONE).then_some(PortSetId::single(destination.port));
        }
        let row = *self.rows.get(switch as usize)?;
        if row == NONE || destination.column == NONE {
            return None;
        }
        Some(self.cells[row as usize * self.columns + destination.column as usize])
    }
}

/// The entry of each host, and for each column one host to search from.
fn destinations(topology: &Topology, graph: &Graph) -> (Vec<Destination>, Vec<NodeId>) {
    let no_destination = Destination { column: NONE, switch: NONE, port: 0 };
    let mut destinations = vec![no_destination; topology.nodes.len()];
    let mut column_of = vec![NONE; topology.nodes.len()];
    let mut origins = Vec::new();
    for host in topology.hosts() {
        let attachment = graph.attachment(host);
        let shared = attachment.map_or(NONE, |edge| column_of[edge.to as usize]);
        let column = if shared == NONE { index(origins.len()) } else { shared };
        if shared == NONE {
            origins.push(host);
        }
        let destination = &mut destinations[host as usize];
        destination.column = column;
        if let Some(edge) = attachment {
            column_of[edge.to as usize] = column;
            (destination.switch, destination.port) = (edge.to, edge.far_port);
        }
    }
    (destinations, origins)
}

fn index(len: usize) -> u32 {
    u32::try_from(len).expect("columns are fewer than nodes")
}

/// The cells of all switches, row by row.
fn fill(
    graph: &Graph,
    rows: &[u32],
    origins: &[NodeId],
    sets: &mut PortSetBuilder,
) -> Vec<PortSetId> {
    let columns = origins.len();
    let switches = rows.iter().filter(|&&row| row != NONE).count();
    let mut cells = vec![sets.empty(); switches * columns];
    let mut search = Search::new(graph);
    let mut lists: Vec<Vec<u16>> = vec![Vec::new(); switches];
    for (column, &origin) in origins.iter().enumerate() {
        search.run(origin, |_, edge, _| {
            if let Some(list) = lists.get_mut(rows[edge.to as usize] as usize) {
                list.push(edge.far_port);
            }
        });
        for (row, list) in lists.iter_mut().enumerate() {
            let cell = row * columns + column;
            let guess = cells[cell.saturating_sub(1)];
            cells[cell] = sets.intern(list, guess);
            list.clear();
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration};

    use super::*;
    use crate::{Node, NodeKind, TopologyLink};

    /// Two hosts (0 and 1), and switches from 2 on.
    fn network(nodes: u32, links: &[(NodeId, NodeId)]) -> Topology {
        let node = |id| match id {
            0 | 1 => Node { name: format!("host-{id}"), kind: NodeKind::Host },
            _ => Node { name: format!("switch-{id}"), kind: NodeKind::Switch { tier: 0 } },
        };
        let (rate, delay) = (Bandwidth::from_gbps(100), Duration::from_us(1));
        let link = |&(a, b)| TopologyLink { a, b, rate, delay, loss: 0.0 };
        Topology {
            nodes: (0..nodes).map(node).collect(),
            links: links.iter().map(link).collect(),
            ..Topology::default()
        }
    }

    #[test]
    fn next_hops_stand_in_the_order_of_the_search() {
        // From host 0: 9, then 3 and 4, then 8 (by way of 3) before 7 (by way of 4).
        let links = [(0, 9), (9, 3), (9, 4), (3, 8), (4, 7), (7, 10), (8, 10), (10, 1)];
        let routes = HpccNs3Routes::new(&network(11, &links)).expect("it has routes");
        assert_eq!(routes.next_hops(10, 0), [1, 0], "to 8, then to 7");
        // From host 1: 10, then 7 and 8, then 4 (by way of 7) before 3.
        assert_eq!(routes.next_hops(9, 1), [2, 1], "to 4, then to 3");
        assert_eq!((routes.next_hops(10, 1), routes.next_hops(9, 0)), (&[2][..], &[0][..]));
        assert_eq!(routes.next_hops(2, 0), [0u16; 0], "switch 2 has no link");
        assert_eq!(routes.next_hops(0, 1), [0u16; 0], "a host does not forward");
        assert_eq!(routes.next_hops(10, 9), [0u16; 0], "a switch is no destination");
        assert_eq!(routes.next_hops(u32::MAX, 0), [0u16; 0]);
    }

    #[test]
    fn the_hash_chooses_among_them_by_its_remainder() {
        let links = [(0, 2), (2, 3), (2, 4), (2, 5), (3, 6), (4, 6), (5, 6), (6, 1)];
        let routes = HpccNs3Routes::new(&network(7, &links)).expect("it has routes");
        assert_eq!(routes.next_hops(2, 1), [1, 2, 3]);
        for source_port in 10_000..10_050u32 {
            let ports = source_port | 100 << 16;
            let hash = hash::murmur3([0x0b00_0001, 0x0b00_0101, ports], 2);
            let expected = [1, 2, 3][(hash % 3) as usize];
            assert_eq!(routes.egress(2, 1, 0, ports), Some(expected));
        }
        assert_eq!(routes.egress(4, 1, 0, 0), Some(1));
        assert_eq!(routes.egress(1, 0, 0, 0), None);
    }

    #[test]
    fn of_parallel_links_the_last_carries_everything() {
        let network = network(4, &[(0, 2), (2, 3), (3, 2), (2, 3), (3, 1)]);
        let routes = HpccNs3Routes::new(&network).expect("it has routes");
        assert_eq!(routes.next_hops(2, 1), [3]);
        assert_eq!(routes.next_hops(3, 0), [2]);
        let routes = HpccNs3Routes::over(&network, &[true, true, true, false, true]);
        assert_eq!(routes.expect("it has routes").next_hops(2, 1), [0u16; 0], "none is left");
    }

    #[test]
    fn a_failed_link_leaves_the_other_ways() {
        let network = network(6, &[(0, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 1)]);
        let active = [true, true, true, false, true, true];
        let routes = HpccNs3Routes::over(&network, &active).expect("it has routes");
        assert_eq!(routes.next_hops(2, 1), [2]);
        assert_eq!(routes.next_hops(3, 1), [0], "back, and round by the other switch");
        let error = HpccNs3Routes::over(&network, &[true]).expect_err("too short a list");
        assert_eq!(error, RouteError::ActiveLinks { active: 1, links: 6 });
    }

    #[test]
    fn a_host_with_two_links_is_reached_over_both() {
        let links = [(0, 2), (2, 3), (2, 4), (3, 1), (4, 1)];
        let routes = HpccNs3Routes::new(&network(5, &links)).expect("it has routes");
        assert_eq!(routes.next_hops(2, 1), [1, 2]);
        assert_eq!((routes.next_hops(3, 1), routes.next_hops(4, 1)), (&[1][..], &[1][..]));
        assert_eq!(routes.next_hops(3, 0), [0]);
    }

    #[test]
    fn an_address_holds_the_id() {
        assert_eq!(HpccNs3Routes::address(0), 0x0b00_0001);
        assert_eq!(HpccNs3Routes::address(255), 0x0b00_ff01);
        assert_eq!(HpccNs3Routes::address(300), 0x0b01_2c01);
    }
}

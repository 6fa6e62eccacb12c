//! Fills the tables: a breadth-first search from each switch with hosts.

use std::collections::BTreeMap;

use super::port_sets::{PortSetBuilder, PortSetId};
use super::{Attachment, NONE, RouteError, Routes};
use crate::topology::{Adjacency, MAX_LINKS, MAX_NODES, MAX_PORTS, NodeId, Topology};

pub(super) fn build(topology: &Topology, active: &[bool]) -> Result<Routes, RouteError> {
    check(topology, active)?;
    let adjacency = topology.adjacency();
    let most_ports = most_ports(topology, &adjacency)?;
    let (attachments, destinations) = attach(topology, &adjacency, active)?;

    let switches = SwitchGraph::new(topology, &adjacency, active);
    let mut sets = PortSetBuilder::new(most_ports);
    let cells = fill(&switches, &destinations, &mut sets);
    let columns = destinations.len();
    let (row_of, cells) = share_rows(&cells, columns, switches.ids.len());

    let mut rows = vec![NONE; topology.nodes.len()];
    for (&switch, row) in switches.ids.iter().zip(row_of) {
        rows[switch as usize] = row;
    }
    let attached = BTreeMap::new();
    let sets = sets.finish();
    let (seed, path_mask) = (0, 0);
    Ok(Routes { attachments, attached, rows, cells, columns, path_mask, sets, seed, adjacency })
}

pub(super) fn check(topology: &Topology, active: &[bool]) -> Result<(), RouteError> {
    let (nodes, links) = (topology.nodes.len(), topology.links.len());
    if active.len() != links {
        return Err(RouteError::ActiveLinks { active: active.len(), links });
    }
    if nodes > MAX_NODES || links > MAX_LINKS {
        return Err(RouteError::TooLarge);
    }
    for (index, link) in topology.links.iter().enumerate() {
        if let Some(node) = [link.a, link.b].into_iter().find(|&end| end as usize >= nodes) {
            return Err(RouteError::NoSuchNode { link: index, node });
        }
    }
    Ok(())
}

pub(super) fn most_ports(topology: &Topology, adjacency: &Adjacency) -> Result<u16, RouteError> {
    let mut most = 0;
    for node in topology.switches() {
        let ports = adjacency.ports_of(node).len();
        let ports = u16::try_from(ports).map_err(|_| RouteError::TooManyPorts { node })?;
        most = most.max(ports);
    }
    const { assert!(MAX_PORTS < u16::MAX as usize) };
    Ok(most)
}

/// The hosts' attachments, and the switches that have hosts, in order of their columns.
fn attach(
    topology: &Topology,
    adjacency: &Adjacency,
    active: &[bool],
) -> Result<(Vec<Attachment>, Vec<NodeId>), RouteError> {
    let mut attachments = vec![Attachment::DETACHED; topology.nodes.len()];
    let mut destinations = Vec::new();
    for switch in topology.switches() {
        let before = attachments_of(switch, destinations.len());
        let mut has_hosts = false;
        for (number, port) in (0..).zip(adjacency.ports_of(switch)) {
            if !active[port.link as usize] || !topology.is_host(port.node) {
                continue;
            }
            let attachment = &mut attachments[port.node as usize];
            if attachment.switch != NONE {
                return Err(RouteError::SeveralHostLinks { host: port.node });
            }
            *attachment = Attachment { port: number, ..before };
            has_hosts = true;
        }
        if has_hosts {
            destinations.push(switch);
        }
    }
    Ok((attachments, destinations))
}

fn attachments_of(switch: NodeId, column: usize) -> Attachment {
    let column = u32::try_from(column).expect("columns are fewer than nodes");
    Attachment { switch, column, port: 0 }
}

/// The switches and the active links between them, with switches numbered without gaps.
struct SwitchGraph {
    ids: Vec<NodeId>,
    starts: Vec<usize>,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy)]
struct Edge {
    /// Number of the switch at the other end.
    to: u32,
    port: u16,
}

impl SwitchGraph {
    fn new(topology: &Topology, adjacency: &Adjacency, active: &[bool]) -> Self {
        let ids: Vec<_> = topology.switches().collect();
        let mut numbers = vec![NONE; topology.nodes.len()];
        for (number, &id) in (0..).zip(&ids) {
            numbers[id as usize] = number;
        }
        let (mut starts, mut edges) = (vec![0], Vec::new());
        for &id in &ids {
            let ports = (0..).zip(adjacency.ports_of(id));
            let usable = ports.filter(|(_, port)| active[port.link as usize] && port.node != id);
            let to_switches = usable
                .map(|(port, far)| Edge { to: numbers[far.node as usize], port })
                .filter(|edge| edge.to != NONE);
            edges.extend(to_switches);
            starts.push(edges.len());
        }
        Self { ids, starts, edges }
    }

    fn edges(&self, switch: u32) -> &[Edge] {
        let switch = switch as usize;
        &self.edges[self.starts[switch]..self.starts[switch + 1]]
    }

    /// Whether two switches have links to the same others, in the same order.
    fn are_twins(&self, a: u32, b: u32) -> bool {
        let far = |switch| self.edges(switch).iter().map(|edge| edge.to);
        a != b && far(a).eq(far(b))
    }
}

/// A search from one switch over all others, reused for the next.
struct Search<'a> {
    graph: &'a SwitchGraph,
    /// Links from the origin to each switch; [`NONE`] where it does not reach.
    distances: Vec<u32>,
    /// The switches reached, nearest first.
    order: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a SwitchGraph) -> Self {
        let switches = graph.ids.len();
        Self { graph, distances: vec![NONE; switches], order: Vec::with_capacity(switches) }
    }

    fn run(&mut self, origin: u32) {
        self.distances.fill(NONE);
        self.order.clear();
        self.distances[origin as usize] = 0;
        self.order.push(origin);
        let mut head = 0;
        while let Some(&switch) = self.order.get(head) {
            if self.order.len() == self.distances.len() {
                return; // All switches are found. This is usually long before all links have been looked at.
            }
            head += 1;
            let distance = self.distances[switch as usize] + 1;
            for edge in self.graph.edges(switch) {
                let known = &mut self.distances[edge.to as usize];
                if *known == NONE {
                    *known = distance;
                    self.order.push(edge.to);
                }
            }
        }
    }

    /// The ports of a switch that lead nearer to the origin, ascending.
    fn next_hops(&self, switch: u32, ports: &mut Vec<u16>) {
        ports.clear();
        let nearer = self.distances[switch as usize].wrapping_sub(1);
        let edges = self.graph.edges(switch).iter();
        ports.extend(
            edges.filter(|edge| self.distances[edge.to as usize] == nearer).map(|edge| edge.port),
        );
    }
}

/// The column of a switch with hosts: the port sets by which every switch forwards to it.
struct Column<'a> {
    search: Search<'a>,
    /// The destination switch; `None` before the first.
    origin: Option<u32>,
    /// Indexed by switch; the origin's own cell has no meaning.
    cells: Vec<PortSetId>,
    ports: Vec<u16>,
}

impl<'a> Column<'a> {
    fn new(graph: &'a SwitchGraph, empty: PortSetId) -> Self {
        let cells = vec![empty; graph.ids.len()];
        Self { search: Search::new(graph), origin: None, cells, ports: Vec::new() }
    }

    /// Turns to the column of the next destination switch.
    fn turn_to(&mut self, origin: u32, sets: &mut PortSetBuilder) {
        match self.origin.replace(origin) {
            Some(before) if self.search.graph.are_twins(before, origin) => {
                self.turn_to_twin(before, origin, sets);
            }
            _ => self.search_from(origin, sets),
        }
        self.cells[origin as usize] = sets.empty();
    }

    fn search_from(&mut self, origin: u32, sets: &mut PortSetBuilder) {
        self.search.run(origin);
        if self.search.order.len() < self.cells.len() {
            self.cells.fill(sets.empty()); // Some switches may not reach the origin.
        }
        for place in 1..self.search.order.len() {
            self.look_up(self.search.order[place], sets);
        }
    }

    /// Turns to the column of a switch that has the same neighbours as the one before. All other
    /// switches are as far from the one as from the other, so their cells stay the same; only those
    /// of the neighbours change.
    fn turn_to_twin(&mut self, before: u32, origin: u32, sets: &mut PortSetBuilder) {
        self.search.distances.swap(before as usize, origin as usize);
        let graph = self.search.graph;
        for edge in graph.edges(origin) {
            self.look_up(edge.to, sets);
        }
        self.look_up(before, sets);
    }

    fn look_up(&mut self, switch: u32, sets: &mut PortSetBuilder) {
        self.search.next_hops(switch, &mut self.ports);
        let cell = &mut self.cells[switch as usize];
        *cell = sets.intern(&self.ports, *cell);
    }
}

/// Number of columns that are filled side by side: one cache line of each row, because rows are
/// long and far apart in memory.
const BLOCK: usize = 16;

/// The cells of all switches, row by row.
fn fill(graph: &SwitchGraph, destinations: &[NodeId], sets: &mut PortSetBuilder) -> Vec<PortSetId> {
    let (columns, empty) = (destinations.len(), sets.empty());
    let mut cells = vec![empty; graph.ids.len() * columns];
    // The switches are in ascending order, as are those with hosts.
    let numbers: Vec<u32> = (0..)
        .zip(&graph.ids)
        .filter(|(_, id)| destinations.binary_search(id).is_ok())
        .map(|(number, _)| number)
        .collect();
    let mut column = Column::new(graph, empty);
    let mut block = vec![empty; graph.ids.len() * BLOCK];
    for (number, origins) in numbers.chunks(BLOCK).enumerate() {
        for (place, &origin) in origins.iter().enumerate() {
            column.turn_to(origin, sets);
            let places = block.iter_mut().skip(place).step_by(BLOCK);
            places.zip(&column.cells).for_each(|(place, &cell)| *place = cell);
        }
        let rows = cells.chunks_exact_mut(columns).zip(block.chunks_exact(BLOCK));
        for (row, block) in rows {
            row[number * BLOCK..][..origins.len()].copy_from_slice(&block[..origins.len()]);
        }
    }
    // A switch never looks up itself. Its own cell is copied from the column beside it, so that
    // switches which differ in nothing else can share a row.
    for (column, &origin) in numbers.iter().enumerate() {
        let row = origin as usize * columns;
        let beside = if column > 0 { column - 1 } else { (columns - 1).min(1) };
        cells[row + column] = cells[row + beside];
    }
    cells
}

/// Removes duplicate rows. Returns each switch's row number, and the cells of the distinct rows.
pub(super) fn share_rows(
    cells: &[PortSetId],
    columns: usize,
    switches: usize,
) -> (Vec<u32>, Vec<PortSetId>) {
    if columns == 0 {
        return (vec![0; switches], Vec::new());
    }
    let mut known = BTreeMap::new();
    let mut shared = Vec::new();
    let row_of = cells
        .chunks_exact(columns)
        .map(|row| {
            let next = u32::try_from(known.len()).expect("rows are fewer than nodes");
            *known.entry(row).or_insert_with(|| {
                shared.extend_from_slice(row);
                next
            })
        })
        .collect();
    shared.shrink_to_fit();
    (row_of, shared)
}

//! Single-source shortest path (SSSP): shortest ways, each chosen by how many ways links carry already.

use super::heap::Heap;
use crate::balance;
use crate::subnet::Subnet;
use crate::tables::{ForwardingTables, Tables};

/// The tables of SSSP. May have credit loops.
pub(super) fn route(subnet: &Subnet) -> Tables {
    Tables::on_one_lane(forwarding(subnet))
}

/// The forwarding tables of SSSP and DFSSSP.
pub(super) fn forwarding(subnet: &Subnet) -> ForwardingTables {
    let graph = subnet.graph();
    let order = balance::by_attached(graph);
    let mut tables = ForwardingTables::empty(subnet);
    let mut weights = Weights::new(subnet);
    for &switch in &order {
        for (port, end_port) in graph.attached(switch) {
            for lid in subnet.end_ports()[end_port].lids.iter() {
                weights.route(switch, Source::Attached, lid, &mut tables);
                tables.set(switch, lid, port);
            }
        }
    }
    for &switch in &order {
        weights.route(switch, Source::Itself, subnet.switch_lid(switch), &mut tables);
    }
    tables
}

/// What is the target, from which the search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A channel adapter at the switch.
    Attached,
    /// The switch.
    Itself,
}

/// A link in one direction: away from the target of a search.
#[derive(Clone, Copy, Debug)]
struct Link {
    from: usize,
    to: usize,
    /// The port at `to`, by which packets come back.
    port: u8,
    weight: u64,
}

/// What links carry.
struct Weights {
    /// All links; those from a switch are next to each other.
    links: Vec<Link>,
    /// For each switch, its first link; one more at the end.
    first: Vec<usize>,
    /// For each switch, the LIDs that are reached over it: its own and those of what is attached.
    lids: Vec<u64>,
    heap: Heap,
    /// For each switch, the link by which it is reached.
    used: Vec<Option<usize>>,
    is_done: Vec<bool>,
}

impl Weights {
    fn new(subnet: &Subnet) -> Self {
        let graph = subnet.graph();
        let all: u64 = subnet.end_ports().iter().map(|one| u64::from(one.lids.count)).sum();
        // So heavy that no balance makes a longer way lighter.
        let weight = all * all;
        let mut links = Vec::new();
        let mut first = Vec::with_capacity(graph.len() + 1);
        for from in 0..graph.len() {
            first.push(links.len());
            let leads = graph.links(from);
            links.extend(leads.map(|(_, to, port)| Link { from, to, port, weight }));
        }
        first.push(links.len());
        Self {
            links,
            first,
            lids: (0..graph.len()).map(|switch| lids_at(subnet, switch).into()).collect(),
            // A channel adapter that is the target comes last.
            heap: Heap::new(graph.len() + 1),
            used: vec![None; graph.len()],
            is_done: vec![false; graph.len()],
        }
    }

    /// Writes the ways to a LID at `target` into the tables, and adds them to what links carry.
    fn route(&mut self, target: usize, source: Source, lid: u16, tables: &mut ForwardingTables) {
        self.search(target, source);
        for switch in 0..self.used.len() {
            if let Some(link) = self.used[switch] {
                tables.set(switch, lid, self.links[link].port);
            }
            let mut here = switch;
            while let Some(link) = self.used[here] {
                self.links[link].weight += self.lids[switch];
                here = self.links[link].from;
            }
        }
    }

    /// Dijkstra's search from the target outwards.
    fn search(&mut self, target: usize, source: Source) {
        let adapter = self.used.len();
        self.used.fill(None);
        self.is_done.fill(false);
        self.heap.refill(if source == Source::Attached { adapter + 1 } else { adapter });
        self.heap.lower(if source == Source::Attached { adapter } else { target }, 0);
        while let Some(here) = self.heap.pop() {
            let distance = self.heap.key(here);
            if distance == u64::MAX {
                continue;
            }
            if here == adapter {
                // The link to the switch weighs as little as nothing: all ways have it.
                self.heap.lower(target, 1);
                continue;
            }
            self.is_done[here] = true;
            for index in self.first[here]..self.first[here + 1] {
                let link = self.links[index];
                let along = distance + link.weight;
                if !self.is_done[link.to] && along < self.heap.key(link.to) {
                    self.used[link.to] = Some(index);
                    self.heap.lower(link.to, along);
                }
            }
        }
    }
}

/// LIDs of a switch and of what is attached to it.
pub(super) fn lids_at(subnet: &Subnet, switch: usize) -> u32 {
    let lids = |(_, end_port): (u8, usize)| u32::from(subnet.end_ports()[end_port].lids.count);
    subnet.graph().attached(switch).map(lids).sum::<u32>() + 1
}

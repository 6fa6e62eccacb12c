//! A bound on all paths between two switches, whatever routes there are.
//!
//! No path has fewer links than the shortest, passes less time on cables and in switches than that on
//! which least passes, nor has a slowest link that is faster than that of the widest path. No link is faster than
//! the fastest of the topology.

use std::collections::{BTreeMap, VecDeque};

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, Topology};
use rocelab_units::{Bandwidth, Duration};

use super::ways::{Step, Way};

/// Bounds on the paths from each switch that was asked for to all others.
#[derive(Debug)]
pub(super) struct AnyPath {
    /// The highest rate between switches.
    fastest: Bandwidth,
    /// Whether any switch cuts through.
    cuts_through: bool,
    limits: BTreeMap<NodeId, Vec<Option<Limits>>>,
}

/// What no path to a switch is below, each over another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    links: usize,
    delay: Duration,
    /// No path has a slowest link that is faster.
    rate: Bandwidth,
}

impl Limits {
    fn best_of(self, other: Self) -> Self {
        Self {
            links: self.links.min(other.links),
            delay: self.delay.min(other.delay),
            rate: self.rate.max(other.rate),
        }
    }
}

impl AnyPath {
    pub(super) fn new(topology: &Topology, cuts_through: &[bool]) -> Self {
        let between = |a, b| topology.is_switch(a) && topology.is_switch(b);
        let links = topology.links.iter().filter(|link| between(link.a, link.b));
        Self {
            fastest: links.map(|link| link.rate).max().unwrap_or_default(),
            cuts_through: cuts_through.contains(&true),
            limits: BTreeMap::new(),
        }
    }

    /// A way that no path is quicker than from one switch to another, with the links of hosts before and
    /// behind it; none if no links join them.
    pub(super) fn bound(
        &mut self,
        topology: &Topology,
        adjacency: &Adjacency,
        latencies: &[Duration],
        (from, to): (NodeId, NodeId),
        (up, down): (Step, Step),
    ) -> Option<Way> {
        let limits =
            self.limits.entry(from).or_insert_with(|| limits(topology, adjacency, latencies, from));
        let limits = limits[to as usize]?;
        let cuts_through = self.cuts_through;
        let (mut first, mut links) = (up, limits.links);
        if limits.rate < up.rate.min(down.rate).min(self.fastest) {
            // It is not known where on the path its slowest link is. At the front, in the place of the
            // host's link, it holds up a message no more than elsewhere: no frame is longer than the first.
            (first.rate, links) = (limits.rate, links.saturating_sub(1));
        }
        let way = Way::default().then_at_best(first);
        let between = Step { rate: self.fastest, delay: Duration::ZERO, cuts_through };
        let way = (0..links).fold(way, |way, _| way.then_at_best(between));
        let delay = limits.delay + down.delay;
        Some(way.then_at_best(Step { delay, cuts_through, ..down }))
    }
}

/// By node, from one switch.
fn limits(
    topology: &Topology,
    adjacency: &Adjacency,
    latencies: &[Duration],
    from: NodeId,
) -> Vec<Option<Limits>> {
    let mut limits = vec![None; topology.nodes.len()];
    let rate = Bandwidth::from_bps(u64::MAX);
    limits[from as usize] = Some(Limits { links: 0, delay: Duration::ZERO, rate });
    let mut waits = vec![false; topology.nodes.len()];
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        waits[node as usize] = false;
        let Some(here) = limits[node as usize] else { continue };
        for port in adjacency.ports_of(node).iter().filter(|port| topology.is_switch(port.node)) {
            let link = &topology.links[port.link as usize];
            let next = port.node as usize;
            let over = Limits {
                links: here.links + 1,
                delay: here.delay + link.delay + latencies[next],
                rate: here.rate.min(link.rate),
            };
            let best = limits[next].map_or(over, |known: Limits| known.best_of(over));
            if limits[next] != Some(best) {
                limits[next] = Some(best);
                if !std::mem::replace(&mut waits[next], true) {
                    open.push_back(port.node);
                }
            }
        }
    }
    limits
}

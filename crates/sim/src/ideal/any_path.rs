//! A bound on all paths between two switches, whatever routes there are.
//!
//! No path has fewer links than the shortest, passes less time on cables and in switches than that on
//! which least passes, nor has a slowest link that is faster than that of the widest path. No link is faster than
//! the fastest of the topology.

use std::collections::VecDeque;

use rocelab_fabric::NodeId;
use rocelab_units::{Bandwidth, Duration};

use super::ground::Ground;
use super::kept::{Kept, PerSwitch};
use super::ways::{Step, Way};

/// What is kept of the limits from all switches (bytes).
const MOST_BYTES: usize = 256 << 20;

/// Bounds on the paths from each switch that was asked for to all others with hosts.
#[derive(Debug)]
pub(super) struct AnyPath {
    /// The highest rate between switches.
    fastest: Bandwidth,
    /// Whether any switch cuts through.
    cuts_through: bool,
    limits: Kept<NodeId, PerSwitch<Limits>>,
}

/// What no path to a switch is below, each over another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Limits {
    links: u32,
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
    pub(super) fn new(ground: &Ground) -> Self {
        let topology = &ground.topology;
        let between = |a, b| topology.is_switch(a) && topology.is_switch(b);
        let links = topology.links.iter().filter(|link| between(link.a, link.b));
        Self {
            fastest: links.map(|link| link.rate).max().unwrap_or_default(),
            cuts_through: ground.cuts_through.contains(&true),
            limits: Kept::new(MOST_BYTES),
        }
    }

    /// A way that no path is quicker than from one switch with hosts to another, with the links of hosts before
    /// and behind it; none if no links join them.
    pub(super) fn bound(
        &mut self,
        ground: &Ground,
        (from, to): (NodeId, NodeId),
        (up, down): (Step, Step),
    ) -> Option<Way> {
        let limits = self.limits(ground, from, to)?;
        let cuts_through = self.cuts_through;
        let (mut first, mut links) = (up, limits.links);
        if limits.rate < up.rate.min(down.rate).min(self.fastest) {
            // It is not known where on the path its slowest link is. At the front, in the place of the
            // host's link, it holds up a message no more than elsewhere: no frame is longer than the first.
            (first.rate, links) = (limits.rate, links.saturating_sub(1));
        }
        let way = Way::default().then_at_best(first);
        let between = Step { rate: self.fastest, delay: Duration::ZERO, cuts_through, ..up };
        let way = (0..links).fold(way, |way, _| way.then_at_best(between));
        let delay = limits.delay + down.delay;
        Some(way.then_at_best(Step { delay, cuts_through, ..down }))
    }

    /// As [`Self::bound`] for frames of which each may take another path. They go one after the other over the
    /// links of both hosts alone, of which the slower one is put first: it holds up a message no more there than
    /// where it is. Between them each frame takes its time for itself.
    pub(super) fn bound_on_several(
        &mut self,
        ground: &Ground,
        (from, to): (NodeId, NodeId),
        (up, down): (Step, Step),
    ) -> Option<Way> {
        let limits = self.limits(ground, from, to)?;
        let cuts_through = self.cuts_through;
        let (first, last) = (up.rate.min(down.rate), up.rate.max(down.rate));
        let slowest = limits.rate.min(self.fastest);
        let way = Way::default().then_at_best(Step { rate: first, ..up });
        let between = |rate| Step { rate, delay: Duration::ZERO, cuts_through, ..up };
        let links = [slowest].into_iter().chain(std::iter::repeat(self.fastest));
        let links = links.take(limits.links as usize);
        let way = links.fold(way, |way, rate| way.then_side_by_side(between(rate)));
        let delay = limits.delay + down.delay;
        Some(way.then_side_by_side(Step { rate: last, delay, cuts_through, ..down }))
    }

    fn limits(&mut self, ground: &Ground, from: NodeId, to: NodeId) -> Option<Limits> {
        if self.limits.get(from).is_none() {
            let all = limits(ground, from);
            let limits = PerSwitch::new(ground, |switch| all[switch], |limits| limits);
            let bytes = limits.bytes(|_| size_of::<Limits>());
            self.limits.insert(from, limits, bytes);
        }
        self.limits.get(from)?.get(ground.end_place(to)).copied()
    }

    /// From how many switches limits are kept.
    #[cfg(test)]
    pub(super) fn roots(&self) -> usize {
        self.limits.len()
    }
}

/// By place among the switches, from one of them.
fn limits(ground: &Ground, from: NodeId) -> Vec<Option<Limits>> {
    let mut limits = vec![None; ground.switches()];
    let rate = Bandwidth::from_bps(u64::MAX);
    limits[ground.place(from)] = Some(Limits { links: 0, delay: Duration::ZERO, rate });
    let mut waits = vec![false; ground.switches()];
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        waits[ground.place(node)] = false;
        let Some(here) = limits[ground.place(node)] else { continue };
        for &port in ground.adjacency.ports_of(node) {
            if !ground.topology.is_switch(port.node) {
                continue;
            }
            let step = ground.step(node, port);
            let next = ground.place(port.node);
            let over = Limits {
                links: here.links + 1,
                delay: here.delay + step.delay,
                rate: here.rate.min(step.rate),
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

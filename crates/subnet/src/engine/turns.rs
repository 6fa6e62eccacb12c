//! Ways that never turn a forbidden way round: the search that up/down and down/up share.

use std::collections::VecDeque;

use crate::graph::SwitchGraph;
use crate::hops::{LeastHops, UNREACHED};

/// The direction of a step from a switch to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
    /// Neither: only down/up knows it.
    Equal,
}

/// The rules of an engine.
pub(super) trait Turns {
    /// The direction with which a search begins.
    const START: Direction;

    /// The direction of a step.
    fn direction(&self, from: usize, to: usize) -> Direction;

    /// Whether a step in the direction `next` may come after one in the direction `last`.
    fn is_legal(last: Direction, next: Direction) -> bool;
}

/// The least hops of legal ways, found from each target outwards.
pub(super) fn least_hops<T: Turns>(graph: &SwitchGraph, turns: &T) -> LeastHops {
    let mut least = LeastHops::none(graph);
    let mut search = Search::new(graph);
    for target in 0..graph.len() {
        search.run(graph, turns, target);
        for from in 0..graph.len() {
            let hops = search.least[from];
            if hops != UNREACHED {
                let ports = (0..=u8::MAX).zip(&search.hops[from]);
                let ports = ports.filter(|&(_, &one)| one == hops && from != target);
                least.set(from, target, hops, ports.map(|(port, _)| port));
            }
        }
    }
    least
}

/// A search from a target outwards.
struct Search {
    /// For each switch and port, the hops to the target.
    hops: Vec<Vec<u8>>,
    /// For each switch, the least of them.
    least: Vec<u8>,
    is_queued: Vec<bool>,
    /// The direction of the last step to each switch.
    last: Vec<Direction>,
}

impl Search {
    fn new(graph: &SwitchGraph) -> Self {
        let ports = |switch| vec![UNREACHED; graph.ports(switch).len()];
        Self {
            hops: (0..graph.len()).map(ports).collect(),
            least: vec![UNREACHED; graph.len()],
            is_queued: vec![false; graph.len()],
            last: vec![Direction::Equal; graph.len()],
        }
    }

    fn run<T: Turns>(&mut self, graph: &SwitchGraph, turns: &T, target: usize) {
        self.hops.iter_mut().for_each(|hops| hops.fill(UNREACHED));
        self.least.fill(UNREACHED);
        self.least[target] = 0;
        self.hops[target][0] = 0;
        self.last[target] = T::START;
        let mut queue = VecDeque::from([target]);
        while let Some(switch) = queue.pop_front() {
            self.is_queued[switch] = false;
            let last = self.last[switch];
            for (_, next, port_there) in graph.links(switch) {
                let direction = turns.direction(switch, next);
                let hops = self.least[switch].saturating_add(1);
                let known = &mut self.hops[next][usize::from(port_there)];
                if !T::is_legal(last, direction) || hops >= *known {
                    continue;
                }
                *known = hops;
                self.least[next] = self.least[next].min(hops);
                // A switch may be queued again after its turn, with a later direction.
                if !std::mem::replace(&mut self.is_queued[next], true) {
                    self.last[next] = direction;
                    queue.push_back(next);
                }
            }
        }
    }
}

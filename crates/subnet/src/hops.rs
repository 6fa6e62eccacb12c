//! For each pair of switches, the least number of hops and the ports that achieve it.

use std::collections::VecDeque;

use crate::graph::SwitchGraph;

/// Hops to a switch that is not reached.
pub(crate) const UNREACHED: u8 = 255;

/// Bits of a word of a set of ports.
const WORD: usize = u64::BITS as usize;

/// For each pair of switches, the least number of hops from one to the other, and by which ports.
#[derive(Clone, Debug)]
pub(crate) struct LeastHops {
    switches: usize,
    /// Words of a set of ports.
    words: usize,
    hops: Vec<u8>,
    ports: Vec<u64>,
}

impl LeastHops {
    /// Nothing is reached.
    pub(crate) fn none(graph: &SwitchGraph) -> Self {
        let switches = graph.len();
        let words = graph.most_ports().div_ceil(WORD);
        let hops = vec![UNREACHED; switches * switches];
        Self { switches, words, ports: vec![0; hops.len() * words], hops }
    }

    /// By the shortest ways.
    pub(crate) fn shortest(graph: &SwitchGraph) -> Self {
        let mut least = Self::none(graph);
        for target in 0..graph.len() {
            for (from, hops) in distances(graph, target).into_iter().enumerate() {
                least.hops[from * graph.len() + target] = hops;
            }
        }
        for from in 0..graph.len() {
            for (port, neighbour, _) in graph.links(from) {
                for target in 0..graph.len() {
                    let hops = least.hops(neighbour, target);
                    if hops != UNREACHED && hops + 1 == least.hops(from, target) {
                        least.add_port(from, target, port);
                    }
                }
            }
        }
        least
    }

    /// Sets the least hops from a switch to another, and by which ports.
    pub(crate) fn set(
        &mut self,
        from: usize,
        target: usize,
        hops: u8,
        ports: impl Iterator<Item = u8>,
    ) {
        self.hops[from * self.switches + target] = hops;
        for port in ports {
            self.add_port(from, target, port);
        }
    }

    /// The least hops; [`UNREACHED`] if there is no way.
    pub(crate) fn hops(&self, from: usize, target: usize) -> u8 {
        self.hops[from * self.switches + target]
    }

    /// The ports of the least hops, in ascending order.
    pub(crate) fn ports(&self, from: usize, target: usize) -> impl Iterator<Item = u8> + '_ {
        let start = (from * self.switches + target) * self.words;
        let words = &self.ports[start..start + self.words];
        Ports { words, index: 0, left: words.first().copied().unwrap_or(0) }
    }

    fn add_port(&mut self, from: usize, target: usize, port: u8) {
        let start = (from * self.switches + target) * self.words;
        let port = usize::from(port);
        self.ports[start + port / WORD] |= 1 << (port % WORD);
    }
}

/// The ports of a set, in ascending order.
struct Ports<'w> {
    words: &'w [u64],
    index: usize,
    /// What is left of the word at the index.
    left: u64,
}

impl Iterator for Ports<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        while self.left == 0 {
            self.index += 1;
            self.left = *self.words.get(self.index)?;
        }
        let port = self.index * WORD + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        u8::try_from(port).ok()
    }
}

/// The hops from each switch to `target`.
pub(crate) fn distances(graph: &SwitchGraph, target: usize) -> Vec<u8> {
    let mut distances = vec![UNREACHED; graph.len()];
    distances[target] = 0;
    let mut queue = VecDeque::from([target]);
    while let Some(switch) = queue.pop_front() {
        for (_, neighbour, _) in graph.links(switch) {
            if distances[neighbour] == UNREACHED {
                distances[neighbour] = distances[switch] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    distances
}

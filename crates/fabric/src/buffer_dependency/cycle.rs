//! Finds a cycle of dependencies.
//!
//! The searches keep an explicit stack instead of recursing: a cycle may be as long as the number
//! of links, and recursion as in graph libraries would overflow. They work on the bit rows
//! directly.

use std::fmt::Write as _;

use super::{BufferDependencies, port_number};
use crate::topology::{NodeId, Topology};

/// A cycle of ingress buffers that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyCycle {
    /// Each buffer waits for the next, and the last for the first; at least two.
    pub waits: Vec<BufferWait>,
}

/// Frames that entered a switch by one port and wait to leave it by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferWait {
    /// The switch.
    pub switch: NodeId,
    /// The ingress port, counted from 0. The sender at its other end is paused.
    pub in_port: u16,
    /// The egress port in whose queue they wait, counted from 0. The next switch of the cycle is at
    /// its other end.
    pub out_port: u16,
}

impl DependencyCycle {
    /// The egress queues by name, such as `ring-0:3 -> ring-1:3 -> ring-0:3`: each waits until the
    /// next one accepts frames.
    pub fn describe(&self, topology: &Topology) -> String {
        let mut text = String::new();
        for wait in self.waits.iter().chain(self.waits.first()) {
            let arrow = if text.is_empty() { "" } else { " -> " };
            let name = topology.nodes.get(wait.switch as usize).map_or("?", |node| &node.name);
            // Writing to a string cannot fail.
            let _ = write!(text, "{arrow}{name}:{}", wait.out_port);
        }
        text
    }
}

/// The state of a port in the depth-first search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// On the current path.
    Open,
    /// Finished: no cycle can be reached from here.
    Done,
}

impl BufferDependencies {
    /// A cycle, if there is one: the shortest through one of its buffers.
    pub fn find_cycle(&self) -> Option<DependencyCycle> {
        let mut states = vec![State::New; self.ports.owners.len()];
        (0..states.len()).find_map(|start| self.search(start, &mut states)).map(|on_cycle| {
            let waits = self.shortest_through(on_cycle);
            DependencyCycle { waits }
        })
    }

    /// A port on a cycle that can be reached from the port `start`, if there is one.
    fn search(&self, start: usize, states: &mut [State]) -> Option<usize> {
        if states[start] != State::New {
            return None;
        }
        states[start] = State::Open;
        let mut way = vec![(start, self.successors(start))];
        while let Some((port, successors)) = way.last_mut() {
            match successors.next() {
                None => {
                    states[*port] = State::Done;
                    way.pop();
                }
                Some(next) => match states[next] {
                    State::New => {
                        states[next] = State::Open;
                        way.push((next, self.successors(next)));
                    }
                    State::Open => return Some(next),
                    State::Done => {}
                },
            }
        }
        None
    }

    /// The shortest cycle through the port `start`, which must be on one.
    fn shortest_through(&self, start: usize) -> Vec<BufferWait> {
        let mut before = vec![usize::MAX; self.ports.owners.len()];
        let mut order = vec![start];
        let mut head = 0;
        while let Some(&port) = order.get(head) {
            head += 1;
            for next in self.successors(port) {
                if before[next] == usize::MAX {
                    before[next] = port;
                    order.push(next);
                }
            }
            if before[start] != usize::MAX {
                break;
            }
        }
        let mut waits = Vec::new();
        let mut next = start;
        while before[next] != usize::MAX {
            let port = before[next];
            waits.push(self.wait(port, next));
            next = port;
            if next == start {
                break;
            }
        }
        waits.reverse();
        waits
    }

    /// The dependency of the buffer of `ingress` on the buffer of `next`.
    fn wait(&self, ingress: usize, next: usize) -> BufferWait {
        let switch = self.ports.owners[ingress];
        let first = self.ports.adjacency.first_port_index(switch);
        let out = self.ports.peers[next] as usize;
        BufferWait {
            switch,
            in_port: port_number(ingress - first),
            out_port: port_number(out - first),
        }
    }

    /// The ingress ports for whose buffers the buffer of `ingress` waits.
    fn successors(&self, ingress: usize) -> Successors<'_> {
        let first = self.ports.adjacency.first_port_index(self.ports.owners[ingress]);
        let row = &self.rows[self.starts[ingress]..self.starts[ingress + 1]];
        let mut words = row.iter();
        let word = words.next().copied().unwrap_or(0);
        Successors { peers: &self.ports.peers[first..], words, word, at: 0 }
    }
}

/// Iterates over the ports at the other ends of those ports whose bits are set.
struct Successors<'a> {
    /// The peers of the switch's ports, from port 0 on.
    peers: &'a [u32],
    words: std::slice::Iter<'a, u64>,
    word: u64,
    /// The port that bit 0 of `word` stands for.
    at: usize,
}

impl Iterator for Successors<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.at += 64;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.peers[self.at + bit] as usize)
    }
}

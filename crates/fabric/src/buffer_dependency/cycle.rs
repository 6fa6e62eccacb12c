//! Finds a cycle among dependencies.
//!
//! The searches keep their own stack: a cycle may be as long as the network has links, which is
//! more than recursive searches, as graph libraries have them, can be deep. They read the rows of
//! bits as they are.

use std::fmt::Write as _;

use super::{BufferDependencies, port_number};
use crate::topology::{NodeId, Topology};

/// Ingress buffers that wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyCycle {
    /// Each waits for the next, and the last for the first; at least two.
    pub waits: Vec<BufferWait>,
}

/// Frames that entered a switch by one port and wait to leave it by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferWait {
    /// The switch.
    pub switch: NodeId,
    /// Where they entered, counted from 0: the sender behind it is paused.
    pub in_port: u16,
    /// In whose queue they wait, counted from 0: the next switch of the cycle is behind it.
    pub out_port: u16,
}

impl DependencyCycle {
    /// The egress queues by name, such as `ring-0:3 -> ring-1:3 -> ring-0:3`: each waits for the
    /// next to be taken in.
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

/// How far the search has come with a port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// On the way that is being followed.
    Open,
    /// No cycle can be reached from here.
    Done,
}

impl BufferDependencies {
    /// A cycle, if there is any: the shortest of those through one of its buffers.
    pub fn find_cycle(&self) -> Option<DependencyCycle> {
        let mut states = vec![State::New; self.ports.owners.len()];
        (0..states.len()).find_map(|start| self.search(start, &mut states)).map(|on_cycle| {
            let waits = self.shortest_through(on_cycle);
            DependencyCycle { waits }
        })
    }

    /// A port that is on a cycle, if one is reached from the port `start`.
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

    /// The shortest cycle through the port `start`, which is on one.
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

    /// What waits in the buffer of `ingress` for that of `next`.
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

    /// The ingress ports that the buffer of one waits for.
    fn successors(&self, ingress: usize) -> Successors<'_> {
        let first = self.ports.adjacency.first_port_index(self.ports.owners[ingress]);
        let row = &self.rows[self.starts[ingress]..self.starts[ingress + 1]];
        let mut words = row.iter();
        let word = words.next().copied().unwrap_or(0);
        Successors { peers: &self.ports.peers[first..], words, word, at: 0 }
    }
}

/// The ports at the other ends of those whose bits are set.
struct Successors<'a> {
    /// From the switch's port 0 on.
    peers: &'a [u32],
    words: std::slice::Iter<'a, u64>,
    word: u64,
    /// The port of bit 0 of `word`.
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

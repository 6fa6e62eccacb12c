//! Which channel waits for which: the channel dependency graph of a lane.

use crate::channels::Channels;

/// Bits of a word of a set of ports.
const WORD: usize = u64::BITS as usize;

/// For each channel, the ports of the next switch by which its packets go on. They wait there for credits.
#[derive(Clone, Debug)]
pub(crate) struct Dependencies {
    words: usize,
    ports: Vec<u64>,
}

impl Dependencies {
    /// No channel waits.
    pub(crate) fn none(channels: &Channels) -> Self {
        let words = channels.most_ports().div_ceil(WORD);
        Self { words, ports: vec![0; channels.len() * words] }
    }

    /// Adds that packets of a channel go on by `port`. Returns whether that is new.
    pub(crate) fn add(&mut self, channel: usize, port: usize) -> bool {
        let word = &mut self.ports[channel * self.words + port / WORD];
        let bit = 1 << (port % WORD);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Removes that packets of a channel go on by `port`.
    pub(crate) fn remove(&mut self, channel: usize, port: usize) {
        self.ports[channel * self.words + port / WORD] &= !(1 << (port % WORD));
    }

    /// Whether packets of a channel go on by `port`.
    pub(crate) fn has(&self, channel: usize, port: usize) -> bool {
        self.ports[channel * self.words + port / WORD] & (1 << (port % WORD)) != 0
    }

    /// The first port from `start` on by which packets of a channel go on.
    pub(crate) fn port_from(&self, channel: usize, start: usize) -> Option<usize> {
        let words = &self.ports[channel * self.words..(channel + 1) * self.words];
        let mut mask = u64::MAX << (start % WORD);
        for (index, word) in words.iter().enumerate().skip(start / WORD) {
            let left = word & mask;
            if left != 0 {
                return Some(index * WORD + left.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The ports by which packets of a channel go on.
    pub(crate) fn ports(&self, channel: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.port_from(channel, 0);
        std::iter::successors(first, move |port| self.port_from(channel, port + 1))
    }
}

/// What a search for cycles follows: for each channel, its dependencies by their position.
pub(crate) trait Successors {
    /// The first dependency of a channel at `position` or behind: its position, and the channel that is waited for.
    fn next_from(&self, channel: usize, position: usize) -> Option<(usize, usize)>;

    /// Whether there is a dependency of a channel at `position`.
    fn has(&self, channel: usize, position: usize) -> bool;
}

/// Dependencies of channels; positions are ports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByPort<'c> {
    pub(crate) channels: &'c Channels,
    pub(crate) dependencies: &'c Dependencies,
}

impl Successors for ByPort<'_> {
    fn next_from(&self, channel: usize, position: usize) -> Option<(usize, usize)> {
        let port = self.dependencies.port_from(channel, position)?;
        Some((port, self.channels.next(channel, port)))
    }

    fn has(&self, channel: usize, position: usize) -> bool {
        self.dependencies.has(channel, position)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    OnWay,
    Done,
}

/// A step of a search: a channel, and the position of the dependency by which it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) channel: usize,
    pub(crate) position: usize,
}

/// Searches for cycles, depth first. Dependencies may be removed while it is under way, but not added.
#[derive(Debug)]
pub(crate) struct CycleSearch {
    states: Vec<State>,
    /// The way from a start to where the search is: each channel with the dependency that is looked at.
    way: Vec<Step>,
    start: usize,
}

impl CycleSearch {
    /// A search that has not begun.
    pub(crate) fn new(channels: &Channels) -> Self {
        Self { states: vec![State::New; channels.len()], way: Vec::new(), start: 0 }
    }

    /// The next cycle. It stays on the way until one of its dependencies is removed.
    pub(crate) fn next(&mut self, successors: &impl Successors) -> Option<&[Step]> {
        self.step_back(successors);
        loop {
            let Some(last) = self.way.last_mut() else {
                let is_new = |&channel: &usize| self.states[channel] == State::New;
                let start = (self.start..self.states.len()).find(is_new)?;
                self.start = start;
                self.enter(start);
                continue;
            };
            let Some((position, next)) = successors.next_from(last.channel, last.position) else {
                self.states[last.channel] = State::Done;
                self.way.pop();
                if let Some(before) = self.way.last_mut() {
                    before.position += 1;
                }
                continue;
            };
            last.position = position;
            match self.states[next] {
                State::New => self.enter(next),
                State::Done => last.position += 1,
                State::OnWay => {
                    let begin = self.way.iter().position(|step| step.channel == next)?;
                    return Some(&self.way[begin..]);
                }
            }
        }
    }

    fn enter(&mut self, channel: usize) {
        self.states[channel] = State::OnWay;
        self.way.push(Step { channel, position: 0 });
    }

    /// Goes back to the first dependency on the way that was removed.
    fn step_back(&mut self, successors: &impl Successors) {
        let is_gone = |step: &Step| !successors.has(step.channel, step.position);
        let Some(gone) = self.way.iter().position(is_gone) else { return };
        for step in self.way.drain(gone + 1..) {
            self.states[step.channel] = State::New;
        }
        self.start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_a_set() {
        let mut dependencies = Dependencies { words: 2, ports: vec![0; 4] };
        assert!(dependencies.add(1, 3) && dependencies.add(1, 64) && dependencies.add(1, 100));
        assert!(!dependencies.add(1, 64));
        assert_eq!(dependencies.ports(1).collect::<Vec<_>>(), [3, 64, 100]);
        assert_eq!(dependencies.port_from(1, 65), Some(100));
        dependencies.remove(1, 100);
        assert_eq!(dependencies.port_from(1, 65), None);
        assert_eq!(dependencies.ports(0).count(), 0);
    }
}

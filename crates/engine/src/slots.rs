//! One level of the timing wheel: a ring of slots, and a bitmap of those that hold something.
//!
//! A slot is a list of nodes out of one store that all levels share, so an event is written once,
//! whatever slots it passes through.

use rocelab_units::SimTime;

use crate::{EventKey, Scheduled, prefetch};

/// Slots that are taken out together.
pub(crate) const GROUP: u64 = 32;
/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// Events that are in lists, and places for more.
#[derive(Debug)]
pub(crate) struct Nodes<E> {
    all: Vec<Node<E>>,
    /// The node that was left last, and through it those before.
    free: u32,
}

/// An event in a list: half a cache line, if the event is no larger than 12 bytes.
#[derive(Clone, Copy, Debug)]
struct Node<E> {
    key: EventKey,
    event: E,
    next: u32,
}

impl<E: Copy> Nodes<E> {
    pub(crate) const fn new() -> Self {
        Self { all: Vec::new(), free: NONE }
    }

    /// Puts an event into a node of its own.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: EventKey, event: impl Fn() -> E) -> u32 {
        let id = self.free;
        match self.all.get_mut(id as usize) {
            Some(node) => {
                self.free = node.next;
                (node.key, node.event) = (key, event());
                id
            }
            None => self.grow(key, event()),
        }
    }

    /// Gives an event back and leaves its node; says which comes after it in its list.
    #[inline(always)]
    pub(crate) fn take(&mut self, id: u32) -> (EventKey, E, u32) {
        let node = &mut self.all[id as usize];
        let next = std::mem::replace(&mut node.next, self.free);
        self.free = id;
        (node.key, node.event, next)
    }

    /// Asks for the memory of a node.
    #[inline(always)]
    pub(crate) fn prefetch(&self, id: u32) {
        if let Some(node) = self.all.get(id as usize) {
            prefetch::<1, _>(node);
        }
    }

    /// The keys of a list.
    pub(crate) fn list(&self, first: u32) -> impl Iterator<Item = EventKey> + '_ {
        self.nodes_of(first).map(|node| node.key)
    }

    /// The events of a list.
    pub(crate) fn scheduled(&self, first: u32) -> impl Iterator<Item = Scheduled<E>> + '_ {
        self.nodes_of(first).map(|node| Scheduled { key: node.key, event: node.event })
    }

    fn nodes_of(&self, first: u32) -> impl Iterator<Item = &Node<E>> + '_ {
        let node = |id: u32| self.all.get(id as usize);
        std::iter::successors(node(first), move |last| node(last.next))
    }

    /// When an event happens, and which comes after it in its list.
    pub(crate) fn look(&self, id: u32) -> (SimTime, u32) {
        let node = &self.all[id as usize];
        (node.key.time, node.next)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, key: EventKey, event: E) -> u32 {
        let id = u32::try_from(self.all.len()).ok().filter(|&id| id != NONE);
        let id = id.expect("fewer than 2^32 events wait at once");
        self.all.push(Node { key, event, next: NONE });
        id
    }
}

/// A ring of slots. A slot is named by its absolute number, counted from time zero; the ring holds
/// as many numbers as it has slots, from the one on that is served next. Where slots are taken by
/// groups, that one is a multiple of [`GROUP`].
#[derive(Debug)]
pub(crate) struct Slots {
    /// The first node of each.
    heads: Box<[u32]>,
    /// Bit s % 64 of word s / 64: slot s holds something.
    occupied: Box<[u64]>,
    /// Bit w % 64 of word w / 64: word w of those is not zero.
    summary: Box<[u64]>,
}

impl Slots {
    /// A ring of 2^`bits` slots, of at least 64.
    pub(crate) fn new(bits: u32) -> Self {
        let slots = 1_usize << bits.max(6);
        let words = slots / 64;
        Self {
            heads: vec![NONE; slots].into(),
            occupied: vec![0; words].into(),
            summary: vec![0; words.div_ceil(64)].into(),
        }
    }

    /// The number of slots.
    #[inline(always)]
    pub(crate) fn len(&self) -> u64 {
        self.heads.len() as u64
    }

    /// Puts a node into a slot.
    #[inline(always)]
    pub(crate) fn push<E: Copy>(&mut self, number: u64, id: u32, nodes: &mut Nodes<E>) {
        let index = self.index(number);
        nodes.all[id as usize].next = std::mem::replace(&mut self.heads[index], id);
        // Whether they are set already is not to be foretold, so that is not asked.
        self.occupied[index / 64] |= 1 << (index % 64);
        self.summary[index / 4096] |= 1 << (index / 64 % 64);
    }

    /// Which slots of the group that begins with slot `number` hold something, one bit each; from
    /// now on none does.
    #[inline(always)]
    pub(crate) fn take_group(&mut self, number: u64) -> u64 {
        let index = self.index(number);
        let word = &mut self.occupied[index / 64];
        let found = *word >> (index % 64) & ((1 << GROUP) - 1);
        *word ^= found << (index % 64);
        if *word == 0 {
            self.summary[index / 4096] &= !(1 << (index / 64 % 64));
        }
        found
    }

    /// The first node of a slot whose [group](Self::take_group) was taken; it is empty from now on.
    #[inline(always)]
    pub(crate) fn take_list(&mut self, number: u64) -> u32 {
        let index = self.index(number);
        std::mem::replace(&mut self.heads[index], NONE)
    }

    /// The first node of a slot, which stays.
    pub(crate) fn first_in(&self, number: u64) -> u32 {
        self.heads[self.index(number)]
    }

    /// The first nodes of all lists: also of those whose [group](Self::take_group) was taken and that
    /// [are still here](Self::take_list).
    pub(crate) fn lists(&self) -> impl Iterator<Item = u32> + '_ {
        self.heads.iter().copied().filter(|&first| first != NONE)
    }

    /// The first node of a slot; it is empty from now on.
    pub(crate) fn take(&mut self, number: u64) -> u32 {
        let index = self.index(number);
        let word = &mut self.occupied[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.summary[index / 4096] &= !(1 << (index / 64 % 64));
        }
        self.take_list(number)
    }

    /// The first slot from `number` on that holds something; `number` is the first of the ring.
    #[inline(always)]
    pub(crate) fn next_from(&self, number: u64) -> Option<u64> {
        let start = self.index(number);
        let here = self.occupied[start / 64] >> (start % 64);
        if here != 0 {
            return Some(number + u64::from(here.trailing_zeros()));
        }
        self.next_beyond(number, start)
    }

    /// As [`Self::next_from`], in the words after that of `start`, the place of `number`.
    #[inline(never)]
    fn next_beyond(&self, number: u64, start: usize) -> Option<u64> {
        let word = start / 64;
        let found = self.word_from(word + 1).or_else(|| self.word_from(0))?;
        let found = found * 64 + self.occupied[found].trailing_zeros() as usize;
        let distance = found.wrapping_sub(start) & (self.heads.len() - 1);
        Some(number + distance as u64)
    }

    /// The first word from `word` on that is not zero.
    fn word_from(&self, word: usize) -> Option<usize> {
        let first = *self.summary.get(word / 64)? >> (word % 64) << (word % 64);
        if first != 0 {
            return Some(word / 64 * 64 + first.trailing_zeros() as usize);
        }
        let later = self.summary.iter().enumerate().skip(word / 64 + 1);
        let (at, bits) = later.into_iter().find(|(_, bits)| **bits != 0)?;
        Some(at * 64 + bits.trailing_zeros() as usize)
    }

    #[expect(clippy::cast_possible_truncation, reason = "masked to the ring's size")]
    #[inline(always)]
    fn index(&self, number: u64) -> usize {
        number as usize & (self.heads.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tie;

    fn key() -> EventKey {
        EventKey { time: SimTime::ZERO, tie: Tie::default() }
    }

    #[test]
    fn a_node_is_half_a_cache_line() {
        assert_eq!(size_of::<Node<[u32; 3]>>(), 32);
    }

    /// What is in the slots from `first` on, in their order.
    fn drain(slots: &mut Slots, nodes: &mut Nodes<u64>, first: u64) -> Vec<(u64, Vec<u64>)> {
        let (mut all, mut from) = (Vec::new(), first);
        while let Some(slot) = slots.next_from(from) {
            let group = slot / GROUP * GROUP;
            let found = slots.take_group(group);
            for number in (0..GROUP).filter(|bit| found >> bit & 1 == 1).map(|bit| group + bit) {
                let (mut id, mut items) = (slots.take_list(number), Vec::new());
                while id != NONE {
                    let (_, item, next) = nodes.take(id);
                    items.push(item);
                    id = next;
                }
                all.push((number, items));
            }
            from = group + GROUP;
        }
        all
    }

    #[test]
    fn items_come_back_by_slot_and_nodes_are_used_again() {
        let (mut slots, mut nodes) = (Slots::new(13), Nodes::new());
        for round in 0..40 {
            let first = round * 4_096 + GROUP;
            let mut expected = Vec::new();
            for (place, slot) in [0, 3, 8, 100, 4_095, 8_191].into_iter().enumerate() {
                let items: Vec<u64> = (0..=place as u64).map(|item| item * 10_000 + slot).collect();
                for &item in &items {
                    let id = nodes.add(key(), || item);
                    slots.push(first + slot, id, &mut nodes);
                }
                expected.push((first + slot, items.into_iter().rev().collect::<Vec<_>>()));
            }
            assert_eq!(drain(&mut slots, &mut nodes, first), expected);
        }
        assert_eq!(nodes.all.len(), 1 + 2 + 3 + 4 + 5 + 6);
    }

    #[test]
    fn the_ring_has_no_end() {
        let (mut slots, mut nodes) = (Slots::new(6), Nodes::new());
        for first in (0..1_000).map(|group| group * GROUP) {
            for distance in [63, 8, 1] {
                let id = nodes.add(key(), || distance);
                slots.push(first + distance, id, &mut nodes);
                assert_eq!(slots.next_from(first), Some(first + distance));
            }
            let found = drain(&mut slots, &mut nodes, first);
            assert_eq!(found.len(), 3, "{first}: {found:?}");
        }
    }
}

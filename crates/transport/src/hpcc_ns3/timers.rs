//! The timers of a host's controllers, in the exact order of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Result, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

/// A timer that was armed.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
)]
pub(super) struct Armed<T> {
    pub(super) time: SimTime,
    pub(super) tie: T,
    pub(super) queue_pair: u32,
    pub(super) timer: u8,
}

/// Timers by time, then by tie. One that was armed again or stopped stays as an entry that no
/// longer counts, until it comes first.
#[derive(Debug)]
pub(super) struct Timers<T> {
    heap: BinaryHeap<Reverse<Armed<T>>>,
}

impl<T: Copy + Ord> Default for Timers<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new() }
    }
}

impl<T: Copy + Ord> Timers<T> {
    pub(super) fn push(&mut self, armed: Armed<T>) {
        self.heap.push(Reverse(armed));
    }

    /// The first one that still counts.
    #[inline]
    pub(super) fn first(&mut self, counts: impl Fn(&Armed<T>) -> bool) -> Option<Armed<T>> {
        while let Some(&Reverse(first)) = self.heap.peek() {
            if counts(&first) {
                return Some(first);
            }
            self.heap.pop();
        }
        None
    }

    /// Whether all of them, also those that no longer count, are such.
    pub(super) fn all(&self, mut is_such: impl FnMut(&Armed<T>) -> bool) -> bool {
        self.heap.iter().all(|Reverse(armed)| is_such(armed))
    }

    /// Takes out the first one.
    pub(super) fn pop(&mut self) {
        self.heap.pop();
    }
}

impl<T: Copy + Ord + BorshSerialize> BorshSerialize for Timers<T> {
    fn serialize<W: Write>(&self, writer: &mut W) -> Result<()> {
        let mut entries: Vec<_> = self.heap.iter().map(|&Reverse(armed)| armed).collect();
        entries.sort_unstable();
        entries.serialize(writer)
    }
}

impl<T: Copy + Ord + BorshDeserialize> BorshDeserialize for Timers<T> {
    fn deserialize_reader<R: Read>(reader: &mut R) -> Result<Self> {
        let entries: Vec<Armed<T>> = Vec::deserialize_reader(reader)?;
        Ok(Self { heap: entries.into_iter().map(Reverse).collect() })
    }
}

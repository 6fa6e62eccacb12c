//! A heap of times, each for a queue pair. Nothing is cancelled: the owner checks what expires.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Result, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

/// When, and for which queue pair: its number minus [`FIRST_QPN`](crate::FIRST_QPN).
pub type Timer = (SimTime, u32);

/// The earliest first; at the same time the lowest index first.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<Timer>>);

impl Timers {
    #[inline]
    pub(super) fn push(&mut self, time: SimTime, index: u32) {
        self.0.push(Reverse((time, index)));
    }

    /// The earliest time; [`SimTime::NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> SimTime {
        self.0.peek().map_or(SimTime::NEVER, |&Reverse((time, _))| time)
    }

    /// The earliest entry, which stays.
    #[inline]
    pub(super) fn peek(&self) -> Option<&Timer> {
        self.0.peek().map(|Reverse(first)| first)
    }

    /// Takes out the earliest entry, if its time has come.
    #[inline]
    pub(super) fn pop_due(&mut self, now: SimTime) -> Option<Timer> {
        if self.next() > now || self.0.is_empty() {
            return None;
        }
        self.0.pop().map(|Reverse(entry)| entry)
    }

    /// All entries, in no order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Timer> + '_ {
        self.0.iter().map(|&Reverse(entry)| entry)
    }

    /// One more than the highest index.
    pub(super) fn reach(&self) -> usize {
        self.entries().map(|(_, index)| index as usize + 1).max().unwrap_or(0)
    }
}

impl BorshSerialize for Timers {
    fn serialize<W: Write>(&self, writer: &mut W) -> Result<()> {
        let mut entries: Vec<_> = self.0.iter().map(|&Reverse(entry)| entry).collect();
        entries.sort_unstable();
        entries.serialize(writer)
    }
}

impl BorshDeserialize for Timers {
    fn deserialize_reader<R: Read>(reader: &mut R) -> Result<Self> {
        let entries = Vec::deserialize_reader(reader)?;
        Ok(Self(entries.into_iter().map(Reverse).collect()))
    }
}

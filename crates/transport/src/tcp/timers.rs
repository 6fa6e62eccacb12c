//! A heap of times, each of a connection. Nothing is cancelled: the owner checks what expires.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rocelab_units::SimTime;

/// The earliest first; at the same time the lowest index first.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(SimTime, u32)>>);

impl Timers {
    pub(super) fn push(&mut self, time: SimTime, index: u32) {
        self.0.push(Reverse((time, index)));
    }

    /// The earliest time; [`SimTime::NEVER`] if there is none.
    pub(super) fn next(&self) -> SimTime {
        self.0.peek().map_or(SimTime::NEVER, |&Reverse((time, _))| time)
    }

    /// Takes out the earliest entry, if its time has come.
    pub(super) fn pop_due(&mut self, now: SimTime) -> Option<(SimTime, u32)> {
        if self.next() > now {
            return None;
        }
        self.0.pop().map(|Reverse(entry)| entry)
    }
}

//! When programs go on: after thinking, and after working.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rocelab_state::{BorshDeserialize, BorshSerialize, State, load_value, save_value};
use rocelab_units::SimTime;

/// Times, each of something at an end, such as an operation's place; those of one instant in the order in which
/// they were set.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<Entry>>,
    set: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
struct Entry {
    due: SimTime,
    number: u64,
    end: u32,
    tag: u64,
}

impl State for Timers {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        let mut waiting: Vec<_> = self.heap.iter().map(|Reverse(entry)| *entry).collect();
        waiting.sort_unstable();
        save_value(&(waiting, self.set), to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        let (waiting, set): (Vec<Entry>, u64) = load_value(from)?;
        *self = Self { heap: waiting.into_iter().map(Reverse).collect(), set };
        Ok(())
    }
}

impl Timers {
    pub(super) fn set(&mut self, due: SimTime, end: u32, tag: u64) {
        self.heap.push(Reverse(Entry { due, number: self.set, end, tag }));
        self.set += 1;
    }

    /// The earliest; [`SimTime::NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> SimTime {
        self.heap.peek().map_or(SimTime::NEVER, |Reverse(entry)| entry.due)
    }

    /// Takes out the earliest, if its time has come: the end, and what was set with it.
    pub(super) fn pop_due(&mut self, now: SimTime) -> Option<(u32, u64)> {
        if self.heap.is_empty() || self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.end, entry.tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_time_and_then_of_setting() {
        let mut timers = Timers::default();
        for (due, end) in [(5, 9), (3, 8), (5, 1), (3, 2)] {
            timers.set(SimTime::from_ps(due), end, 0);
        }
        assert_eq!(timers.pop_due(SimTime::from_ps(2)), None);
        let due = SimTime::from_ps(5);
        let order: Vec<_> = core::iter::from_fn(|| timers.pop_due(due)).collect();
        assert_eq!(order, [(8, 0), (2, 0), (9, 0), (1, 0)]);
        assert_eq!(timers.next(), SimTime::NEVER);
    }
}

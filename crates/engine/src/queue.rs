//! The event queue: a two-level timing wheel that keeps exact order.
//!
//! | level | slot | covers |
//! |---|---|---|
//! | 0 | 2^10 ps (1 ns) | the next 4 us |
//! | 1 | 2^22 ps (4 us) | the next 17 ms |
//! | overflow | binary heap | the rest |
//!
//! A slot is an unsorted list, sorted when the queue reaches it; what is pushed into the slot
//! being served goes to a small side heap. Pushing and popping then cost about the same whether
//! ten or a million events wait, and many events at one instant are no bad case.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rocelab_units::SimTime;

use crate::EventKey;
use crate::slots::{SLOTS, Slots};

/// Picoseconds of a level-0 slot, as a power of two.
const SLOT_BITS: u32 = 10;
/// Level-0 slots of a level-1 slot, as a power of two.
const LEVEL_BITS: u32 = SLOTS.trailing_zeros();

/// An event and its place in the order.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled<E> {
    /// Its place in the order.
    pub key: EventKey,
    /// What happens.
    pub event: E,
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Scheduled<E> {}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Events that wait, first one first.
#[derive(Debug)]
pub struct EventQueue<E: Copy> {
    /// The slot being served, in order.
    current: Vec<Scheduled<E>>,
    /// How many of them have been.
    served: usize,
    /// What was pushed into the slot being served, or before it.
    side: BinaryHeap<Reverse<Scheduled<E>>>,
    /// Number of the level-0 slot being served, counted from time zero.
    slot: u64,
    near: Slots<Scheduled<E>>,
    far: Slots<Scheduled<E>>,
    overflow: BinaryHeap<Reverse<Scheduled<E>>>,
    len: usize,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self {
            current: Vec::new(),
            served: 0,
            side: BinaryHeap::new(),
            slot: 0,
            near: Slots::new(),
            far: Slots::new(),
            overflow: BinaryHeap::new(),
            len: 0,
        }
    }

    /// Number of events that wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event. Keys are unique; a key before the last popped one is served next.
    #[inline]
    pub fn push(&mut self, key: EventKey, event: E) {
        self.len += 1;
        let scheduled = Scheduled { key, event };
        let slot = slot_of(key);
        if slot <= self.slot {
            self.side.push(Reverse(scheduled));
        } else if slot - self.slot < SLOTS as u64 {
            self.near.push(slot, scheduled);
        } else {
            self.push_far(slot, scheduled);
        }
    }

    /// Takes the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<Scheduled<E>> {
        loop {
            if let Some(first) = self.pop_current() {
                self.len -= 1;
                return Some(first);
            }
            if self.len == 0 {
                return None;
            }
            self.advance();
        }
    }

    /// Takes the first event if it is not later than `limit`.
    #[inline(always)] // With all that it calls into the engine's loop, whoever else calls those.
    pub fn pop_until(&mut self, limit: SimTime) -> Option<Scheduled<E>> {
        loop {
            let side = self.side.peek().map(|scheduled| scheduled.0.key);
            let current = self.current.get(self.served).map(|scheduled| scheduled.key);
            let popped = match (current, side) {
                (Some(current), None) if current.time <= limit => self.serve(),
                (Some(current), Some(side)) if current < side && current.time <= limit => {
                    self.serve()
                }
                (_, Some(side)) if side.time <= limit => self.side.pop().map(|s| s.0),
                (None, None) if self.len > 0 => {
                    self.advance();
                    continue;
                }
                _ => None,
            };
            self.len -= usize::from(popped.is_some());
            return popped;
        }
    }

    /// The event that will be popped when `ahead` others of the current slot have been, as far as
    /// is known: a guess for prefetching.
    #[inline]
    pub fn look_ahead(&self, ahead: usize) -> Option<&E> {
        self.current.get(self.served + ahead).map(|scheduled| &scheduled.event)
    }

    /// The first event's key.
    #[inline]
    pub fn peek(&mut self) -> Option<EventKey> {
        loop {
            let current = self.current.get(self.served).map(|s| s.key);
            let side = self.side.peek().map(|s| s.0.key);
            match (current, side) {
                (Some(a), Some(b)) => return Some(a.min(b)),
                (Some(key), None) | (None, Some(key)) => return Some(key),
                (None, None) if self.len == 0 => return None,
                (None, None) => self.advance(),
            }
        }
    }

    /// The first event, which stays.
    #[inline(never)]
    pub fn first(&mut self) -> Option<&Scheduled<E>> {
        let key = self.peek()?;
        let current = self.current.get(self.served).filter(|scheduled| scheduled.key == key);
        current.or_else(|| self.side.peek().map(|scheduled| &scheduled.0))
    }

    #[inline]
    fn pop_current(&mut self) -> Option<Scheduled<E>> {
        let Some(side) = self.side.peek() else { return self.serve() };
        match self.current.get(self.served) {
            Some(current) if current.key < side.0.key => self.serve(),
            _ => self.side.pop().map(|s| s.0),
        }
    }

    /// The next event of the slot being served.
    #[inline]
    fn serve(&mut self) -> Option<Scheduled<E>> {
        let next = self.current.get(self.served).copied();
        self.served += usize::from(next.is_some());
        next
    }

    #[cold]
    fn push_far(&mut self, slot: u64, scheduled: Scheduled<E>) {
        let far_slot = slot >> LEVEL_BITS;
        if far_slot - (self.slot >> LEVEL_BITS) < SLOTS as u64 {
            self.far.push(far_slot, scheduled);
        } else {
            self.overflow.push(Reverse(scheduled));
        }
    }

    /// Makes the next slot that holds something the current one. Something does wait.
    #[inline(always)]
    fn advance(&mut self) {
        match self.near.next_after(self.slot) {
            // What lies further out begins with a later level-1 slot.
            Some(near) if near >> LEVEL_BITS == self.slot >> LEVEL_BITS => self.enter(near),
            near => self.advance_far(near),
        }
    }

    /// As [`Self::advance`], across the border of a level-1 slot. What comes into reach there is
    /// spread out first: it may hold events of the level-0 slot that is next.
    #[cold]
    fn advance_far(&mut self, near: Option<u64>) {
        let far = self.far.next_after(self.slot >> LEVEL_BITS).map(|slot| slot << LEVEL_BITS);
        let overflow = self.overflow.peek().map(|s| slot_of(s.0.key));
        let Some(first) = [near, far, overflow].into_iter().flatten().min() else { return };
        self.slot = first;
        if overflow.is_some_and(|slot| slot >> LEVEL_BITS <= first >> LEVEL_BITS) {
            self.spread_overflow();
        }
        if far == Some(first) {
            self.spread_far(first >> LEVEL_BITS);
        }
        self.enter(first);
    }

    /// Starts to serve a level-0 slot.
    #[inline(always)]
    fn enter(&mut self, slot: u64) {
        debug_assert!(self.served == self.current.len(), "a slot is left when it is empty");
        self.slot = slot;
        self.served = 0;
        self.current.clear();
        self.near.drain(slot, &mut self.current);
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|scheduled| scheduled.key);
        }
    }

    /// Spreads one level-1 slot over the level-0 slots, the current one included.
    fn spread_far(&mut self, far_slot: u64) {
        let mut events = Vec::new();
        self.far.drain(far_slot, &mut events);
        for scheduled in events {
            self.near.push(slot_of(scheduled.key), scheduled);
        }
    }

    /// Moves what has come within a level-1 slot out of the overflow.
    fn spread_overflow(&mut self) {
        let reach = (self.slot >> LEVEL_BITS) + 1;
        while let Some(Reverse(first)) = self.overflow.peek() {
            if slot_of(first.key) >> LEVEL_BITS >= reach {
                break;
            }
            if let Some(Reverse(scheduled)) = self.overflow.pop() {
                self.near.push(slot_of(scheduled.key), scheduled);
            }
        }
    }
}

#[inline]
fn slot_of(key: EventKey) -> u64 {
    key.time.ps() >> SLOT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RngStream, TieCounter};

    /// The order that a plain binary heap gives to the same pushes.
    #[derive(Default)]
    struct Oracle(BinaryHeap<Reverse<EventKey>>);

    /// Pops and pushes at random, comparing with the oracle. `delay` draws a delay in ps.
    fn agrees(seed: u64, steps: usize, mut delay: impl FnMut(&mut RngStream) -> u64) {
        let mut random = RngStream::new(seed, "queue");
        let (mut queue, mut oracle) = (EventQueue::new(), Oracle::default());
        let mut ties = TieCounter::new(0);
        let mut now = SimTime::ZERO;
        for step in 0..steps {
            for _ in 0..=random.below(2) {
                let time = SimTime::from_ps(now.ps().saturating_add(delay(&mut random)));
                let key = EventKey { time, tie: ties.reserve() };
                queue.push(key, step);
                oracle.0.push(Reverse(key));
            }
            if random.below(3) > 0 {
                let expected = oracle.0.pop().map(|r| r.0);
                assert_eq!(queue.peek(), expected);
                if let Some(next) = expected.and_then(|key| key.time.ps().checked_sub(1)) {
                    assert!(queue.pop_until(SimTime::from_ps(next)).is_none(), "not before {next}");
                }
                if random.below(2) == 0 {
                    let limit = expected.map_or(SimTime::NEVER, |key| key.time);
                    assert_eq!(queue.pop_until(limit).map(|s| s.key), expected);
                    now = expected.map_or(now, |key| key.time);
                    continue;
                }
                assert_eq!(queue.pop().map(|s| s.key), expected);
                now = expected.map_or(now, |key| key.time);
            }
            assert_eq!(queue.len(), oracle.0.len());
        }
        while let Some(Reverse(expected)) = oracle.0.pop() {
            assert_eq!(queue.pop().map(|s| s.key), Some(expected));
        }
        assert!(queue.is_empty() && queue.pop().is_none());
    }

    #[test]
    fn agrees_with_a_heap_on_link_and_timer_delays() {
        const DELAYS: [u64; 8] =
            [0, 84_480, 320_000, 1_000_000, 1_000_000, 55_000_000, 4_190_000, 0];
        agrees(1, 20_000, |random| {
            let mut delays = DELAYS;
            random.shuffle(&mut delays);
            delays[0]
        });
    }

    #[test]
    fn agrees_with_a_heap_on_every_scale() {
        agrees(2, 20_000, |random| {
            let scale = random.below(50);
            random.below(1 << scale)
        });
    }

    #[test]
    fn agrees_with_a_heap_when_everything_happens_at_once() {
        agrees(3, 5_000, |_| 0);
    }

    #[test]
    fn agrees_with_a_heap_around_slot_borders() {
        agrees(4, 20_000, |random| (1 << 22) - 2 + random.below(5));
        agrees(5, 20_000, |random| (1 << 34) - 2 + random.below(5));
    }

    #[test]
    fn the_end_of_time_is_reached() {
        let mut queue = EventQueue::new();
        let mut ties = TieCounter::new(0);
        for time in [SimTime::NEVER, SimTime::ZERO] {
            queue.push(EventKey { time, tie: ties.reserve() }, ());
        }
        assert_eq!(queue.pop().map(|s| s.key.time), Some(SimTime::ZERO));
        assert_eq!(queue.pop().map(|s| s.key.time), Some(SimTime::NEVER));
    }

    #[test]
    fn a_scheduled_event_is_half_a_cache_line() {
        assert_eq!(size_of::<Scheduled<[u32; 3]>>(), 32);
    }
}

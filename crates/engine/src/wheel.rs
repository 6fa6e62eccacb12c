//! A two-level timing wheel that keeps exact order.
//!
//! | level | bin | covers |
//! |---|---|---|
//! | 0 | 128 ps to 16 ns, so that some tens of events are in one | the next 4 us |
//! | 1 | 2^22 ps (4 us) | the next 17 ms |
//! | overflow | binary heap | the rest |
//!
//! A bin is put in order as its turn comes. What is pushed into it from then on goes to its place among the
//! rest, or, where that is long, to a side heap. Pushing and popping then cost about the same whether ten or
//! a million events wait, and many events at one instant are no bad case. Where a world is large
//! ([`TimingWheel::foresee`]), the next bin is put in order as the one before it is entered, so that what its
//! events touch can be asked for in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rocelab_units::SimTime;

use crate::bins::{Bins, Blocks, ROOM};
use crate::{EventKey, Scheduled};

/// Picoseconds of a level-1 bin, as a power of two. Level 0 covers as much.
const FAR_BITS: u32 = 22;
/// Bins of level 1, as a power of two.
const FAR_BINS_BITS: u32 = 12;
/// Picoseconds of the widest and the narrowest level-0 bin, as powers of two.
const WIDEST: u32 = 14;
const NARROWEST: u32 = 7;
/// After so many bins it is seen whether bins of another width were better.
const TRIAL: u32 = 512;
/// Bins become narrower if they hold more events than this on average, and wider if fewer.
const FULL: u64 = 48;
const EMPTY: u64 = 12;
/// Up to so many events that wait in the bin being served, another one is put among them.
const SHORT: usize = 64;

/// How many steps of [prefetching](crate::World::prefetch) there are before an event happens. Each costs
/// instructions and a branch or two that are not to be foretold, so it depends on how much of a world the
/// caches hold: from one that they hold all of, to one that main memory holds most of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Foresight {
    /// None.
    Nothing,
    /// The first one: what an event touches itself.
    One,
    /// A second one: what that leads to.
    Two,
    /// A third one.
    Three,
}

/// Events that wait, first one first.
#[derive(Debug)]
pub(crate) struct TimingWheel<E: Copy> {
    /// The events of the bin being served, in order.
    current: Vec<Scheduled<E>>,
    /// How many of them have been.
    served: usize,
    foresight: Foresight,
    /// What is in order before its turn.
    ahead: Ahead<E>,
    /// What was pushed into the bin being served, or before it, while many waited there.
    side: BinaryHeap<Reverse<Scheduled<E>>>,
    /// Picoseconds of a level-0 bin, as a power of two.
    width: u32,
    /// The level-0 bin after the one being served, counted from time zero.
    next: u64,
    /// The level-1 bin that `next` is in, or the one before it that ends there.
    far_bin: u64,
    near: Bins,
    far: Bins,
    blocks: Blocks<E>,
    /// Empty, but for as long as events go from some bins to others.
    spread: Vec<Scheduled<E>>,
    overflow: BinaryHeap<Reverse<Scheduled<E>>>,
    /// Events that are neither in the bin being served nor aside.
    waiting: usize,
    /// Bins since the width was looked at, and the events in them.
    trial: (u32, u64),
}

/// The events of the bin that comes next, but for those that were pushed into it since.
#[derive(Debug)]
struct Ahead<E> {
    /// The bin; [`NOWHERE`] if there is none.
    bin: u64,
    /// In order; none if there is no bin.
    events: Vec<Scheduled<E>>,
}

/// No bin.
const NOWHERE: u64 = u64::MAX;

impl<E: Copy> Default for TimingWheel<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> TimingWheel<E> {
    /// An empty queue at time zero.
    pub(crate) fn new() -> Self {
        Self {
            current: Vec::with_capacity(ROOM),
            served: 0,
            foresight: Foresight::Nothing,
            ahead: Ahead { bin: NOWHERE, events: Vec::with_capacity(ROOM) },
            side: BinaryHeap::with_capacity(ROOM),
            width: WIDEST,
            next: 0,
            far_bin: 0,
            near: Bins::new(FAR_BITS - WIDEST),
            far: Bins::new(FAR_BINS_BITS),
            blocks: Blocks::new(),
            spread: Vec::with_capacity(ROOM),
            overflow: BinaryHeap::new(),
            waiting: 0,
            trial: (0, 0),
        }
    }

    /// Number of events that wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting + self.side.len() + self.current.len() - self.served
    }

    /// Adds an event. Keys are unique; a key before the last popped one is served next.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: EventKey, event: E) {
        self.push_made(key, || event);
    }

    /// Adds an event, made where it goes: one that goes through memory is read before it is there.
    #[inline(always)]
    pub(crate) fn push_made(&mut self, key: EventKey, event: impl Fn() -> E) {
        let bin = key.time.ps() >> self.width;
        if bin.wrapping_sub(self.next) < self.near.len() {
            self.waiting += 1;
            self.near.push(bin, &mut self.blocks, key, event);
        } else {
            self.push_aside(bin < self.next, Scheduled { key, event: event() });
        }
    }

    /// Takes the first event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Scheduled<E>> {
        self.pop_until(SimTime::NEVER)
    }

    /// Takes the first event if it is not later than `limit`.
    #[inline(always)] // With all that it calls into the engine's loop, whoever else calls those.
    pub(crate) fn pop_until(&mut self, limit: SimTime) -> Option<Scheduled<E>> {
        loop {
            if let Some(first) = self.current.get(self.served) {
                if !self.side.is_empty() && self.is_aside(first.key) {
                    return self.pop_aside(limit);
                }
                if first.key.time > limit {
                    return None;
                }
                self.served += 1;
                return Some(*first);
            }
            if !self.side.is_empty() {
                return self.pop_aside(limit);
            }
            if self.waiting == 0 || !self.advance(limit) {
                return None;
            }
        }
    }

    /// From now on there are so many steps of prefetching. Where one is not enough, events are looked at before
    /// their bin's turn.
    pub(crate) fn foresee(&mut self, foresight: Foresight) {
        self.foresight = foresight;
    }

    /// How many steps of prefetching there are.
    #[inline(always)]
    pub(crate) fn foresight(&self) -> Foresight {
        self.foresight
    }

    /// Whether events are looked at before their bin's turn.
    #[inline(always)]
    pub(crate) fn looks_far(&self) -> bool {
        self.foresight > Foresight::One
    }

    /// The event that will be popped when `ahead` others of the current bin have been, as far as
    /// is known: a guess for prefetching.
    #[inline(always)]
    pub(crate) fn look_ahead(&self, ahead: usize) -> Option<&E> {
        self.current.get(self.served + ahead).map(|scheduled| &scheduled.event)
    }

    /// As [`Self::look_ahead`], of the current bin and the one that comes next.
    #[inline(always)]
    pub(crate) fn look_beyond(&self, ahead: usize) -> Option<&E> {
        let place = self.served + ahead;
        let beyond = || self.ahead.events.get(place - self.current.len());
        self.current.get(place).or_else(beyond).map(|scheduled| &scheduled.event)
    }

    /// Whether the event that was popped last is the first of the bin being served: those behind it
    /// have not been seen by [`Self::look_ahead`].
    #[inline(always)]
    pub(crate) fn has_begun(&self) -> bool {
        self.served == 1
    }

    /// The first event's key. This leaves all where it is: what is pushed before that event has its
    /// place in a bin yet.
    #[inline]
    pub(crate) fn peek(&self) -> Option<EventKey> {
        let current = self.current.get(self.served).map(|s| s.key);
        let side = self.side.peek().map(|s| s.0.key);
        match (current, side) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (Some(key), None) | (None, Some(key)) => Some(key),
            (None, None) => self.peek_waiting(),
        }
    }

    /// The first key of what is neither in the bin being served nor aside.
    #[inline(never)]
    fn peek_waiting(&self) -> Option<EventKey> {
        let least_of = |end| self.blocks.of(end).map(|scheduled| scheduled.key).min();
        let near = self.near.next_from(self.next).and_then(|bin| least_of(self.near.end_of(bin)));
        let ahead = self.ahead.events.first().map(|scheduled| scheduled.key);
        let least = [near, ahead].into_iter().flatten().min();
        if least.is_some_and(|key| far_bin_of(key) == self.far_bin) {
            return least;
        }
        let far = self.far.next_from(self.far_bin + 1);
        let far = far.and_then(|bin| least_of(self.far.end_of(bin)));
        let overflow = self.overflow.peek().map(|first| first.0.key);
        [least, far, overflow].into_iter().flatten().min()
    }

    /// All events that wait, first one first; they stay. Pushed into an empty queue they come out of
    /// that one in the same order.
    pub(crate) fn scheduled(&self) -> Vec<Scheduled<E>> {
        let mut all: Vec<Scheduled<E>> = Vec::with_capacity(self.len());
        for end in self.near.ends().chain(self.far.ends()) {
            all.extend(self.blocks.of(end));
        }
        all.extend(self.side.iter().chain(&self.overflow).map(|scheduled| scheduled.0));
        all.extend(&self.current[self.served..]);
        all.extend(&self.ahead.events);
        debug_assert!(all.len() == self.len(), "an event is somewhere else");
        all.sort_unstable_by_key(|scheduled| scheduled.key);
        all
    }

    /// The first event, which stays.
    #[inline(never)]
    pub(crate) fn first(&mut self) -> Option<&Scheduled<E>> {
        while self.served == self.current.len() && self.side.is_empty() && self.waiting > 0 {
            self.advance(SimTime::NEVER);
        }
        let key = self.peek()?;
        let current = self.current.get(self.served).filter(|scheduled| scheduled.key == key);
        current.or_else(|| self.side.peek().map(|scheduled| &scheduled.0))
    }

    /// Whether what was pushed aside has an event before `key`.
    #[inline(never)]
    fn is_aside(&self, key: EventKey) -> bool {
        self.side.peek().is_some_and(|side| side.0.key < key)
    }

    #[inline(never)]
    fn pop_aside(&mut self, limit: SimTime) -> Option<Scheduled<E>> {
        let first = self.side.peek()?;
        if first.0.key.time > limit {
            return None;
        }
        self.side.pop().map(|first| first.0)
    }

    #[inline(never)]
    fn push_aside(&mut self, is_past: bool, scheduled: Scheduled<E>) {
        let far_bin = far_bin_of(scheduled.key);
        if is_past {
            self.push_current(scheduled);
        } else if far_bin - self.far_bin < self.far.len() {
            self.waiting += 1;
            self.far.push(far_bin, &mut self.blocks, scheduled.key, || scheduled.event);
        } else {
            self.waiting += 1;
            self.overflow.push(Reverse(scheduled));
        }
    }

    /// Puts an event among those of the bin being served, or aside.
    fn push_current(&mut self, scheduled: Scheduled<E>) {
        let left = &self.current[self.served..];
        if left.len() > SHORT {
            return self.side.push(Reverse(scheduled));
        }
        // It is among the last more often than not.
        let before = left.iter().rposition(|other| other.key < scheduled.key);
        self.current.insert(self.served + before.map_or(0, |place| place + 1), scheduled);
    }

    /// Makes the next bin that holds something the current one, unless it begins after `limit`: what
    /// is pushed before it meanwhile has its place in a bin yet. Something does wait.
    #[inline(always)]
    fn advance(&mut self, limit: SimTime) -> bool {
        let near = self.near.next_from(self.next);
        let first = near.unwrap_or(NOWHERE).min(self.ahead.bin);
        // What lies further out begins with a later level-1 bin.
        if first >> self.near_bits() == self.far_bin {
            if first > limit.ps() >> self.width {
                return false;
            }
            self.enter(first);
            true
        } else {
            self.advance_far(near, limit)
        }
    }

    /// As [`Self::advance`], across the border of a level-1 bin. What comes into reach there is
    /// spread out first: it may hold events of the level-0 bin that is next.
    #[cold]
    #[inline(never)]
    fn advance_far(&mut self, near: Option<u64>, limit: SimTime) -> bool {
        let near = near.map(|bin| bin >> self.near_bits());
        let far = self.far.next_from(self.far_bin + 1);
        let overflow = self.overflow.peek().map(|first| far_bin_of(first.0.key));
        let Some(first) = [near, far, overflow].into_iter().flatten().min() else { return false };
        if first > limit.ps() >> FAR_BITS {
            return false;
        }
        self.far_bin = first;
        self.adapt();
        self.next = first << self.near_bits();
        if overflow == Some(first) {
            self.spread_overflow();
        }
        if far == Some(first) {
            self.spread_far();
        }
        match self.near.next_from(self.next) {
            Some(near) if near <= limit.ps() >> self.width => self.enter(near),
            _ => return false,
        }
        true
    }

    /// Starts to serve a level-0 bin.
    #[inline(always)]
    fn enter(&mut self, bin: u64) {
        debug_assert!(self.served == self.current.len(), "a bin is left when it is empty");
        self.next = bin + 1;
        self.served = 0;
        if bin == self.ahead.bin {
            self.enter_ahead();
        } else {
            let end = self.near.take(bin);
            self.current.clear();
            self.blocks.pour(end, (bin << self.width, self.width), &mut self.current);
        }
        self.waiting -= self.current.len();
        self.trial.0 += 1;
        self.trial.1 += self.current.len() as u64;
        if self.looks_far() && self.ahead.bin == NOWHERE {
            self.go_ahead();
        }
    }

    /// As [`Self::enter`], of the bin that is in order but for what came since.
    #[inline(never)]
    fn enter_ahead(&mut self) {
        std::mem::swap(&mut self.current, &mut self.ahead.events);
        self.ahead.events.clear();
        let since = self.near.take(std::mem::replace(&mut self.ahead.bin, NOWHERE));
        if since != 0 {
            self.blocks.pour_unordered(since, &mut self.current);
            self.current.sort_unstable_by_key(|scheduled| scheduled.key);
        }
    }

    /// Puts the next bin that holds something in order, if it is of the same level-1 bin.
    #[inline(never)]
    fn go_ahead(&mut self) {
        let Some(near) = self.near.next_from(self.next) else { return };
        if near >> self.near_bits() != self.far_bin {
            return;
        }
        self.ahead.bin = near;
        let end = self.near.take(near);
        self.ahead.events.clear();
        self.blocks.pour(end, (near << self.width, self.width), &mut self.ahead.events);
    }

    /// Moves the events of the level-1 bin that has come into reach to level 0.
    fn spread_far(&mut self) {
        let mut events = std::mem::take(&mut self.spread);
        self.blocks.pour_unordered(self.far.take(self.far_bin), &mut events);
        for Scheduled { key, event } in events.drain(..) {
            self.near.push(key.time.ps() >> self.width, &mut self.blocks, key, || event);
        }
        self.spread = events;
    }

    /// Moves what has come within a level-1 bin out of the overflow.
    fn spread_overflow(&mut self) {
        while let Some(Reverse(first)) = self.overflow.peek() {
            if far_bin_of(first.key) > self.far_bin {
                break;
            }
            if let Some(Reverse(Scheduled { key, event })) = self.overflow.pop() {
                self.near.push(key.time.ps() >> self.width, &mut self.blocks, key, || event);
            }
        }
    }

    /// Level-0 bins of a level-1 bin, as a power of two.
    #[inline(always)]
    const fn near_bits(&self) -> u32 {
        FAR_BITS - self.width
    }

    /// Makes level-0 bins narrower or wider if those of late held too much or too little. No bin is
    /// being served, and none before the level-1 bin that is next holds anything.
    fn adapt(&mut self) {
        let (bins, events) = self.trial;
        if bins < TRIAL {
            return;
        }
        self.trial = (0, 0);
        let bins = u64::from(bins);
        let mut width = self.width;
        if events > bins * FULL {
            width -= (events / (bins * FULL / 2)).ilog2().min(width - NARROWEST);
        } else if events < bins * EMPTY {
            width += u32::from(width < WIDEST);
        }
        if width != self.width {
            self.set_width(width);
        }
    }

    fn set_width(&mut self, width: u32) {
        let mut bins = Bins::new(FAR_BITS - width);
        let mut events = std::mem::take(&mut self.spread);
        while let Some(bin) = self.near.next_from(self.next) {
            self.blocks.pour_unordered(self.near.take(bin), &mut events);
        }
        for Scheduled { key, event } in events.drain(..) {
            bins.push(key.time.ps() >> width, &mut self.blocks, key, || event);
        }
        self.spread = events;
        (self.near, self.width) = (bins, width);
    }
}

#[inline]
fn far_bin_of(key: EventKey) -> u64 {
    key.time.ps() >> FAR_BITS
}

#[cfg(test)]
mod tests;

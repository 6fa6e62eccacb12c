//! The event queue: a two-level timing wheel that keeps exact order.
//!
//! | level | slot | covers |
//! |---|---|---|
//! | 0 | 4 to 256 ps, so that few hold more than one event | the next 4 us |
//! | 1 | 2^22 ps (4 us) | the next 17 ms |
//! | overflow | binary heap | the rest |
//!
//! 32 slots of level 0 are served at a time: their events are put in order, of which there is
//! little to do where slots are narrow, and what is pushed into them meanwhile goes to a small side
//! heap. Pushing and popping then cost about the same whether ten or a million events wait, and many
//! events at one instant are no bad case. Where there are many ([`EventQueue::look_far`]), the events of
//! the next 32 slots that hold something are fetched one by one while others are served: by the time
//! they are asked for, memory has given them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rocelab_units::SimTime;

use crate::EventKey;
use crate::clusters::Inboxes;
use crate::slots::{GROUP, NONE, Nodes, Slots};

/// Picoseconds of a level-1 slot, as a power of two. Level 0 covers as much.
const FAR_BITS: u32 = 22;
/// Slots of level 1, as a power of two.
const FAR_SLOTS_BITS: u32 = 12;
/// Picoseconds of the widest and the narrowest level-0 slot, as powers of two.
const WIDEST: u32 = 8;
const NARROWEST: u32 = 2;
/// After so many groups of slots it is seen whether slots of another width were better.
const TRIAL: u32 = 512;
/// Slots become narrower if groups hold more events than this on average, and wider if fewer.
const FULL: u64 = 48;
const EMPTY: u64 = 12;
/// Up to so many events are put in order as they come.
const FEW: usize = 12;

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

/// How far ahead events are looked at, so that memory that they will touch is asked for in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foresight {
    /// As far as is worth it where most is in the cache.
    Little,
    /// Within the slots being served.
    Near,
    /// And into those that come next.
    Far,
}

/// Events that wait, first one first.
#[derive(Debug)]
pub struct EventQueue<E: Copy> {
    /// The events of the slots being served, in order.
    current: Vec<Scheduled<E>>,
    /// How many of them have been.
    served: usize,
    foresight: Foresight,
    /// What is fetched before it is asked for.
    scout: Scout<E>,
    /// What was pushed into the slots being served, or before them.
    side: BinaryHeap<Reverse<Scheduled<E>>>,
    /// Picoseconds of a level-0 slot, as a power of two.
    width: u32,
    /// The first level-0 slot after those being served, counted from time zero.
    next: u64,
    /// The level-1 slot that `next` is in, or the one before it that ends there.
    far_slot: u64,
    near: Slots,
    far: Slots,
    nodes: Nodes<E>,
    overflow: BinaryHeap<Reverse<Scheduled<E>>>,
    /// Events that are neither in the slots being served nor aside.
    waiting: usize,
    /// Groups of slots since the width was looked at, and the events in them.
    trial: (u32, u64),
    /// What goes into other queues, where there are any.
    pub(crate) others: Inboxes<E>,
}

/// Fetches the events of a group of slots that will be served next, one at a time.
#[derive(Debug)]
struct Scout<E> {
    /// The group's first slot; [`NOWHERE`] if there is none.
    group: u64,
    /// Those of its slots that are still to be looked into, one bit each.
    left: u64,
    /// The node that comes next in the slot being looked into.
    node: u32,
    /// What was fetched, and how much of that was before the slot being looked into.
    events: Vec<Scheduled<E>>,
    begin: usize,
}

/// No slot.
const NOWHERE: u64 = u64::MAX;

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
            foresight: Foresight::Little,
            scout: Scout { group: NOWHERE, left: 0, node: NONE, events: Vec::new(), begin: 0 },
            side: BinaryHeap::new(),
            width: WIDEST,
            next: 0,
            far_slot: 0,
            near: Slots::new(FAR_BITS - WIDEST),
            far: Slots::new(FAR_SLOTS_BITS),
            nodes: Nodes::new(),
            overflow: BinaryHeap::new(),
            waiting: 0,
            trial: (0, 0),
            others: Inboxes::default(),
        }
    }

    /// Number of events that wait.
    pub fn len(&self) -> usize {
        self.waiting + self.side.len() + self.current.len() - self.served
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event. Keys are unique; a key before the last popped one is served next.
    #[inline(always)]
    pub fn push(&mut self, key: EventKey, event: E) {
        self.push_made(key, || event);
    }

    /// Adds an event, made where it goes: one that goes through memory is read before it is there.
    #[inline(always)]
    pub fn push_made(&mut self, key: EventKey, event: impl Fn() -> E) {
        let slot = key.time.ps() >> self.width;
        if slot.wrapping_sub(self.next) < self.near.len() {
            self.waiting += 1;
            let id = self.nodes.add(key, &event);
            self.near.push(slot, id, &mut self.nodes);
        } else {
            self.push_aside(slot < self.next, key, event());
        }
    }

    /// Adds an event for one of the other [clusters](crate::Clusters) that a world has: it comes into
    /// that one's queue, or into this if it is the only one.
    #[inline(never)] // Hot where there are clusters, and no burden to what is around the call elsewhere.
    pub fn push_beyond(&mut self, cluster: u16, key: EventKey, event: E) {
        if let Some(inbox) = self.others.of_mut(cluster) {
            return inbox.push(Scheduled { key, event });
        }
        self.push(key, event);
    }

    /// Takes the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<Scheduled<E>> {
        self.pop_until(SimTime::NEVER)
    }

    /// Takes the first event if it is not later than `limit`.
    #[inline(always)] // With all that it calls into the engine's loop, whoever else calls those.
    pub fn pop_until(&mut self, limit: SimTime) -> Option<Scheduled<E>> {
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

    /// From now on events are fetched from memory before they are asked for. It costs some
    /// instructions for each, and saves waiting if what waits is more than caches hold.
    pub fn look_far(&mut self) {
        self.foresight = Foresight::Far;
    }

    /// From now on memory is asked for as it is worth it where little of it is in the cache.
    pub(crate) fn look_near(&mut self) {
        self.foresight = Foresight::Near;
    }

    #[inline(always)]
    pub(crate) fn foresight(&self) -> Foresight {
        self.foresight
    }

    /// Whether it does [look far](Self::look_far).
    #[inline(always)]
    pub fn looks_far(&self) -> bool {
        self.foresight == Foresight::Far
    }

    /// The event that will be popped when `ahead` others of the current slots have been, as far as
    /// is known: a guess for prefetching.
    #[inline(always)]
    pub fn look_ahead(&self, ahead: usize) -> Option<&E> {
        self.current.get(self.served + ahead).map(|scheduled| &scheduled.event)
    }

    /// As [`Self::look_ahead`], of the current slots and those that come next.
    #[inline(always)]
    pub fn look_beyond(&self, ahead: usize) -> Option<&E> {
        let place = self.served + ahead;
        let beyond = || self.scout.events.get(place - self.current.len());
        self.current.get(place).or_else(beyond).map(|scheduled| &scheduled.event)
    }

    /// Whether the event that was popped last is the first of the slots being served: those behind it
    /// have not been seen by [`Self::look_ahead`].
    #[inline(always)]
    pub fn has_begun(&self) -> bool {
        self.served == 1
    }

    /// The first event's key. This leaves all where it is: what is pushed before that event has its
    /// place in a slot yet.
    #[inline]
    pub fn peek(&self) -> Option<EventKey> {
        let current = self.current.get(self.served).map(|s| s.key);
        let side = self.side.peek().map(|s| s.0.key);
        match (current, side) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (Some(key), None) | (None, Some(key)) => Some(key),
            (None, None) => self.peek_waiting(),
        }
    }

    /// The first key of what is neither in the slots being served nor aside.
    #[inline(never)]
    fn peek_waiting(&self) -> Option<EventKey> {
        let least_of = |id| self.nodes.list(id).min();
        let near = self.near.next_from(self.next);
        let fetched = self.scout.events.iter().map(|scheduled| scheduled.key).min();
        let least = [near.and_then(|slot| least_of(self.near.first_in(slot))), fetched];
        let least = least.into_iter().chain([least_of(self.scout.node)]).flatten().min();
        if least.is_some_and(|key| far_slot_of(key) == self.far_slot) {
            return least;
        }
        let far = self.far.next_from(self.far_slot + 1);
        let far = far.and_then(|slot| least_of(self.far.first_in(slot)));
        let overflow = self.overflow.peek().map(|first| first.0.key);
        [least, far, overflow].into_iter().flatten().min()
    }

    /// All events that wait, first one first; they stay. Pushed into an empty queue they come out of
    /// that one in the same order.
    pub fn scheduled(&self) -> Vec<Scheduled<E>> {
        let lists = self.near.lists().chain(self.far.lists()).chain([self.scout.node]);
        let aside = self.side.iter().chain(&self.overflow).map(|scheduled| scheduled.0);
        let mut all: Vec<Scheduled<E>> = Vec::with_capacity(self.len());
        all.extend(lists.flat_map(|first| self.nodes.scheduled(first)).chain(aside));
        all.extend(&self.current[self.served..]);
        all.extend(&self.scout.events);
        debug_assert!(all.len() == self.len(), "an event is somewhere else");
        all.sort_unstable_by_key(|scheduled| scheduled.key);
        all
    }

    /// The first event, which stays.
    #[inline(never)]
    pub fn first(&mut self) -> Option<&Scheduled<E>> {
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

    #[cold]
    #[inline(never)]
    fn push_aside(&mut self, is_past: bool, key: EventKey, event: E) {
        let far_slot = far_slot_of(key);
        if is_past {
            return self.side.push(Reverse(Scheduled { key, event }));
        }
        self.waiting += 1;
        if far_slot - self.far_slot < self.far.len() {
            let id = self.nodes.add(key, || event);
            self.far.push(far_slot, id, &mut self.nodes);
        } else {
            self.overflow.push(Reverse(Scheduled { key, event }));
        }
    }

    /// Makes the next slots that hold something the current ones, unless they begin after `limit`: what
    /// is pushed before them meanwhile has its place in a slot yet. Something does wait.
    #[inline(always)]
    fn advance(&mut self, limit: SimTime) -> bool {
        let near = self.near.next_from(self.next);
        let first = near.unwrap_or(NOWHERE).min(self.scout.group);
        // What lies further out begins with a later level-1 slot.
        if first >> self.near_bits() == self.far_slot {
            if first > limit.ps() >> self.width {
                return false;
            }
            self.enter(first & !(GROUP - 1));
            true
        } else {
            self.advance_far(near, limit)
        }
    }

    /// As [`Self::advance`], across the border of a level-1 slot. What comes into reach there is
    /// spread out first: it may hold events of the level-0 slot that is next.
    #[cold]
    #[inline(never)]
    fn advance_far(&mut self, near: Option<u64>, limit: SimTime) -> bool {
        let near = near.map(|slot| slot >> self.near_bits());
        let far = self.far.next_from(self.far_slot + 1);
        let overflow = self.overflow.peek().map(|first| far_slot_of(first.0.key));
        let Some(first) = [near, far, overflow].into_iter().flatten().min() else { return false };
        if first > limit.ps() >> FAR_BITS {
            return false;
        }
        self.far_slot = first;
        self.adapt();
        self.next = first << self.near_bits();
        if overflow == Some(first) {
            self.spread_overflow();
        }
        if far == Some(first) {
            self.spread_far();
        }
        if let Some(near) = self.near.next_from(self.next) {
            self.enter(near & !(GROUP - 1));
        }
        true
    }

    /// Starts to serve the group of level-0 slots that begins with this one.
    #[inline(always)]
    fn enter(&mut self, group: u64) {
        debug_assert!(self.served == self.current.len(), "slots are left when they are empty");
        self.next = group + GROUP;
        self.served = 0;
        self.current.clear();
        if group == self.scout.group {
            self.enter_fetched();
        } else {
            let found = self.near.take_group(group);
            self.drain(group, found);
        }
        self.waiting -= self.current.len();
        self.trial.0 += 1;
        self.trial.1 += self.current.len() as u64;
        if self.looks_far() && self.scout.group == NOWHERE {
            self.send_scout();
        }
    }

    /// As [`Self::enter`], of the group that was fetched ahead.
    #[inline(never)]
    fn enter_fetched(&mut self) {
        while self.scout.node != NONE {
            self.fetch_one();
        }
        std::mem::swap(&mut self.current, &mut self.scout.events);
        let group = std::mem::replace(&mut self.scout.group, NOWHERE);
        let since = self.near.take_group(group);
        if since != 0 {
            self.drain(group, since);
            self.current.sort_unstable_by_key(|scheduled| scheduled.key);
        }
    }

    /// Moves the events of those slots of a group that are `found` behind the current ones.
    #[inline(always)]
    fn drain(&mut self, group: u64, mut found: u64) {
        while found != 0 {
            let slot = group + u64::from(found.trailing_zeros());
            found &= found - 1;
            let begin = self.current.len();
            let mut id = self.near.take_list(slot);
            while id != NONE {
                let (key, event, next) = self.nodes.take(id);
                self.current.push(Scheduled { key, event });
                id = next;
            }
            if self.current.len() > begin + 1 {
                put_in_order(&mut self.current[begin..]);
            }
        }
    }

    /// Begins to fetch the next group that holds something, if it is of the same level-1 slot.
    #[inline(never)]
    fn send_scout(&mut self) {
        let Some(near) = self.near.next_from(self.next) else { return };
        if near >> self.near_bits() != self.far_slot {
            return;
        }
        self.scout.group = near & !(GROUP - 1);
        self.scout.left = self.near.take_group(self.scout.group);
        self.scout.events.clear();
        self.look_into_next_slot();
    }

    /// Fetches one of the events that will be served next, if the queue [looks
    /// far](Self::look_far): to be called for each event that is served.
    #[inline(always)]
    pub fn fetch(&mut self) {
        if self.scout.node != NONE {
            self.fetch_one();
        }
    }

    /// Fetches an event of the group that is next, of which there are more.
    #[inline(never)]
    fn fetch_one(&mut self) {
        let (key, event, next) = self.nodes.take(self.scout.node);
        self.scout.events.push(Scheduled { key, event });
        self.scout.node = next;
        if next == NONE {
            put_in_order(&mut self.scout.events[self.scout.begin..]);
            self.look_into_next_slot();
        } else {
            self.nodes.prefetch(next);
        }
    }

    #[inline(always)]
    fn look_into_next_slot(&mut self) {
        let Scout { group, left, .. } = self.scout;
        if left == 0 {
            return;
        }
        self.scout.left = left & (left - 1);
        self.scout.begin = self.scout.events.len();
        self.scout.node = self.near.take_list(group + u64::from(left.trailing_zeros()));
        self.nodes.prefetch(self.scout.node);
    }

    /// Moves the events of the level-1 slot that has come into reach to level 0.
    fn spread_far(&mut self) {
        let mut id = self.far.take(self.far_slot);
        while id != NONE {
            let (time, next) = self.nodes.look(id);
            self.near.push(time.ps() >> self.width, id, &mut self.nodes);
            id = next;
        }
    }

    /// Moves what has come within a level-1 slot out of the overflow.
    fn spread_overflow(&mut self) {
        while let Some(Reverse(first)) = self.overflow.peek() {
            if far_slot_of(first.key) > self.far_slot {
                break;
            }
            if let Some(Reverse(Scheduled { key, event })) = self.overflow.pop() {
                let id = self.nodes.add(key, || event);
                self.near.push(key.time.ps() >> self.width, id, &mut self.nodes);
            }
        }
    }

    /// Level-0 slots of a level-1 slot, as a power of two.
    #[inline(always)]
    const fn near_bits(&self) -> u32 {
        FAR_BITS - self.width
    }

    /// Makes level-0 slots narrower or wider if those of late held too much or too little. No slot is
    /// being served, and none before the level-1 slot that is next holds anything.
    fn adapt(&mut self) {
        let (groups, events) = self.trial;
        if groups < TRIAL {
            return;
        }
        self.trial = (0, 0);
        let groups = u64::from(groups);
        let mut width = self.width;
        if events > groups * FULL {
            width -= (events / (groups * FULL / 2)).ilog2().min(width - NARROWEST);
        } else if events < groups * EMPTY {
            width += u32::from(width < WIDEST);
        }
        if width != self.width {
            self.set_width(width);
        }
    }

    fn set_width(&mut self, width: u32) {
        let mut slots = Slots::new(FAR_BITS - width);
        while let Some(slot) = self.near.next_from(self.next) {
            let mut id = self.near.take(slot);
            while id != NONE {
                let (time, next) = self.nodes.look(id);
                slots.push(time.ps() >> width, id, &mut self.nodes);
                id = next;
            }
        }
        (self.near, self.width) = (slots, width);
    }
}

/// Puts the events of a slot in order. Most slots have one or two.
#[inline(always)]
fn put_in_order<E: Copy>(events: &mut [Scheduled<E>]) {
    if events.len() > FEW {
        return events.sort_unstable_by_key(|scheduled| scheduled.key);
    }
    for end in 1..events.len() {
        let mut place = end;
        while place > 0 && events[place].key < events[place - 1].key {
            events.swap(place, place - 1);
            place -= 1;
        }
    }
}

#[inline]
fn far_slot_of(key: EventKey) -> u64 {
    key.time.ps() >> FAR_BITS
}

#[cfg(test)]
mod tests;

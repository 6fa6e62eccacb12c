//! Events that wait: in one timing wheel, or in an inbox for each unit of a world.

use rocelab_units::SimTime;

use crate::inboxes::Inboxes;
use crate::wheel::TimingWheel;
use crate::{EventKey, Foresight, Scheduled};

/// Events that come up in the window of a unit for which there is room from the start.
const SOON: usize = 64;
/// No unit.
const NONE: u32 = u32::MAX;

/// Events that wait, first one first.
///
/// Where the units of a world have [windows](crate::Windows) of their own, the wheel holds only what no unit
/// causes alone, and what is many windows away.
#[derive(Debug)]
pub struct EventQueue<E: Copy> {
    pub(crate) wheel: TimingWheel<E>,
    pub(crate) inboxes: Inboxes<E>,
    /// The unit that runs its window; none if events come out of the wheel.
    unit: u32,
    /// Events of that unit before this time, in ps, are of this window.
    end: u64,
    /// Those that came up in it, last one first.
    soon: Vec<Scheduled<E>>,
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
            wheel: TimingWheel::new(),
            inboxes: Inboxes::none(),
            unit: NONE,
            end: 0,
            soon: Vec::with_capacity(SOON),
        }
    }

    /// Number of events that wait.
    pub fn len(&self) -> usize {
        self.wheel.len() + self.inboxes.len() + self.soon.len()
    }

    /// Whether more events wait than so many. Seldom counts them all.
    pub fn has_more_than(&self, number: usize) -> bool {
        let at_least = self.wheel.len() + self.soon.len() + self.inboxes.occupied();
        at_least > number || self.len() > number
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event that happens where the one does that is being handled. Keys are unique; a key before the
    /// last popped one is served next.
    #[inline(always)]
    pub fn push(&mut self, key: EventKey, event: E) {
        self.push_made(key, || event);
    }

    /// Adds an event, made where it goes: one that goes through memory is read before it is there.
    #[inline(always)]
    pub fn push_made(&mut self, key: EventKey, event: impl Fn() -> E) {
        if self.unit == NONE {
            self.wheel.push_made(key, event);
        } else if key.time.ps() < self.end {
            self.push_soon(key, event());
        } else {
            self.push_into(self.unit, key, event());
        }
    }

    /// Adds an event for a unit other than the one that runs: it comes into that one's inbox, or into the
    /// wheel if units have none.
    #[inline(always)]
    pub fn push_beyond(&mut self, unit: u32, key: EventKey, event: E) {
        if self.inboxes.are_any() {
            self.push_into(unit, key, event);
        } else {
            self.wheel.push(key, event);
        }
    }

    /// Puts an event into a unit's inbox, or into the wheel if it is many windows away.
    #[inline(always)]
    pub(crate) fn push_into(&mut self, unit: u32, key: EventKey, event: E) {
        if !self.inboxes.push(unit, key, event) {
            self.wheel.push(key, event);
        }
    }

    /// Puts an event among those of the window that runs. It is one of the next more often than not.
    #[inline(always)]
    fn push_soon(&mut self, key: EventKey, event: E) {
        let later = self.soon.iter().rposition(|other| other.key > key);
        self.soon.insert(later.map_or(0, |place| place + 1), Scheduled { key, event });
    }

    /// A unit runs its events before `end` from now on.
    #[inline(always)]
    pub(crate) fn begin(&mut self, unit: u32, end: u64) {
        (self.unit, self.end) = (unit, end);
    }

    /// No unit runs from now on.
    #[inline(always)]
    pub(crate) fn stop(&mut self) {
        self.unit = NONE;
    }

    /// What came up in the window that runs and is next: where it stands.
    #[inline(always)]
    pub(crate) fn soonest(&self) -> Option<EventKey> {
        self.soon.last().map(|scheduled| scheduled.key)
    }

    /// Takes that.
    #[inline(always)]
    pub(crate) fn pop_soon(&mut self) -> Option<Scheduled<E>> {
        self.soon.pop()
    }

    /// From now on there are so many steps of prefetching. Where one is not enough, events are looked at before
    /// their bin's turn.
    pub fn foresee(&mut self, foresight: Foresight) {
        self.wheel.foresee(foresight);
    }

    /// How many steps of prefetching there are.
    pub fn foresight(&self) -> Foresight {
        self.wheel.foresight()
    }

    /// Takes the first event; where units have inboxes, of the wheel.
    pub fn pop(&mut self) -> Option<Scheduled<E>> {
        self.wheel.pop()
    }

    /// The first event's key; where units have inboxes, of the wheel.
    pub fn peek(&self) -> Option<EventKey> {
        self.wheel.peek()
    }

    /// The first event, which stays; where units have inboxes, of the wheel.
    pub fn first(&mut self) -> Option<&Scheduled<E>> {
        self.wheel.first()
    }

    /// All events that wait, first one first; they stay. Pushed into an empty queue they come out of
    /// that one in the same order.
    pub fn scheduled(&self) -> Vec<Scheduled<E>> {
        debug_assert!(self.soon.is_empty(), "it is asked between two windows");
        let mut all = self.wheel.scheduled();
        all.extend(self.inboxes.scheduled());
        all.sort_unstable_by_key(|scheduled| scheduled.key);
        all
    }

    /// The first window that something happens in, or one behind it, if that begins by `limit`.
    pub(crate) fn next_window(&self, limit: SimTime) -> Option<u64> {
        let begins = |window: &u64| self.inboxes.start_of(*window) <= limit;
        let of_wheel = || self.wheel.peek().map(|key| self.inboxes.window_of(key.time));
        self.inboxes.next_window().filter(begins).or_else(of_wheel).filter(begins)
    }

    /// When the first event happens, wherever it waits.
    pub(crate) fn next(&self) -> SimTime {
        self.wheel.peek().map_or(SimTime::NEVER, |key| key.time).min(self.inboxes.next())
    }
}

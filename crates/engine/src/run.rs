//! Running a world.

use rocelab_units::SimTime;

use crate::{EventKey, EventQueue, Scheduled};

/// How many events before its turn an event's memory is asked for: enough to cover the time that
/// main memory takes, and not so many that the lines are gone again.
const LOOK_AHEAD: usize = 5;
/// The same for what that memory leads to.
const LOOK_AHEAD_NEXT: usize = 1;

/// What the engine drives: the state that events act on.
pub trait World {
    /// A small value that says what happens.
    type Event: Copy;

    /// Lets `event` happen at `key.time`; what follows from it is pushed into `queue`, at this
    /// instant or later.
    fn handle(&mut self, key: EventKey, event: Self::Event, queue: &mut EventQueue<Self::Event>);

    /// Asks for the memory that `event` names: it happens some events from now.
    #[inline]
    fn prefetch(&self, event: &Self::Event) {
        let _ = event;
    }

    /// Asks for the memory that `event` will touch beyond that, which what was asked for before
    /// leads to: it happens in a moment.
    #[inline]
    fn prefetch_next(&self, event: &Self::Event) {
        let _ = event;
    }
}

/// Events, and the time they have come to.
#[derive(Debug)]
pub struct Engine<E: Copy> {
    /// What waits.
    pub queue: EventQueue<E>,
    now: SimTime,
    executed: u64,
}

impl<E: Copy> Default for Engine<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> Engine<E> {
    /// An engine at time zero with nothing to do.
    pub fn new() -> Self {
        Self { queue: EventQueue::new(), now: SimTime::ZERO, executed: 0 }
    }

    /// The time of the last event, or the limit that was reached.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Number of events executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Runs at most `budget` events that are not later than `limit`; true if that many ran, so
    /// that more may wait.
    pub fn run<W: World<Event = E>>(&mut self, world: &mut W, limit: SimTime, budget: u64) -> bool {
        for _ in 0..budget {
            let next = self.queue.pop_until(limit);
            let Some(Scheduled { key, event }) = next else { return false };
            debug_assert!(key.time >= self.now, "an event was scheduled in the past");
            self.now = key.time;
            self.executed += 1;
            if self.queue.has_begun() {
                self.prefetch_first(world);
            }
            if let Some(event) = self.queue.look_ahead(LOOK_AHEAD) {
                world.prefetch(event);
            }
            if let Some(event) = self.queue.look_ahead(LOOK_AHEAD_NEXT) {
                world.prefetch_next(event);
            }
            world.handle(key, event, &mut self.queue);
        }
        true
    }

    /// Asks for the memory of the events that nothing has looked ahead to.
    #[inline(never)]
    fn prefetch_first<W: World<Event = E>>(&self, world: &W) {
        for event in (0..LOOK_AHEAD).map_while(|ahead| self.queue.look_ahead(ahead)) {
            world.prefetch(event);
        }
    }

    /// Lets time pass up to `limit` without an event, as at the end of a run.
    pub fn advance_to(&mut self, limit: SimTime) {
        self.now = self.now.max(limit);
    }
}

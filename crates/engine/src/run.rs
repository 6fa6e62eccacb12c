//! Running a world.

use rocelab_units::SimTime;

use crate::{EventKey, EventQueue, Scheduled};

/// How many events before its turn the first two steps of an event's [prefetching](World::prefetch)
/// are made.
const STEPS: [usize; 2] = [5, 1];
/// And all four where the queue [looks far](EventQueue::look_far). Between steps at different distances
/// there is about the time that main memory takes.
const FAR_STEPS: [usize; 4] = [9, 5, 5, 2];

/// What the engine drives: the state that events act on.
pub trait World {
    /// A small value that says what happens.
    type Event: Copy;

    /// Lets `event` happen at `key.time`; what follows from it is pushed into `queue`, at this
    /// instant or later.
    fn handle(&mut self, key: EventKey, event: Self::Event, queue: &mut EventQueue<Self::Event>);

    /// Asks for memory that `event` will touch: it happens some events from now. There are four
    /// steps, so that what one has asked for can be followed: by 1 and 2 what 0 has, and by 3 what they
    /// have. The last two are only made where much more waits than caches hold.
    #[inline]
    fn prefetch<const STEP: usize>(&self, event: &Self::Event) {
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

    /// Goes on from a checkpoint: `executed` events have been, the last of them at `now` or before.
    pub fn resume(&mut self, now: SimTime, executed: u64) {
        (self.now, self.executed) = (now, executed);
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
        let mut executed = 0;
        while executed < budget {
            let next = self.queue.pop_until(limit);
            let Some(Scheduled { key, event }) = next else { break };
            debug_assert!(key.time >= self.now, "an event was scheduled in the past");
            self.now = key.time;
            executed += 1;
            if self.queue.looks_far() {
                self.queue.fetch();
                self.prefetch_far(world);
            } else {
                self.prefetch(world);
            }
            world.handle(key, event, &mut self.queue);
        }
        self.executed += executed;
        executed == budget
    }

    #[inline(always)]
    fn prefetch<W: World<Event = E>>(&self, world: &W) {
        if self.queue.has_begun() {
            self.prefetch_first(world);
        }
        if let Some(event) = self.queue.look_ahead(STEPS[0]) {
            world.prefetch::<0>(event);
        }
        if let Some(event) = self.queue.look_ahead(STEPS[1]) {
            world.prefetch::<1>(event);
        }
    }

    /// Makes the first step for the events that nothing has looked ahead to.
    #[inline(never)]
    fn prefetch_first<W: World<Event = E>>(&self, world: &W) {
        for event in (0..STEPS[0]).map_while(|ahead| self.queue.look_ahead(ahead)) {
            world.prefetch::<0>(event);
        }
    }

    #[inline(never)]
    fn prefetch_far<W: World<Event = E>>(&self, world: &W) {
        if let Some(event) = self.queue.look_beyond(FAR_STEPS[0]) {
            world.prefetch::<0>(event);
        }
        if let Some(event) = self.queue.look_beyond(FAR_STEPS[1]) {
            world.prefetch::<1>(event);
        }
        if let Some(event) = self.queue.look_beyond(FAR_STEPS[2]) {
            world.prefetch::<2>(event);
        }
        if let Some(event) = self.queue.look_beyond(FAR_STEPS[3]) {
            world.prefetch::<3>(event);
        }
    }

    /// Lets time pass up to `limit` without an event, as at the end of a run.
    pub fn advance_to(&mut self, limit: SimTime) {
        self.now = self.now.max(limit);
    }
}

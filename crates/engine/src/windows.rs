//! A world in units that affect each other only after some time: each runs its own window, from its own inbox.
//!
//! In the order of time, one event after the other is somewhere else in the world: where that is more than
//! caches hold, each of them waits for memory. What happens in one unit during a window of time, no longer than
//! it takes at the least until another one feels it, can be gone through at once, and finds its
//! surroundings in the cache from the second event on. The order within a unit is that of time, and what
//! goes from one to another waits for a later window, so nothing comes out differently. It is the idea of
//! conservative parallel simulation (Chandy and Misra 1979), with windows that all go through together
//! (Lubachevsky's bounded lag), in one thread and in one memory.

use rocelab_units::{Duration, SimTime};

use crate::inboxes::Inboxes;
use crate::run::Ran;
use crate::{Engine, Foresight, Scheduled, World};

/// The shortest windows, in ps: events of one are counted in 64 parts of it.
const SHORTEST: u64 = 65;
/// The longest, of units that never feel each other.
const LONGEST: u64 = 1 << 34;
/// Events that are put in order at once, so that what the next ones touch can be asked for in time: about so many, of
/// whole units.
const AT_ONCE: usize = 256;
/// How many events before its turn each step of an event's [prefetching](World::prefetch) is made.
const STEPS: [usize; 2] = [6, 3];

/// The units of a world, and how they take turns.
#[derive(Debug)]
pub struct Windows<E: Copy> {
    units: u32,
    /// Picoseconds of a window.
    length: u64,
    /// The events of the units that run next, unit after unit, each in order.
    work: Vec<Scheduled<E>>,
    /// Which units these are, and how many events there are up to the last one of each.
    ends: Vec<(u32, usize)>,
}

impl<E: Copy> Windows<E> {
    /// So many units, of which each feels what happens in another one after `lookahead` at the least. With one,
    /// or if that is next to nothing, all events are in one queue.
    pub fn new(units: u32, lookahead: Duration) -> Self {
        let length = lookahead.ps().min(LONGEST);
        let units = if length < SHORTEST { 1 } else { units };
        Self {
            units,
            length,
            work: Vec::with_capacity(4 * AT_ONCE),
            ends: Vec::with_capacity(AT_ONCE),
        }
    }

    /// Runs all that is not later than `limit`.
    pub fn run<W: World<Event = E>>(&mut self, engine: &mut Engine, world: &mut W, limit: SimTime) {
        if self.units < 2 {
            engine.run(world, limit, u64::MAX);
            return;
        }
        let inboxes = &mut world.queue_mut().inboxes;
        if !inboxes.are_any() {
            *inboxes = Inboxes::of(self.units, self.length);
            let now = inboxes.window_of(engine.now());
            inboxes.go_to(now);
        }
        while self.run_window(engine, world, limit) {}
    }

    /// When something happens next.
    pub fn next<W: World<Event = E>>(&self, world: &W) -> SimTime {
        world.queue().next()
    }

    /// Puts all events into the wheel of the world's queue.
    pub fn join<W: World<Event = E>>(&mut self, world: &mut W) {
        let queue = world.queue_mut();
        let inboxes = std::mem::replace(&mut queue.inboxes, Inboxes::none());
        for Scheduled { key, event } in inboxes.scheduled() {
            queue.wheel.push(key, event);
        }
    }

    /// Goes through the next window, or, where something in it happens in no unit alone, through the part of it
    /// before that, and that. False if nothing more happens until `limit`.
    fn run_window<W: World<Event = E>>(
        &mut self,
        engine: &mut Engine,
        world: &mut W,
        limit: SimTime,
    ) -> bool {
        let Some(mut window) = world.queue().next_window(limit) else { return false };
        // What was many windows away when it came up, and what no unit causes alone.
        let outside = loop {
            let queue = world.queue_mut();
            let end = queue.inboxes.end_of(window).min(limit);
            let Some(scheduled) = queue.wheel.pop_until(end) else { break None };
            window = window.min(queue.inboxes.window_of(scheduled.key.time));
            let Some(unit) = world.unit_of(&scheduled.event) else { break Some(scheduled) };
            let queue = world.queue_mut();
            queue.inboxes.reach(window);
            queue.push_into(unit, scheduled.key, scheduled.event);
        };
        let inboxes = &mut world.queue_mut().inboxes;
        inboxes.go_to(window);
        let (start, end) = (inboxes.start_of(window), inboxes.end_of(window));
        // The first instant that the units do not come to. What no unit causes alone comes before all else at its
        // own.
        let before = match outside {
            Some(Scheduled { key, .. }) => key.time.ps(),
            None => end.min(limit).ps() + 1,
        };
        if before > start.ps() {
            self.run_units(engine, world, before);
        }
        if let Some(Scheduled { key, event }) = outside {
            let last = if (W::ONLY_LOOKS)(&event) { SimTime::ZERO } else { key.time };
            world.handle(key, event);
            engine.note(Ran { executed: 1, last });
            return true;
        }
        if end <= limit {
            world.queue_mut().inboxes.go_to(window + 1);
        }
        end < limit
    }

    /// Runs all units in which something happens during the first window, but not what is at `before` or later.
    fn run_units<W: World<Event = E>>(&mut self, engine: &mut Engine, world: &mut W, before: u64) {
        let units = world.queue_mut().inboxes.take_units();
        let mut units_left = &units[..];
        while !units_left.is_empty() {
            self.work.clear();
            self.ends.clear();
            while let [unit, rest @ ..] = units_left
                && self.work.len() < AT_ONCE
            {
                if let Some(next) = rest.get(1) {
                    world.queue_mut().inboxes.prefetch(*next);
                }
                world.queue_mut().inboxes.pour(*unit, &mut self.work);
                self.ends.push((*unit, self.work.len()));
                units_left = rest;
            }
            let ran = self.run_some(world, before);
            engine.note(ran);
        }
        world.queue_mut().inboxes.give_back(units);
    }

    /// Runs the units whose events were put in order.
    #[inline(never)] // There is one copy of it for each world: all that is hot is inlined into that.
    fn run_some<W: World<Event = E>>(&self, world: &mut W, before: u64) -> Ran {
        let mut ran = Ran { executed: 0, last: SimTime::ZERO };
        let work = &self.work[..];
        let foresees = world.queue().foresight() != Foresight::Nothing;
        let mut place = 0;
        for &(unit, end) in &self.ends {
            world.queue_mut().begin(unit, before);
            // All of them, but where something happens in the middle of the window that no unit causes alone.
            let own = &work[place..end];
            let stop = place + own.partition_point(|event| event.key.time.ps() < before);
            let acting = |waiting: &&Scheduled<E>| !(W::ONLY_LOOKS)(&waiting.event);
            let own = work[..stop].get(place..).unwrap_or_default();
            let mut last = own.iter().rfind(acting).map(|event| event.key.time);
            loop {
                let next = match work[..stop].get(place) {
                    Some(first) if world.queue().soonest().is_none_or(|soon| first.key < soon) => {
                        if foresees {
                            foresee(work, place, world);
                        }
                        place += 1;
                        *first
                    }
                    _ => match world.queue_mut().pop_soon() {
                        Some(soon) => {
                            if !(W::ONLY_LOOKS)(&soon.event) {
                                last = last.max(Some(soon.key.time));
                            }
                            soon
                        }
                        None => break,
                    },
                };
                ran.executed += 1;
                world.handle(next.key, next.event);
            }
            ran.last = ran.last.max(last.unwrap_or(SimTime::ZERO));
            let queue = world.queue_mut();
            queue.stop();
            for left in &work[place..end] {
                queue.push_into(unit, left.key, left.event);
            }
            place = end;
        }
        ran
    }
}

/// Asks for the memory that the next events will touch, step by step.
#[inline(always)]
fn foresee<W: World>(work: &[Scheduled<W::Event>], place: usize, world: &W) {
    if let Some(scheduled) = work.get(place + STEPS[0]) {
        world.prefetch::<0>(&scheduled.event);
    }
    if let Some(scheduled) = work.get(place + STEPS[1]) {
        world.prefetch::<1>(&scheduled.event);
    }
}

#[cfg(test)]
mod tests;

//! Running a world.

use rocelab_units::SimTime;

use crate::wheel::TimingWheel;
use crate::{EventKey, EventQueue, Foresight, Scheduled};

/// How many events before its turn the only step of an event's [prefetching](World::prefetch) is made.
const ONE_STEP: usize = 3;
/// The same where there are two steps, for each.
const TWO_STEPS: [usize; 2] = [5, 1];
/// The same where there are three.
const THREE_STEPS: [usize; 3] = [6, 3, 1];
/// The same where the queue looks into the [next bin](EventQueue::foresee): between two steps there is about the
/// time that main memory takes.
const FAR_STEPS: [usize; 3] = [9, 5, 2];

/// What the engine drives: the state that events act on, and the events that wait.
pub trait World {
    /// A small value that says what happens.
    type Event: Copy;

    /// Whether an event only looks at the world: then the time at which a run ends is not that of this event.
    const ONLY_LOOKS: fn(&Self::Event) -> bool = |_| false;

    /// The events that wait.
    fn queue(&self) -> &EventQueue<Self::Event>;

    /// The same, to take events out.
    fn queue_mut(&mut self) -> &mut EventQueue<Self::Event>;

    /// Lets `event` happen at `key.time`; what follows from it is pushed into the [queue](Self::queue), at this
    /// instant or later.
    fn handle(&mut self, key: EventKey, event: Self::Event);

    /// Asks for memory that `event` will touch: it happens some events from now. There are up to three
    /// steps, as the queue's [`Foresight`] has it, so that what one has asked for can be followed by the next.
    #[inline]
    fn prefetch<const STEP: usize>(&self, event: &Self::Event) {
        let _ = event;
    }

    /// The [unit](crate::Windows) in which `event` happens; none if it happens in more than one.
    fn unit_of(&self, event: &Self::Event) -> Option<u32> {
        let _ = event;
        None
    }
}

/// Runs the events of a world, and knows the time they have come to.
#[derive(Debug, Default)]
pub struct Engine {
    now: SimTime,
    executed: u64,
}

impl Engine {
    /// An engine at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on from a checkpoint: `executed` events have been, the last of them at `now` or before.
    pub fn resume(&mut self, now: SimTime, executed: u64) {
        (self.now, self.executed) = (now, executed);
    }

    /// The time of the last event that did not only [look](World::ONLY_LOOKS), or the limit that was reached.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Number of events executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Runs at most `budget` events that are not later than `limit`; true if that many ran, so
    /// that more may wait.
    pub fn run<W: World>(&mut self, world: &mut W, limit: SimTime, budget: u64) -> bool {
        let ran = run_queue(world, (self.now, limit), budget);
        self.note(ran);
        ran.executed == budget
    }

    /// Some events were executed, out of this queue or another one.
    pub(crate) fn note(&mut self, ran: Ran) {
        self.now = self.now.max(ran.last);
        self.executed += ran.executed;
    }

    /// Lets time pass up to `limit` without an event, as at the end of a run.
    pub fn advance_to(&mut self, limit: SimTime) {
        self.now = self.now.max(limit);
    }
}

/// What came of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    /// Events executed.
    pub(crate) executed: u64,
    /// When the last of them was, or the beginning if there was none.
    pub(crate) last: SimTime,
}

/// Runs at most `budget` events of the queue of `world` that are not later than `limit`. All that waits is not earlier
/// than `begin`.
#[inline(never)] // There is one copy of it for each world: all that is hot is inlined into that.
pub(crate) fn run_queue<W: World>(
    world: &mut W,
    (begin, limit): (SimTime, SimTime),
    budget: u64,
) -> Ran {
    let mut ran = Ran { executed: 0, last: begin };
    while ran.executed < budget {
        let next = world.queue_mut().wheel.pop_until(limit);
        let Some(Scheduled { key, event }) = next else { break };
        debug_assert!(key.time >= ran.last, "an event was scheduled in the past");
        if !(W::ONLY_LOOKS)(&event) {
            ran.last = key.time;
        }
        ran.executed += 1;
        let wheel = &world.queue().wheel;
        match (wheel.foresight(), wheel.looks_far()) {
            (Foresight::Nothing, _) => {}
            (Foresight::One, _) => prefetch_one(wheel, world),
            (Foresight::Two, false) => prefetch_two(wheel, world),
            (Foresight::Three, false) => prefetch_three(wheel, world),
            (Foresight::Two | Foresight::Three, true) => prefetch_far(wheel, world),
        }
        world.handle(key, event);
    }
    ran
}

#[inline(always)]
fn prefetch_one<W: World>(queue: &TimingWheel<W::Event>, world: &W) {
    if queue.has_begun() {
        prefetch_first::<W, ONE_STEP, 0>(queue, world);
    }
    if let Some(event) = queue.look_ahead(ONE_STEP) {
        world.prefetch::<0>(event);
    }
}

#[inline(never)]
fn prefetch_two<W: World>(queue: &TimingWheel<W::Event>, world: &W) {
    if queue.has_begun() {
        prefetch_first::<W, { TWO_STEPS[0] }, 0>(queue, world);
    }
    if let Some(event) = queue.look_ahead(TWO_STEPS[0]) {
        world.prefetch::<0>(event);
    }
    if let Some(event) = queue.look_ahead(TWO_STEPS[1]) {
        world.prefetch::<1>(event);
    }
}

#[inline(never)]
fn prefetch_three<W: World>(queue: &TimingWheel<W::Event>, world: &W) {
    if queue.has_begun() {
        prefetch_first::<W, { THREE_STEPS[0] }, 0>(queue, world);
        prefetch_first::<W, { THREE_STEPS[1] }, 1>(queue, world);
    }
    if let Some(event) = queue.look_ahead(THREE_STEPS[0]) {
        world.prefetch::<0>(event);
    }
    if let Some(event) = queue.look_ahead(THREE_STEPS[1]) {
        world.prefetch::<1>(event);
    }
    if let Some(event) = queue.look_ahead(THREE_STEPS[2]) {
        world.prefetch::<2>(event);
    }
}

/// Makes a step for the `COUNT` next events, which nothing has looked ahead to.
#[inline(never)]
fn prefetch_first<W: World, const COUNT: usize, const STEP: usize>(
    queue: &TimingWheel<W::Event>,
    world: &W,
) {
    for event in (0..COUNT).map_while(|ahead| queue.look_ahead(ahead)) {
        world.prefetch::<STEP>(event);
    }
}

#[inline(never)]
fn prefetch_far<W: World>(queue: &TimingWheel<W::Event>, world: &W) {
    if let Some(event) = queue.look_beyond(FAR_STEPS[0]) {
        world.prefetch::<0>(event);
    }
    if let Some(event) = queue.look_beyond(FAR_STEPS[1]) {
        world.prefetch::<1>(event);
    }
    if let Some(event) = queue.look_beyond(FAR_STEPS[2]) {
        world.prefetch::<2>(event);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;
    use crate::TieCounter;

    /// Notes which events are prefetched in which steps.
    #[derive(Default)]
    struct Noting {
        noted: RefCell<BTreeSet<(usize, u32)>>,
        queue: EventQueue<u32>,
    }

    impl World for Noting {
        type Event = u32;

        fn queue(&self) -> &EventQueue<u32> {
            &self.queue
        }

        fn queue_mut(&mut self) -> &mut EventQueue<u32> {
            &mut self.queue
        }

        fn handle(&mut self, _: EventKey, _: u32) {}

        fn prefetch<const STEP: usize>(&self, event: &u32) {
            self.noted.borrow_mut().insert((STEP, *event));
        }
    }

    /// For how many of 100 events, ten in a bin, each step is made.
    fn steps(set: impl Fn(&mut EventQueue<u32>)) -> Vec<usize> {
        let (mut world, mut ties) = (Noting::default(), TieCounter::new(0));
        set(&mut world.queue);
        for number in 0..100 {
            let time = SimTime::from_ps(u64::from(number / 10 * 20_000 + number));
            world.queue.push(EventKey { time, tie: ties.reserve() }, number);
        }
        run_queue(&mut world, (SimTime::ZERO, SimTime::NEVER), u64::MAX);
        let noted = world.noted.into_inner();
        let counts = (0..3).map(|step| noted.iter().filter(|(of, _)| *of == step).count());
        counts.collect()
    }

    #[test]
    fn there_are_as_many_steps_as_are_foreseen() {
        assert_eq!(steps(|_| {}), [0, 0, 0]);
        assert_eq!(steps(|queue| queue.foresee(Foresight::Nothing)), [0, 0, 0]);
        assert_eq!(steps(|queue| queue.foresee(Foresight::One)), [90, 0, 0]);
        let far = steps(|queue| queue.foresee(Foresight::Three));
        assert_eq!(far, steps(|queue| queue.foresee(Foresight::Two)));
        assert!(far.iter().all(|&of| of > 80), "{far:?}: into the next bin");
    }
}

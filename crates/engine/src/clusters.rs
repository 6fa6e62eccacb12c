//! A world in clusters that affect each other only after some time: each has a queue of its own, and they
//! take turns.
//!
//! In the order of time, one event after the other is somewhere else in the world: where that is more than
//! caches hold, each of them waits for memory. What happens in one cluster during a window of time, as
//! long as it takes at the least until another one feels it, can be gone through at once, and finds its
//! surroundings in the cache from the second event on. The order within a cluster is that of time, and what
//! goes from one to another waits for the next window, so nothing comes out differently. It is the idea of
//! conservative parallel simulation (Chandy and Misra 1979), with windows that all go through together
//! (Lubachevsky's bounded lag), in one thread and in one memory.
//!
//! That pays as long as clusters have enough to do in a window. When they have not, all events go back into
//! one queue.

use rocelab_units::{Duration, SimTime};

use crate::run::run_queue;
use crate::{Engine, EventQueue, Scheduled, World};

/// Events of a cluster in a window, on average, from which on it is worth it to have a queue of its own, and
/// below which it is not worth it any more.
const WORTH: u64 = 12;
const NOT_WORTH: u64 = 6;
/// After so many events it is seen whether it is worth it.
const TRIAL: u64 = 20_000;

/// The clusters of a world, and the events that wait in them.
///
/// Its engine's queue has all events where clusters have no queues of their own, else those that happen in
/// no cluster alone.
#[derive(Debug)]
pub struct Clusters<E: Copy> {
    count: u16,
    /// Until something that happens in a cluster is felt in another one.
    lookahead: Duration,
    /// By cluster, where they have queues of their own.
    queues: Vec<EventQueue<E>>,
    /// By cluster: when something happens next in its queue.
    next: Vec<SimTime>,
    inboxes: Inboxes<E>,
    trial: Trial,
    /// Whether clusters have queues of their own whether it is worth it or not.
    always: bool,
}

/// Events since it was seen whether clusters are worth it, and since when.
#[derive(Debug, Default)]
struct Trial {
    events: u64,
    since: SimTime,
}

/// What comes into each cluster from others.
#[derive(Debug)]
pub(crate) struct Inboxes<E>(Vec<Inbox<E>>);

/// What comes into a cluster.
#[derive(Debug)]
pub(crate) struct Inbox<E> {
    events: Vec<Scheduled<E>>,
    /// When the earliest of them happens.
    first: SimTime,
}

impl<E> Default for Inboxes<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<E> Inboxes<E> {
    fn new(count: u16) -> Self {
        let inbox = || Inbox { events: Vec::new(), first: SimTime::NEVER };
        Self(std::iter::repeat_with(inbox).take(count.into()).collect())
    }

    /// That of a cluster, where there are any.
    #[inline]
    pub(crate) fn of_mut(&mut self, cluster: u16) -> Option<&mut Inbox<E>> {
        self.0.get_mut(usize::from(cluster))
    }
}

impl<E> Inbox<E> {
    #[inline]
    pub(crate) fn push(&mut self, scheduled: Scheduled<E>) {
        self.first = self.first.min(scheduled.key.time);
        self.events.push(scheduled);
    }
}

impl<E: Copy> Clusters<E> {
    /// So many clusters, of which each feels what happens in another one after `lookahead` at the least.
    pub fn new(count: u16, lookahead: Duration) -> Self {
        Self {
            count,
            lookahead,
            queues: Vec::new(),
            next: Vec::new(),
            inboxes: Inboxes::default(),
            trial: Trial::default(),
            always: false,
        }
    }

    /// Has them take turns even where that takes longer.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// Whether they have queues of their own now.
    pub fn are_apart(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Runs all that is not later than `limit`.
    pub fn run<W: World<Event = E>>(
        &mut self,
        engine: &mut Engine<E>,
        world: &mut W,
        limit: SimTime,
    ) {
        if self.count < 2 || self.lookahead == Duration::ZERO {
            engine.run(world, limit, u64::MAX);
            return;
        }
        if self.always && !self.are_apart() {
            self.split(engine, world);
        }
        loop {
            let before = engine.executed();
            let goes_on = if self.are_apart() {
                self.run_windows(engine, world, limit);
                false
            } else {
                // A stretch may be long: it is seen within it whether clusters are worth it.
                engine.run(world, limit, TRIAL)
            };
            self.trial.events += engine.executed() - before;
            if self.trial.events >= TRIAL && !self.always {
                self.judge(engine, world, if goes_on { engine.now() } else { limit });
            }
            if !goes_on {
                return;
            }
        }
    }

    /// When something happens next.
    pub fn next(&self, engine: &Engine<E>) -> SimTime {
        let outside = engine.queue.peek().map_or(SimTime::NEVER, |key| key.time);
        outside.min(self.next_inside())
    }

    /// Puts all events into the queue of the engine.
    pub fn join(&mut self, engine: &mut Engine<E>) {
        let inboxes = std::mem::take(&mut self.inboxes.0);
        let waiting = self.queues.iter().flat_map(EventQueue::scheduled);
        for Scheduled { key, event } in
            waiting.chain(inboxes.into_iter().flat_map(|one| one.events))
        {
            engine.queue.push(key, event);
        }
        (self.queues, self.next) = (Vec::new(), Vec::new());
    }

    /// What comes into clusters from elsewhere goes into `queue` meanwhile, by
    /// [`push_beyond`](EventQueue::push_beyond).
    pub fn receive(&mut self, engine: &mut Engine<E>, come: impl FnOnce(&mut EventQueue<E>)) {
        std::mem::swap(&mut engine.queue.others, &mut self.inboxes);
        come(&mut engine.queue);
        std::mem::swap(&mut engine.queue.others, &mut self.inboxes);
    }

    /// Gives each cluster the events that happen in it.
    fn split<W: World<Event = E>>(&mut self, engine: &mut Engine<E>, world: &W) {
        let count = usize::from(self.count);
        self.queues.resize_with(count, EventQueue::new);
        let foresight = engine.queue.foresight();
        self.queues.iter_mut().for_each(|queue| queue.foresee_nearby(foresight));
        self.next = vec![SimTime::NEVER; count];
        self.inboxes = Inboxes::new(self.count);
        self.deal_out(engine, world);
    }

    /// Hands the events that the engine's queue has, and that happen in a cluster, to that.
    fn deal_out<W: World<Event = E>>(&mut self, engine: &mut Engine<E>, world: &W) {
        let queue = std::mem::take(&mut engine.queue);
        engine.queue.foresee(queue.foresight());
        for scheduled in queue.scheduled() {
            let cluster = world.cluster_of(&scheduled.event);
            match cluster.and_then(|cluster| self.inboxes.of_mut(cluster)) {
                Some(inbox) => inbox.push(scheduled),
                None => engine.queue.push(scheduled.key, scheduled.event),
            }
        }
    }

    /// When something happens next in any cluster.
    fn next_inside(&self) -> SimTime {
        let inboxes = self.inboxes.0.iter().map(|inbox| inbox.first);
        self.next.iter().copied().chain(inboxes).min().unwrap_or(SimTime::NEVER)
    }

    /// Goes through windows until `limit`. What happens in no cluster alone comes between two of them, and
    /// before all else at its instant.
    fn run_windows<W: World<Event = E>>(
        &mut self,
        engine: &mut Engine<E>,
        world: &mut W,
        limit: SimTime,
    ) {
        loop {
            let outside = engine.queue.peek().map_or(SimTime::NEVER, |key| key.time);
            let next = self.next_inside();
            let earliest = next.min(outside);
            if earliest > limit || earliest == SimTime::NEVER {
                return;
            }
            if outside <= next {
                engine.run(world, outside, 1);
                self.deal_out(engine, world);
                continue;
            }
            let before = |time: SimTime| SimTime::from_ps(time.ps() - 1);
            let end = before(next.saturating_add(self.lookahead)).min(before(outside)).min(limit);
            for cluster in 0..self.queues.len() {
                if self.next[cluster].min(self.inboxes.0[cluster].first) <= end {
                    self.run_cluster(cluster, engine, world, (next, end));
                }
            }
        }
    }

    /// Runs a cluster through a window, from its first instant to its last.
    fn run_cluster<W: World<Event = E>>(
        &mut self,
        cluster: usize,
        engine: &mut Engine<E>,
        world: &mut W,
        window: (SimTime, SimTime),
    ) {
        let queue = &mut self.queues[cluster];
        let inbox = &mut self.inboxes.0[cluster];
        inbox.first = SimTime::NEVER;
        for Scheduled { key, event } in inbox.events.drain(..) {
            queue.push(key, event);
        }
        std::mem::swap(&mut queue.others, &mut self.inboxes);
        engine.note(run_queue(queue, world, window, u64::MAX));
        std::mem::swap(&mut queue.others, &mut self.inboxes);
        self.next[cluster] = queue.peek().map_or(SimTime::NEVER, |key| key.time);
    }

    /// Sees whether clusters are worth it.
    fn judge<W: World<Event = E>>(&mut self, engine: &mut Engine<E>, world: &W, now: SimTime) {
        let Trial { events, since } =
            std::mem::replace(&mut self.trial, Trial { events: 0, since: now });
        let windows = now.since(since).ps() / self.lookahead.ps() + 1;
        let share = events / windows / u64::from(self.count);
        if !self.are_apart() && share >= WORTH {
            self.split(engine, world);
        } else if self.are_apart() && share < NOT_WORTH {
            self.join(engine);
        }
    }
}

#[cfg(test)]
mod tests;

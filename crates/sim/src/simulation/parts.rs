//! The parts of a network, each with its own events, and the windows in which they run.
//!
//! A window is as long as a frame takes at the least over a link that is cut: what a part sends in it
//! reaches another part behind its end. So within a window the parts know nothing of each other, and
//! run in any order or at once; between two of them they hand over what they have sent. What comes
//! from outside all parts, such as a link that fails, happens in each of them, and a window ends
//! before it: all that was sent until then is on its link.

use rocelab_engine::{Engine, EventKey};
use rocelab_fabric::{NodeId, Serialisation};
use rocelab_units::{Duration, SimTime};

use super::workers;
use crate::network::{BatchOf, BuildError, Event, Network, Part, Setting};
use crate::profile::Profile;

/// Bytes of the shortest frame (IEEE 802.3), which is the first to arrive: of one that is cut through
/// these are what a switch waits for.
const SHORTEST: u32 = rocelab_fabric::MIN_FRAME;

/// A part of a network, and its events.
#[derive(Debug)]
pub(super) struct Running<P: Profile> {
    pub(super) engine: Engine<Event>,
    pub(super) network: Network<P>,
}

/// All parts of a network.
#[derive(Debug)]
pub(super) struct Parts<P: Profile> {
    pub(super) all: Vec<Running<P>>,
    /// The least time that a frame takes from part to part.
    lookahead: Duration,
    workers: Workers,
    /// Events and windows of the last stretch.
    last: (u64, u64),
}

/// How many parts run at once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Workers {
    /// So many, always.
    Always(usize),
    /// So many, where windows have enough events.
    WhereWorth(usize),
}

/// Events of a window, on average, from which on it is worth it to meet other threads after it: what
/// takes some tens of microseconds.
const WORTH: u64 = 500;

impl<P: Profile> Running<P> {
    /// Runs to the end of a window.
    pub(super) fn run_until(&mut self, limit: SimTime) {
        self.engine.run(&mut self.network, limit, u64::MAX);
    }

    /// Takes in what another part has sent.
    pub(super) fn enter(&mut self, batch: BatchOf<P>) {
        self.network.enter(batch, &mut self.engine.queue);
    }

    /// When something happens next.
    pub(super) fn next(&mut self) -> SimTime {
        self.engine.queue.peek().map_or(SimTime::NEVER, |key: EventKey| key.time)
    }
}

impl<P: Profile> Parts<P> {
    /// The parts of a network at time zero, and how many of them may run at once.
    pub(super) fn new(
        setting: &Setting<P>,
        parts: impl Iterator<Item = Part>,
        workers: Workers,
    ) -> Result<Self, BuildError> {
        let mut all = Vec::new();
        for part in parts {
            let mut engine = Engine::new();
            let network = Network::of_part(setting, part, &mut engine.queue)?;
            all.push(Running { engine, network });
        }
        Ok(Self { lookahead: lookahead(setting, &all), all, workers, last: (0, 1) })
    }

    /// Parts that run at once, at the most.
    pub(super) fn workers(&self) -> usize {
        let (Workers::Always(workers) | Workers::WhereWorth(workers)) = self.workers;
        workers.clamp(1, self.all.len())
    }

    /// Parts to run at once in the next stretch, which will be as the last one was.
    fn workers_now(&self) -> usize {
        let (events, windows) = self.last;
        match self.workers {
            Workers::WhereWorth(_) if events < WORTH * windows => 1,
            _ => self.workers(),
        }
    }

    /// The part that a node is in.
    pub(super) fn part_of(&mut self, node: NodeId) -> &mut Running<P> {
        let place = self.all[0].network.part().cut().part_of(node);
        &mut self.all[place as usize]
    }

    /// When something happens next.
    pub(super) fn next(&mut self) -> Option<SimTime> {
        self.all.iter_mut().map(Running::next).min().filter(|&next| next != SimTime::NEVER)
    }

    /// Events executed so far, in all parts.
    pub(super) fn executed(&self) -> u64 {
        self.all.iter().map(|part| part.engine.executed()).sum()
    }

    /// The time of the last event of any part, or the limit that was reached.
    pub(super) fn now(&self) -> SimTime {
        self.all.iter().map(|part| part.engine.now()).max().unwrap_or_default()
    }

    /// Lets time pass up to `limit` without an event, as at the end of a run.
    pub(super) fn advance_to(&mut self, limit: SimTime) {
        for part in &mut self.all {
            part.engine.advance_to(limit);
        }
    }

    /// Runs all that happens until `limit`.
    pub(super) fn run_until(&mut self, limit: SimTime) {
        if let [only] = &mut self.all[..] {
            return only.run_until(limit);
        }
        let Some(next) = self.next().filter(|&next| next <= limit) else { return };
        let windows = Windows {
            limit,
            lookahead: self.lookahead,
            outside: Outside::new(self.all[0].network.plan()),
        };
        let before = self.executed();
        let workers = self.workers_now();
        let count = workers::run(&mut self.all, &windows, next, workers);
        self.last = (self.executed() - before, count);
    }
}

/// Where windows end.
#[derive(Debug)]
pub(super) struct Windows {
    limit: SimTime,
    lookahead: Duration,
    outside: Outside,
}

impl Windows {
    /// The last instant of the window that begins with what happens next, at `next`; none if that is
    /// not to happen now.
    pub(super) fn end(&self, next: SimTime) -> Option<SimTime> {
        if next > self.limit {
            return None;
        }
        let before = |time: SimTime| SimTime::from_ps(time.ps().saturating_sub(1));
        let reached = before(next.saturating_add(self.lookahead)).max(next);
        Some(reached.min(before(self.outside.after(next))).min(self.limit))
    }
}

/// When something happens that no node causes.
#[derive(Debug)]
struct Outside {
    /// Times of failures, ascending.
    steps: Vec<SimTime>,
    /// Time between two looks of the watchdogs.
    poll: Option<Duration>,
}

impl Outside {
    fn new(plan: &crate::Plan) -> Self {
        Self {
            steps: plan.failures.steps.iter().map(|step| step.at).collect(),
            poll: plan.failures.switch_watchdog.as_ref().map(|watchdog| watchdog.poll),
        }
    }

    /// The first such time after `now`.
    fn after(&self, now: SimTime) -> SimTime {
        let step = self.steps.partition_point(|&step| step <= now);
        let step = self.steps.get(step).copied().unwrap_or(SimTime::NEVER);
        let look = self.poll.map_or(SimTime::NEVER, |poll| {
            let poll = poll.ps().max(1);
            SimTime::from_ps((now.ps() / poll).saturating_add(1).saturating_mul(poll))
        });
        step.min(look)
    }
}

/// The least time from the start of a frame in one part to its arrival in another.
fn lookahead<P: Profile>(setting: &Setting<P>, parts: &[Running<P>]) -> Duration {
    let Some(first) = parts.first() else { return Duration::ZERO };
    let links = first.network.part().cut().links().iter();
    let crossing = |&link: &u32| {
        setting.ways_over(link).map(|way| way.transmit(SimTime::ZERO, SHORTEST).arrival)
    };
    let least = links.flat_map(crossing).min();
    least.unwrap_or(SimTime::NEVER).since(SimTime::ZERO)
}

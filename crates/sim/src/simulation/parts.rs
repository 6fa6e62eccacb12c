//! The parts of a network, each with its own events, and the windows in which they run.
//!
//! A window is as long as a frame takes at the least over a link that is cut: what a part sends in it
//! reaches another part behind its end. So within a window the parts know nothing of each other, and
//! run in any order or at once; between two of them they hand over what they have sent. What comes
//! from outside all parts, such as a link that fails, happens in each of them, and a window ends
//! before it: all that was sent until then is on its link.

use std::convert::Infallible;

use rocelab_engine::{Engine, Windows as UnitWindows};
use rocelab_fabric::NodeId;
use rocelab_units::{Duration, SimTime};

use super::coordinator::{Assembly, Fact};
use super::workers::Crew;
use crate::network::{BatchOf, BuildError, Event, Network, Part, Setting};
use crate::profile::Profile;

/// A part of a network, and its events.
#[derive(Debug)]
pub(super) struct Running<P: Profile> {
    pub(super) engine: Engine<Event>,
    pub(super) network: Network<P>,
    units: UnitWindows<Event>,
}

/// All parts of a network.
#[derive(Debug)]
pub(super) struct Parts<P: Profile> {
    pub(super) all: Vec<Running<P>>,
    workers: Workers,
    pub(super) crew: Crew<P>,
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
    /// A part of a network at time zero.
    pub(super) fn new(setting: &Setting<P>, part: Part) -> Result<Self, BuildError> {
        let mut engine = Engine::new();
        let mut network = Network::of_part(setting, part, &mut engine.queue)?;
        let units = network.divide(setting);
        Ok(Self { engine, network, units })
    }

    /// Runs to the end of a window.
    pub(super) fn run_until(&mut self, limit: SimTime) {
        self.units.run(&mut self.engine, &mut self.network, limit);
    }

    /// Takes in what another part has sent.
    pub(super) fn enter(&mut self, batch: BatchOf<P>) {
        self.network.enter(batch, &mut self.engine.queue);
    }

    /// When something happens next.
    pub(super) fn next(&self) -> SimTime {
        self.units.next(&self.engine)
    }

    /// All that waits to happen is in the queue of the engine from now on, until it
    /// [runs](Self::run_until) on.
    pub(super) fn join(&mut self) -> (&mut Engine<Event>, &mut Network<P>) {
        self.units.join(&mut self.engine);
        (&mut self.engine, &mut self.network)
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
            all.push(Running::new(setting, part)?);
        }
        let links = all.first().map_or(&[][..], |part| part.network.part().cut().links());
        let windows = Windows::over(setting, links);
        let (Workers::Always(most) | Workers::WhereWorth(most)) = workers;
        let crew = Crew::new(all.len(), windows, most.clamp(1, all.len().max(1)));
        Ok(Self { all, workers, crew, last: (0, 1) })
    }

    /// Parts that run at once, at the most.
    pub(super) fn workers(&self) -> usize {
        self.crew.workers()
    }

    /// Whether parts are run at once in the next stretch, which will be as the last one was.
    fn at_once(&self) -> bool {
        let (events, windows) = self.last;
        match self.workers {
            Workers::WhereWorth(_) => events >= WORTH * windows,
            Workers::Always(_) => true,
        }
    }

    /// The part that a node is in.
    pub(super) fn part_of(&mut self, node: NodeId) -> &mut Running<P> {
        let place = self.all[0].network.part().cut().part_of(node);
        &mut self.all[place as usize]
    }

    /// Events executed so far, in all parts.
    pub(super) fn executed(&self) -> u64 {
        self.all.iter().map(|part| part.engine.executed()).sum()
    }

    /// The time of the last event of any part, or the limit that was reached.
    pub(super) fn now(&self) -> SimTime {
        self.all.iter().map(|part| part.engine.now()).max().unwrap_or_default()
    }

    /// Runs all that happens until `limit`.
    pub(super) fn run_until(&mut self, limit: SimTime) {
        if let [only] = &mut self.all[..] {
            return only.run_until(limit);
        }
        let Some(next) = self.next().filter(|&next| next <= limit) else { return };
        let before = self.executed();
        let at_once = self.at_once();
        let windows = self.crew.run(&mut self.all, (next, limit), at_once);
        self.last = (self.executed() - before, windows);
    }
}

/// All parts are here.
impl<P: Profile> Assembly<P> for Parts<P> {
    type Error = Infallible;

    fn parts(&mut self) -> &mut [Running<P>] {
        &mut self.all
    }

    fn next(&self) -> Option<SimTime> {
        self.all.iter().map(Running::next).min().filter(|&next| next != SimTime::NEVER)
    }

    fn of_all<F: Fact>(&mut self, here: F) -> Result<F, Infallible> {
        Ok(here)
    }

    fn part_with(&mut self, node: NodeId) -> Option<&mut Running<P>> {
        Some(self.part_of(node))
    }
}

/// Where windows end.
#[derive(Debug)]
pub(super) struct Windows {
    /// The least time that a frame takes from part to part.
    lookahead: Duration,
    outside: Outside,
}

impl Windows {
    /// Where these links of the topology are cut.
    pub(super) fn over<P: Profile>(setting: &Setting<P>, links: &[u32]) -> Self {
        let outside = Outside::new(setting.plan());
        Self { lookahead: setting.lookahead(links.iter().copied()), outside }
    }

    /// The last instant of the window that begins with what happens next, at `next`; none if that is
    /// behind `limit`, which no window reaches beyond.
    pub(super) fn end(&self, next: SimTime, limit: SimTime) -> Option<SimTime> {
        if next > limit {
            return None;
        }
        let before = |time: SimTime| SimTime::from_ps(time.ps().saturating_sub(1));
        // At a multiple of its length, as windows of units do: so none of those is split.
        let over = next.ps().checked_rem(self.lookahead.ps()).unwrap_or(0);
        let begin = SimTime::from_ps(next.ps() - over);
        let reached = before(begin.saturating_add(self.lookahead)).max(next);
        Some(reached.min(before(self.outside.after(next))).min(limit))
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::Scenario;
    use crate::profile::roce::Roce;

    /// The part that a permutation on a fat tree of this arity is in, after 20 us.
    fn after_a_while(arity: u32) -> Running<Roce> {
        let text = format!(
            "[topology.fat-tree]\nk = {arity}\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"50m\" }}\n\
             [workload.permutation]\nbytes = \"200KB\"\n"
        );
        let scenario = Scenario::parse(&text, Path::new("t.toml"), &[]).unwrap();
        let plan = Arc::new(scenario.plan().unwrap());
        let part = Part::whole(&plan);
        let mut part = Running::new(&Setting::new(plan).unwrap(), part).unwrap();
        part.run_until(SimTime::ZERO + Duration::from_us(10));
        part.run_until(SimTime::ZERO + Duration::from_us(20));
        part
    }

    #[test]
    fn all_that_waits_in_units_can_be_put_into_one_queue() {
        let mut running = after_a_while(4);
        let next = running.next();
        assert_ne!(running.engine.queue.peek().map(|key| key.time), Some(next));
        running.join();
        assert_eq!(running.next(), next);
        assert_eq!(running.engine.queue.peek().map(|key| key.time), Some(next));
    }

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    /// Windows of 100 ps, but for what happens outside.
    fn windows(steps: &[u64], poll: Option<u64>) -> Windows {
        let outside = Outside {
            steps: steps.iter().map(|&step| at(step)).collect(),
            poll: poll.map(|poll| at(poll).since(SimTime::ZERO)),
        };
        Windows { lookahead: at(100).since(SimTime::ZERO), outside }
    }

    fn end(windows: &Windows, next: u64) -> Option<u64> {
        windows.end(at(next), at(10_000)).map(SimTime::ps)
    }

    #[test]
    fn a_window_ends_before_the_first_frame_from_another_part() {
        let windows = windows(&[], None);
        assert_eq!([0, 7, 9_000].map(|next| end(&windows, next)), [99, 99, 9_099].map(Some));
    }

    #[test]
    fn a_window_ends_at_the_limit_and_none_begins_behind_it() {
        let windows = windows(&[], None);
        assert_eq!(
            [9_950, 10_000, 10_001].map(|next| end(&windows, next)),
            [Some(9_999), Some(10_000), None]
        );
        assert_eq!(windows.end(SimTime::NEVER, SimTime::from_ps(u64::MAX - 1)), None);
        assert_eq!(windows.end(at(u64::MAX - 5), SimTime::NEVER), Some(at(u64::MAX - 1)));
    }

    /// One that begins with what happens outside goes on until the next of that.
    #[test]
    fn a_window_ends_before_what_happens_outside() {
        let windows = windows(&[50, 130, 130, 131], None);
        assert_eq!(
            [0, 49, 50, 129, 130, 131, 132].map(|next| end(&windows, next)),
            [49, 49, 99, 129, 130, 199, 199].map(Some)
        );
    }

    #[test]
    fn a_window_ends_before_the_watchdogs_look() {
        let windows = windows(&[150], Some(70));
        assert_eq!(
            [0, 69, 70, 140, 150, 209].map(|next| end(&windows, next)),
            [69, 69, 99, 149, 199, 209].map(Some)
        );
    }

    /// Where frames take no time at all, a window is one instant.
    #[test]
    fn a_window_has_at_least_one_instant() {
        let windows = Windows { lookahead: Duration::ZERO, ..windows(&[], None) };
        assert_eq!(end(&windows, 7), Some(7));
    }
}

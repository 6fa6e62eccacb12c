//! The parts of a network, each with its own events, and who runs them.
//!
//! Within a [window](super::windows) the parts know nothing of each other, and run in any order or at
//! once; between two of them they hand over what they have sent.

use std::convert::Infallible;

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use super::assembly::{Assembly, Fact};
use super::running::Running;
use super::windows::Windows;
use super::workers::Crew;
use crate::network::{BuildError, Part, Setting};
use crate::profile::Profile;

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
        let whole = Part::whole(setting.plan());
        let cut = all.first().map_or(&whole, |part| part.network.part()).cut();
        let windows = Windows::over(setting, cut);
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

//! Who waits for which pauses, in a survey.

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use super::super::blocked::{Blocked, Waits};
use super::super::pair::Pair;
use super::super::pauses::Pauses;
use super::super::traffic::{HoldsBack, Traffic};
use super::super::victim::Victim;
use super::pairs::{Followed, Pairs, What};
use super::trails::Trails;
use crate::network::watch::{FrameView, View};

/// Waits that are remembered, before it is looked at which of them nobody asks for any more.
const REMEMBERED: usize = 1 << 20;

/// What pairs have waited for, but for waits that make nobody a victim.
#[derive(Debug)]
pub(super) struct Waiting {
    /// By place among pairs.
    blocked: Vec<Blocked>,
    /// Pairs that are over and have waited for pauses.
    suffered: Vec<Suffered>,
    limit: Limit,
}

/// How many waits may be known before some are forgotten.
#[derive(Debug)]
struct Limit {
    waits: usize,
    /// How many more may be noted than are asked for.
    remembered: usize,
}

/// A pair that is over and has waited for pauses.
#[derive(Debug)]
struct Suffered {
    traffic: Traffic,
    /// How long it was there (picoseconds).
    elapsed_ps: u64,
    waits: Waits,
}

impl Suffered {
    /// It as a victim, if it is one of pauses that it has no part in. All deadlocks must be known.
    fn victim(&self, network: View<'_>, pauses: &Pauses<'_>) -> Option<Victim> {
        let innocent = self.waits.innocent(network, pauses);
        let most = innocent.by_root.iter().max_by_key(|(_, (ps, _))| *ps);
        let (root, &(root_ps, _)) = most.filter(|_| innocent.time > 0)?;
        let (flow, connection) = match self.traffic {
            Traffic::Flow(flow) => (Some(flow), None),
            Traffic::Connection(connection) => (None, Some(connection)),
        };
        let [source, destination] = self
            .waits
            .ends()
            .map(|node: NodeId| network.plan().topology.nodes[node as usize].name.clone());
        Some(Victim {
            flow,
            connection,
            source,
            destination,
            hol_ps: innocent.time,
            elapsed_ps: self.elapsed_ps,
            pauses: innocent.by_root.values().map(|(_, pauses)| pauses).sum(),
            root: root.clone(),
            root_ps,
        })
    }
}

impl What {
    /// Since when a pair is followed whose pauses are of interest (picoseconds).
    pub(super) const fn since(&self) -> Option<u64> {
        match self {
            Self::Flow(start) => Some(*start),
            Self::Open => Some(0),
            Self::Operations(_) | Self::Nothing => None,
        }
    }
}

impl Waiting {
    pub(super) const fn new() -> Self {
        let limit = Limit { waits: REMEMBERED, remembered: REMEMBERED };
        Self { blocked: Vec::new(), suffered: Vec::new(), limit }
    }

    /// Forgets what is not asked for any longer much more often.
    #[cfg(test)]
    pub(super) fn forgetful(self) -> Self {
        Self { limit: Limit { waits: 0, remembered: 0 }, ..self }
    }

    /// One more pair is followed.
    pub(super) fn add(&mut self) {
        self.blocked.push(Blocked::default());
    }

    /// A packet of a pair leaves by a port.
    pub(super) fn note_crossed(&mut self, place: u32, port: u32) {
        self.blocked[place as usize].note_crossed(port);
    }

    /// A packet of a pair waited at a switch's port, from one time to another (picoseconds).
    pub(super) fn note_wait(
        &mut self,
        (network, pauses): (View<'_>, &Pauses<'_>),
        (place, pair): (u32, &Pair),
        frame: &FrameView,
        queue: (u32, u8),
        span: (u64, u64),
    ) {
        let Some(packet) = &frame.packet else { return };
        if span.0 >= span.1 {
            return;
        }
        let waits_for_it = match HoldsBack::of(packet) {
            HoldsBack::Always => None,
            HoldsBack::WhoWaitsForIt => {
                Some(&pair.ends[pair.end_of(frame.destination, packet)].log)
            }
            HoldsBack::Nobody => return,
        };
        let blocked = &mut self.blocked[place as usize];
        blocked.note_wait(network, pauses, queue, span, waits_for_it);
    }

    /// A pair is over, which was there from one time to another (picoseconds).
    pub(super) fn note_over(
        &mut self,
        pauses: &Pauses<'_>,
        (place, pair): (u32, &Pair),
        (from, to): (u64, u64),
    ) {
        let mut blocked: Blocked = std::mem::take(&mut self.blocked[place as usize]);
        blocked.note_hosts(pauses, pair, (from, to));
        let waits = blocked.finish(pair);
        if waits.known() > 0 {
            self.suffered.push(Suffered { traffic: pair.traffic, elapsed_ps: to - from, waits });
        }
    }

    /// Notes what all that is open has waited for up to now, so that what hosts did until then need not be
    /// known any longer.
    pub(super) fn settle(
        &mut self,
        pauses: &Pauses<'_>,
        pairs: &mut Pairs,
        trails: &Trails,
        now: SimTime,
    ) {
        let waiting = trails.waiting_acknowledgements();
        let pairs = self.blocked.iter_mut().zip(pairs.iter_mut());
        for (place, (blocked, Followed { pair, what, .. })) in (0u32..).zip(pairs) {
            let Some(start) = what.since() else { continue };
            blocked.note_hosts(pauses, pair, (start, now.ps().max(start)));
            pair.forget(waiting.get(&place).copied().unwrap_or(now.ps()));
        }
    }

    /// How many waits are known.
    pub(super) fn known(&self) -> usize {
        let open = self.blocked.iter().map(Blocked::known);
        open.chain(self.suffered.iter().map(|one| one.waits.known())).sum()
    }

    /// Whether so many waits are known that some are to be [forgotten](Self::forget).
    pub(super) fn are_many(&self) -> bool {
        self.known() > self.limit.waits
    }

    /// Forgets the waits that make nobody a victim. All deadlocks so far must be known.
    pub(super) fn forget(&mut self, network: View<'_>, pauses: &Pauses<'_>, pairs: &Pairs) {
        let open = self.blocked.iter_mut().zip(pairs.iter());
        open.for_each(|(blocked, followed)| blocked.forget(network, pauses, &followed.pair));
        self.suffered.retain_mut(|one| {
            one.waits.forget(network, pauses);
            one.waits.known() > 0
        });
        self.limit.waits = 2 * self.known() + self.limit.remembered;
    }

    /// Who waited for pauses that it has no part in. All deadlocks must be known.
    pub(super) fn victims(&self, network: View<'_>, pauses: &Pauses<'_>) -> Vec<Victim> {
        self.suffered.iter().filter_map(|one| one.victim(network, pauses)).collect()
    }
}

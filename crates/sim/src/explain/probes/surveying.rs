//! What a survey of pauses notes of pairs.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, PacketId};
use rocelab_units::SimTime;

use super::super::blocked::{Blocked, Waits};
use super::super::pauses::Pauses;
#[cfg(test)]
use super::super::port_logs::PortLogs;
use super::super::selection::Selection;
use super::super::traffic::{HoldsBack, Traffic};
use super::super::victim::Victim;
use super::{Followed, Probes, What};
use crate::network::watch::FrameView;
use crate::profile::roce::Roce;
use crate::{Network, Plan, WholeNetwork};

/// Waits that are remembered, before it is looked at which of them nobody asks for any more.
const REMEMBERED: usize = 1 << 20;

/// How many waits may be known before some are forgotten.
#[derive(Debug)]
pub(super) struct Limit {
    waits: usize,
    /// How many more may be noted than are asked for.
    remembered: usize,
}

impl Limit {
    pub(super) const fn new() -> Self {
        Self { waits: REMEMBERED, remembered: REMEMBERED }
    }
}

/// A pair that is over and has waited for pauses.
#[derive(Debug)]
pub(super) struct Suffered {
    traffic: Traffic,
    /// How long it was there (picoseconds).
    elapsed_ps: u64,
    waits: Waits,
}

impl Suffered {
    /// It as a victim, if it is one of pauses that it has no part in. All deadlocks must be known.
    fn victim(&self, network: &Network, pauses: &Pauses<'_>) -> Option<Victim> {
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
    const fn since(&self) -> Option<u64> {
        match self {
            Self::Flow(start) => Some(*start),
            Self::Open => Some(0),
            Self::Operations(_) | Self::Nothing => None,
        }
    }
}

impl<'a> Probes<'a> {
    /// Follows everything, and notes nothing but who waits for which pauses.
    pub(in crate::explain) fn for_survey(plan: &'a Plan) -> Self {
        let blocked = Some(Vec::new());
        Self { blocked, ..Self::new(plan, &Selection::Everything) }
    }

    /// A packet of a pair leaves by a port.
    pub(super) fn note_crossed(&mut self, place: u32, port: u32) {
        if let Some(blocked) = &mut self.blocked {
            blocked[place as usize].note_crossed(port);
        }
    }

    /// A packet of a pair waited at a switch's port, from one time to another (picoseconds).
    pub(super) fn note_wait(
        &mut self,
        network: &Network,
        place: u32,
        frame: &FrameView,
        queue: (u32, u8),
        span: (u64, u64),
    ) {
        let (Some(blocked), Some(packet)) = (&mut self.blocked, &frame.packet) else { return };
        if span.0 >= span.1 {
            return;
        }
        let pair = &self.pairs[place as usize].pair;
        let waits_for_it = match HoldsBack::of(packet) {
            HoldsBack::Always => None,
            HoldsBack::WhoWaitsForIt => {
                Some(&pair.ends[pair.end_of(frame.destination, packet)].log)
            }
            HoldsBack::Nobody => return,
        };
        blocked[place as usize].note_wait(network, &self.pauses, queue, span, waits_for_it);
    }

    /// A pair is over, which was there from one time to another (picoseconds).
    pub(super) fn note_over(&mut self, place: usize, (from, to): (u64, u64)) {
        let Some(blocked) = &mut self.blocked else { return };
        let mut blocked: Blocked = std::mem::take(&mut blocked[place]);
        let pair = &self.pairs[place].pair;
        blocked.note_hosts(&self.pauses, pair, (from, to));
        let waits = blocked.finish(pair);
        if waits.known() > 0 {
            self.suffered.push(Suffered { traffic: pair.traffic, elapsed_ps: to - from, waits });
        }
    }

    /// Notes what all that is open has waited for up to now, in a survey, so that what hosts did until
    /// then need not be known any longer.
    pub(super) fn settle(&mut self, now: SimTime) {
        if self.blocked.is_none() {
            return;
        }
        let waiting = self.waiting_acknowledgements();
        let Some(blocked) = &mut self.blocked else { return };
        let pairs = blocked.iter_mut().zip(&mut self.pairs);
        for (place, (blocked, Followed { pair, what })) in (0u32..).zip(pairs) {
            let Some(start) = what.since() else { continue };
            blocked.note_hosts(&self.pauses, pair, (start, now.ps().max(start)));
            pair.forget(waiting.get(&place).copied().unwrap_or(now.ps()));
        }
    }

    /// Since when an acknowledgement waits in a switch (picoseconds), by the place of its pair: it is yet
    /// to be asked who waited for it.
    fn waiting_acknowledgements(&self) -> BTreeMap<u32, u64> {
        let mut since: BTreeMap<u32, u64> = BTreeMap::new();
        let waiting = self.trails.iter().flatten().filter(|(_, trail)| !trail.carries_data);
        for (place, trail) in waiting.filter(|(_, trail)| trail.waits_at.is_some()) {
            let first = since.entry(*place).or_insert(u64::MAX);
            *first = trail.arrived().min(*first);
        }
        since
    }

    /// How many waits are known.
    fn waits(&self) -> usize {
        let open = self.blocked.iter().flatten().map(Blocked::known);
        open.chain(self.suffered.iter().map(|one| one.waits.known())).sum()
    }

    /// If many waits are known, forgets those that make nobody a victim. What deadlocks there are is
    /// asked only here: no event finds them.
    pub(in crate::explain) fn forget_waits(&mut self, network: WholeNetwork<'_, Roce>) {
        if self.waits() <= self.limit.waits {
            return;
        }
        self.pauses.note_deadlocks(network.deadlocks());
        let (network, pauses) = (network.only(), &self.pauses);
        let open = self.blocked.iter_mut().flatten().zip(&self.pairs);
        open.for_each(|(blocked, followed)| blocked.forget(network, pauses, &followed.pair));
        self.suffered.retain_mut(|one| {
            one.waits.forget(network, pauses);
            one.waits.known() > 0
        });
        self.limit.waits = 2 * self.waits() + self.limit.remembered;
    }

    /// The run is over; gives all pauses, and who waited for those that it has no part in.
    pub(in crate::explain) fn surveyed(
        mut self,
        network: WholeNetwork<'_, Roce>,
        now: SimTime,
    ) -> (Pauses<'a>, Vec<Victim>) {
        self.pauses.note_deadlocks(network.deadlocks());
        let network = network.only();
        for (id, index) in (0u32..).zip(0..self.trails.len()) {
            let Some((place, trail)) = &self.trails[index] else { continue };
            let (Some(port), place) = (trail.waits_at, *place) else { continue };
            let (queue, span) = ((port, trail.priority), (trail.arrived(), now.ps()));
            // It will cross this port too, if ever.
            self.note_crossed(place, port);
            self.note_wait(network, place, &network.frame(PacketId(id)), queue, span);
        }
        for place in 0..self.pairs.len() {
            let Some(start) = self.pairs[place].what.since() else { continue };
            self.note_over(place, (start, now.ps().max(start)));
        }
        let victims = self.suffered.iter().filter_map(|one| one.victim(network, &self.pauses));
        let victims = victims.collect();
        (self.pauses, victims)
    }
}

#[cfg(test)]
impl Probes<'_> {
    /// Waits for pauses that are known.
    pub(in crate::explain) fn known_waits(&self) -> usize {
        self.waits()
    }

    /// Packets that are followed, and exist.
    pub(in crate::explain) fn followed(&self) -> usize {
        self.trails.iter().flatten().count()
    }

    /// Forgets what is not asked for any longer much more often.
    pub(in crate::explain) fn forgetful(self) -> Self {
        let limit = Limit { waits: 0, remembered: 0 };
        Self { ports: PortLogs::forgetful(), limit, ..self }
    }
}

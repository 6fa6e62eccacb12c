//! What a survey of pauses notes of pairs.

use rocelab_units::SimTime;

use super::super::pauses::Pauses;
use crate::network::watch::View;

#[cfg(test)]
use super::super::port_logs::PortLogs;
use super::super::selection::Selection;
use super::super::victim::Victim;
use super::Probes;
use super::waiting::Waiting;
use crate::network::watch::FrameView;
use crate::profile::roce::Roce;
use crate::{Plan, WholeNetwork};

impl<'a> Probes<'a> {
    /// Follows everything, and notes nothing but who waits for which pauses.
    pub(crate) fn for_survey(plan: &'a Plan) -> Self {
        let waiting = Some(Waiting::new());
        Self { waiting, ..Self::new(plan, &Selection::Everything) }
    }

    /// A packet of a pair leaves by a port.
    pub(super) fn note_crossed(&mut self, place: u32, port: u32) {
        if let Some(waiting) = &mut self.waiting {
            waiting.note_crossed(place, port);
        }
    }

    /// A packet of a pair waited at a switch's port, from one time to another (picoseconds).
    pub(super) fn note_wait(
        &mut self,
        network: View<'_>,
        place: u32,
        frame: &FrameView,
        queue: (u32, u8),
        span: (u64, u64),
    ) {
        let Some(waiting) = &mut self.waiting else { return };
        let pair = &self.pairs[place].pair;
        waiting.note_wait((network, &self.pauses), (place, pair), frame, queue, span);
    }

    /// A pair is over, which was there from one time to another (picoseconds).
    pub(super) fn note_over(&mut self, place: u32, span: (u64, u64)) {
        let Some(waiting) = &mut self.waiting else { return };
        waiting.note_over(&self.pauses, (place, &self.pairs[place].pair), span);
    }

    /// If many waits are known, forgets those that make nobody a victim. What deadlocks there are is
    /// asked only here: no event finds them.
    pub(crate) fn forget_waits(&mut self, network: WholeNetwork<'_, Roce>) {
        let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.are_many()) else {
            return;
        };
        self.pauses.note_deadlocks(network.deadlocks());
        waiting.forget(network.only(), &self.pauses, &self.pairs);
    }

    /// The run is over; gives all pauses, and who waited for those that it has no part in.
    pub(crate) fn surveyed(
        mut self,
        network: WholeNetwork<'_, Roce>,
        now: SimTime,
    ) -> (Pauses<'a>, Vec<Victim>) {
        self.pauses.note_deadlocks(network.deadlocks());
        let network = network.only();
        for (id, (place, trail)) in std::mem::take(&mut self.trails).iter() {
            let (Some(port), place) = (trail.waits_at, *place) else { continue };
            let (queue, span) = ((port, trail.marking), (trail.arrived(), now.ps()));
            // It will cross this port too, if ever.
            self.note_crossed(place, port);
            self.note_wait(network, place, &network.frame(id), queue, span);
        }
        for place in self.pairs.places() {
            let Some(start) = self.pairs[place].what.since() else { continue };
            self.note_over(place, (start, now.ps().max(start)));
        }
        let victims = self.waiting.map(|waiting| waiting.victims(network, &self.pauses));
        (self.pauses, victims.unwrap_or_default())
    }
}

#[cfg(test)]
impl Probes<'_> {
    /// Waits for pauses that are known.
    pub(crate) fn known_waits(&self) -> usize {
        self.waiting.as_ref().map_or(0, Waiting::known)
    }

    /// Packets that are followed, and exist.
    pub(crate) fn followed(&self) -> usize {
        self.trails.iter().count()
    }

    /// Forgets what is not asked for any longer much more often.
    pub(crate) fn forgetful(self) -> Self {
        let waiting = self.waiting.map(Waiting::forgetful);
        Self { ports: PortLogs::forgetful(), waiting, ..self }
    }
}

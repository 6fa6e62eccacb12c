//! What a survey of pauses notes of pairs.

use rocelab_results::PauseCause;
use rocelab_units::SimTime;

use super::super::Selection;
use super::super::blocked::Blocked;
use super::super::survey::Victim;
use super::super::traffic::Traffic;
use super::{Followed, Probes, What};
use crate::{Network, Plan};

impl<'a> Probes<'a> {
    /// Follows everything, and notes nothing but who waits for which pauses.
    pub(in crate::explain) fn for_survey(plan: &'a Plan) -> Self {
        let blocked = Some(Vec::new());
        Self { blocked, ..Self::new(plan, &Selection::Everything) }
    }

    /// A packet of a pair leaves by a port, where it waited (picoseconds).
    pub(super) fn note_departure(
        &mut self,
        network: &Network,
        place: u32,
        (port, priority): (u32, u8),
        span: (u64, u64),
    ) {
        let Some(blocked) = &mut self.blocked else { return };
        let blocked = &mut blocked[place as usize];
        blocked.note_crossed(port);
        if span.0 < span.1 {
            blocked.note_wait(network, &self.pauses, (port, priority), span);
        }
    }

    /// A pair is over, which was there from one time to another (picoseconds).
    pub(super) fn note_victim(&mut self, network: &Network, place: usize, (from, to): (u64, u64)) {
        let Some(blocked) = &mut self.blocked else { return };
        let mut blocked: Blocked = std::mem::take(&mut blocked[place]);
        let pair = &self.pairs[place].pair;
        for end in &pair.ends {
            blocked.note_host(&self.pauses, (&end.log, pair.priority), (from, to));
        }
        let innocent = blocked.innocent(network, &self.pauses, pair);
        let most = innocent.by_root.iter().max_by_key(|(_, (ps, _))| *ps);
        let Some((root, &(root_ps, _))) = most.filter(|_| innocent.time > 0) else { return };
        let (flow, connection) = match pair.traffic {
            Traffic::Flow(flow) => (Some(flow), None),
            Traffic::Connection(connection) => (None, Some(connection)),
        };
        let [source, destination] = [0, 1].map(|end: usize| {
            self.plan.topology.nodes[pair.ends[end].log.node as usize].name.clone()
        });
        self.victims.push(Victim {
            flow,
            connection,
            source,
            destination,
            hol_ps: innocent.time,
            elapsed_ps: to - from,
            pauses: innocent.by_root.values().map(|(_, pauses)| pauses).sum(),
            root: root.clone(),
            root_ps,
        });
    }

    /// The run is over; gives all pauses, and who waited for those that it has no part in.
    pub(in crate::explain) fn surveyed(
        mut self,
        network: &Network,
        now: SimTime,
    ) -> (Vec<PauseCause>, Vec<Victim>) {
        for index in 0..self.trails.len() {
            let Some((place, trail)) = &self.trails[index] else { continue };
            let (Some(port), place) = (trail.waits_at, *place) else { continue };
            let Some(blocked) = &mut self.blocked else { continue };
            // It will cross this port too, if ever.
            blocked[place as usize].note_crossed(port);
            let (queue, span) = ((port, trail.priority), (trail.arrived(), now.ps()));
            blocked[place as usize].note_wait(network, &self.pauses, queue, span);
        }
        for place in 0..self.pairs.len() {
            let Followed { what, .. } = &self.pairs[place];
            let start = match what {
                What::Flow(start) => *start,
                What::Open => 0,
                What::Operations(_) | What::Nothing => continue,
            };
            self.note_victim(network, place, (start, now.ps().max(start)));
        }
        (self.pauses.into_all(), self.victims)
    }
}

//! Flows and operations that end, and the explanations of their time.

use std::collections::BTreeMap;
use std::rc::Rc;

use rocelab_fabric::PacketId;
use rocelab_transport::CompletionStatus;
use rocelab_units::SimTime;

use super::super::category::{LossSignal, LostForGood};
use super::super::course::{Leg, Stands, Stretch};
use super::super::described::{described_flow, described_operation};
use super::super::error::ExplainError;
use super::super::explanation::Explanation;
use super::super::pair::{Posted, Remains, SOURCE};
use super::super::parts::{Known, cut};
use super::super::traffic::Traffic;
use super::super::trail::Trail;
use super::super::turns::Operated;
use super::{Followed, NONE, Probes, What};
use crate::WholeNetwork;
use crate::network::{FlowEnd, Network, Record, RecordKind};
use crate::profile::roce::Roce;

impl Probes<'_> {
    /// What records say that no event has made.
    pub(in crate::explain) fn note_late(&mut self, network: &Network, records: &[Record]) {
        for record in records {
            if let RecordKind::FlowEnd(end) = &record.kind {
                self.end_flow(network, end, None);
            }
        }
    }

    /// The run is over; gives the explanations, those of what has not ended last.
    pub(in crate::explain) fn finish(
        mut self,
        network: WholeNetwork<'_, Roce>,
        now: SimTime,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.pauses.note_deadlocks(network.deadlocks());
        let network = network.only();
        let under_way = self.under_way(network);
        for place in 0..self.pairs.len() {
            let Followed { pair, what } = &mut self.pairs[place];
            let under_way = under_way.get(&place).map_or(&[][..], Vec::as_slice);
            match (what, pair.traffic) {
                (What::Flow(start), Traffic::Flow(flow)) => {
                    let (from, to) = (*start, now.ps().max(*start));
                    let remains = Remains::new(network, pair, now.ps(), under_way);
                    let stands = remains.stands(SOURCE, None);
                    let leg = Leg { turn: 0, sender: SOURCE, from, to, arrival: None, stands };
                    self.explain_flow(network, flow, leg, None);
                }
                (What::Operations(turns), Traffic::Connection(connection)) => {
                    let mut open = turns.stop(network, now);
                    let remains = Remains::new(network, pair, now.ps(), under_way);
                    for (leg, posted) in open.iter_mut().filter_map(Operated::last_leg) {
                        leg.stands = remains.stands(leg.sender, posted);
                    }
                    for operated in open {
                        self.explain_operation(network, place, connection, &operated);
                    }
                }
                _ => {}
            }
        }
        for explanation in &mut self.explanations {
            self.pauses.name_roots(&mut explanation.parts);
        }
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.explanations),
        }
    }

    /// The packets that are followed and under way, by the place of their pair.
    fn under_way(&mut self, network: &Network) -> BTreeMap<usize, Vec<Rc<Trail>>> {
        let mut by_pair: BTreeMap<usize, Vec<Rc<Trail>>> = BTreeMap::new();
        for (id, place) in (0u32..).zip(0..self.trails.len()) {
            let frame = network.frame(PacketId(id));
            let is_there = self.trails[place].is_some() && self.pair_of(network, &frame).is_some();
            if let Some((pair, trail)) = self.trails[place].take_if(|_| is_there) {
                by_pair.entry(pair as usize).or_default().push(Rc::new(trail));
            }
        }
        by_pair
    }

    pub(super) fn end_flow(
        &mut self,
        network: &Network,
        end: &FlowEnd,
        arrival: Option<Rc<Trail>>,
    ) {
        let Some(place) = self.place_of(Traffic::Flow(end.flow)) else { return };
        let What::Flow(from) = self.pairs[place as usize].what else { return };
        let to = end.finished.ps();
        let arrival = if self.plan.flows[end.flow as usize].is_tcp() {
            self.pairs[place as usize].pair.completed_by(end.finished)
        } else {
            arrival.filter(|_| end.is_success())
        };
        if self.blocked.is_some() {
            self.note_over(place as usize, (from, to));
        } else {
            let stands = Stands::AtSender;
            let mut leg = Leg { turn: 0, sender: SOURCE, from, to, arrival, stands };
            let is_tcp = self.plan.flows[end.flow as usize].is_tcp();
            if end.status == CompletionStatus::RetryExceeded && !is_tcp {
                self.stand(network, place, end.finished, [(&mut leg, None)].into_iter());
            }
            self.explain_flow(network, end.flow, leg, Some(end));
        }
        let Followed { pair, what } = &mut self.pairs[place as usize];
        *what = What::Nothing;
        self.of_flow[end.flow as usize] = NONE;
        for end in &pair.ends {
            self.at_node[end.log.node as usize].retain(|&other| other != place);
        }
        pair.forget(u64::MAX);
    }

    /// Notes where operations stand of a connection whose client gave up waiting for an answer, with
    /// which they have ended: that one, and those that were flushed with it.
    pub(super) fn note_given_up(
        &mut self,
        network: &Network,
        place: u32,
        now: SimTime,
        ended: &mut [Operated],
    ) {
        let status = |one: &Operated| one.end.map(|end| end.status);
        if ended.iter().any(|one| status(one) == Some(CompletionStatus::RetryExceeded)) {
            let bad = ended.iter_mut().filter(|one| one.end.is_some_and(|end| !end.is_success()));
            self.stand(network, place, now, bad.filter_map(Operated::last_leg));
        }
    }

    /// The source of a pair gives up, because no answer has come: notes where its legs stand, with what is
    /// posted for each.
    fn stand<'a>(
        &mut self,
        network: &Network,
        place: u32,
        now: SimTime,
        legs: impl Iterator<Item = (&'a mut Leg, Option<Posted>)>,
    ) {
        // The last expiry of the timer is no retry.
        let log = &mut self.pairs[place as usize].pair.ends[SOURCE].log;
        log.note_loss(now, LossSignal::Timeout);
        let under_way = self.under_way_of(network, place);
        let pair = &self.pairs[place as usize].pair;
        let remains = Remains::new(network, pair, now.ps().saturating_sub(1), &under_way);
        for (leg, posted) in legs {
            leg.stands = match remains.stands(leg.sender, posted) {
                Stands::Nowhere => Stands::AtSender,
                stands => stands,
            };
        }
    }

    /// The packets of one pair that are followed and under way.
    fn under_way_of(&self, network: &Network, place: u32) -> Vec<Rc<Trail>> {
        let trails = (0u32..).zip(&self.trails).filter_map(|(id, followed)| {
            let (pair, trail) = followed.as_ref().filter(|(pair, _)| *pair == place)?;
            let frame = network.frame(PacketId(id));
            (self.pair_of(network, &frame) == Some(*pair)).then(|| Rc::new(trail.clone()))
        });
        trails.collect()
    }

    fn explain_flow(&mut self, network: &Network, flow: u32, leg: Leg, end: Option<&FlowEnd>) {
        let place = self.of_flow[flow as usize];
        let untraced = end.is_some_and(FlowEnd::is_success) && leg.arrival.is_none();
        let (from, to) = (leg.from, leg.to);
        let mut explanation = described_flow(self.plan, network, flow, (from, to), end);
        let log = &self.pairs[place as usize].pair.ends[SOURCE].log;
        explanation.lost_for_good = log.loss_for_good().map(|loss| LostForGood {
            packets: log.lost_for_good(),
            time_ps: loss.time,
            lost: loss.told(self.plan),
        });
        self.keep(network, place as usize, &[Stretch::Leg(leg)], explanation, untraced);
    }

    pub(super) fn explain_operation(
        &mut self,
        network: &Network,
        place: usize,
        connection: u32,
        operated: &Operated,
    ) {
        let ended_well = operated.end.is_some_and(|end| end.is_success());
        let last = operated.course.last();
        let untraced =
            ended_well && matches!(last, Some(Stretch::Leg(leg)) if leg.arrival.is_none());
        let explanation = described_operation(self.plan, connection, operated);
        self.keep(network, place, &operated.course, explanation, untraced);
    }

    /// Keeps an explanation with the parts of its time.
    fn keep(
        &mut self,
        network: &Network,
        place: usize,
        course: &[Stretch],
        mut explanation: Explanation,
        untraced: bool,
    ) {
        let Self { plan, pauses, ports, pairs, .. } = self;
        let known = Known { plan, network, pauses, ports };
        let parts = cut(known, &pairs[place].pair, course).filter(|_| !untraced);
        let what = explanation.what.clone();
        let Some(parts) = parts else {
            self.error.get_or_insert(ExplainError::Untraced(what));
            return;
        };
        explanation.parts = parts;
        let (elapsed_ps, sum_ps) = (explanation.elapsed_ps, explanation.sum_ps());
        if sum_ps != elapsed_ps {
            self.error.get_or_insert(ExplainError::Sum { what, elapsed_ps, sum_ps });
        }
        self.explanations.push(explanation);
    }
}

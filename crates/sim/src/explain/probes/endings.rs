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
use super::Probes;
use super::pairs::{Followed, What};
use crate::WholeNetwork;
use crate::network::watch::View;
use crate::network::{FlowEnd, Record, RecordKind};
use crate::profile::roce::Roce;

impl Probes<'_> {
    /// What records say that no event has made.
    pub(crate) fn note_late(&mut self, network: View<'_>, records: &[Record]) {
        for record in records {
            if let RecordKind::FlowEnd(end) = &record.kind {
                self.end_flow(network, end, None);
            }
        }
    }

    /// The run is over; gives the explanations, those of what has not ended last.
    pub(crate) fn finish(
        mut self,
        network: WholeNetwork<'_, Roce>,
        now: SimTime,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.pauses.note_deadlocks(network.deadlocks());
        let network = network.only();
        let under_way = self.under_way(network);
        for place in self.pairs.places() {
            let Followed { pair, what, .. } = &mut self.pairs[place];
            let under_way = under_way.get(&place).map_or(&[][..], Vec::as_slice);
            match (what, pair.traffic) {
                (What::Flow(start), Traffic::Flow(flow)) => {
                    let (from, to) = (*start, now.ps().max(*start));
                    let remains = Remains::new(network, pair, now.ps(), under_way);
                    let stands = remains.stands(SOURCE, None);
                    let leg = Leg { turn: 0, sender: SOURCE, from, to, arrival: None, stands };
                    self.explain_flow(network, (place, flow), leg, None);
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
        self.explanations.finish(&self.pauses)
    }

    /// The packets that are followed and under way, by the place of their pair.
    fn under_way(&mut self, network: View<'_>) -> BTreeMap<u32, Vec<Rc<Trail>>> {
        let mut by_pair: BTreeMap<u32, Vec<Rc<Trail>>> = BTreeMap::new();
        let is_there = |id: PacketId| self.pair_of(network, &network.frame(id)).is_some();
        let followed = self.trails.iter().map(|(id, _)| id);
        for id in followed.filter(|&id| is_there(id)).collect::<Vec<_>>() {
            let Some((pair, trail)) = self.trails.take(id) else { continue };
            by_pair.entry(pair).or_default().push(Rc::new(trail));
        }
        by_pair
    }

    pub(super) fn end_flow(
        &mut self,
        network: View<'_>,
        end: &FlowEnd,
        arrival: Option<Rc<Trail>>,
    ) {
        let Some(place) = self.pairs.place_of(Traffic::Flow(end.flow)) else { return };
        let What::Flow(from) = self.pairs[place].what else { return };
        let to = end.finished.ps();
        let arrival = if self.plan.flows[end.flow as usize].is_tcp() {
            self.pairs[place].pair.completed_by(end.finished)
        } else {
            arrival.filter(|_| end.is_success())
        };
        if self.surveys() {
            self.note_over(place, (from, to));
        } else {
            let stands = Stands::AtSender;
            let mut leg = Leg { turn: 0, sender: SOURCE, from, to, arrival, stands };
            let is_tcp = self.plan.flows[end.flow as usize].is_tcp();
            if end.status == CompletionStatus::RetryExceeded && !is_tcp {
                self.stand(network, place, end.finished, [(&mut leg, None)].into_iter());
            }
            self.explain_flow(network, (place, end.flow), leg, Some(end));
        }
        self.pairs.end_flow(place, end.flow);
    }

    /// Notes where operations stand of a connection whose client gave up waiting for an answer, with
    /// which they have ended: that one, and those that were flushed with it.
    pub(super) fn note_given_up(
        &mut self,
        network: View<'_>,
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
        network: View<'_>,
        place: u32,
        now: SimTime,
        legs: impl Iterator<Item = (&'a mut Leg, Option<Posted>)>,
    ) {
        // The last expiry of the timer is no retry.
        let log = &mut self.pairs[place].pair.ends[SOURCE].log;
        log.note_loss(now, LossSignal::Timeout);
        let under_way = self.under_way_of(network, place);
        let pair = &self.pairs[place].pair;
        let remains = Remains::new(network, pair, now.ps().saturating_sub(1), &under_way);
        for (leg, posted) in legs {
            leg.stands = match remains.stands(leg.sender, posted) {
                Stands::Nowhere => Stands::AtSender,
                stands => stands,
            };
        }
    }

    /// The packets of one pair that are followed and under way.
    fn under_way_of(&self, network: View<'_>, place: u32) -> Vec<Rc<Trail>> {
        let trails = self.trails.iter().filter(|(_, (pair, _))| *pair == place);
        let trails = trails.filter_map(|(id, (pair, trail))| {
            let frame = network.frame(id);
            (self.pair_of(network, &frame) == Some(*pair)).then(|| Rc::new(trail.clone()))
        });
        trails.collect()
    }

    fn explain_flow(
        &mut self,
        network: View<'_>,
        (place, flow): (u32, u32),
        leg: Leg,
        end: Option<&FlowEnd>,
    ) {
        let untraced = end.is_some_and(FlowEnd::is_success) && leg.arrival.is_none();
        let (from, to) = (leg.from, leg.to);
        let mut explanation = described_flow(self.plan, network, flow, (from, to), end);
        let log = &self.pairs[place].pair.ends[SOURCE].log;
        explanation.lost_for_good = log.loss_for_good().map(|loss| LostForGood {
            packets: log.lost_for_good(),
            time_ps: loss.time,
            lost: loss.told(self.plan),
        });
        self.keep(network, place, &[Stretch::Leg(leg)], explanation, untraced);
    }

    pub(super) fn explain_operation(
        &mut self,
        network: View<'_>,
        place: u32,
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
        network: View<'_>,
        place: u32,
        course: &[Stretch],
        explanation: Explanation,
        untraced: bool,
    ) {
        let Self { plan, pauses, ports, pairs, .. } = self;
        let known = Known { plan, network, pauses, ports };
        let parts = cut(known, &pairs[place].pair, course).filter(|_| !untraced);
        self.explanations.keep(explanation, parts);
    }
}

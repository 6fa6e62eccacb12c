//! Flows and operations that end, and the explanations of their time.

use std::rc::Rc;

use rocelab_units::SimTime;

use super::super::course::{Leg, Stretch};
use super::super::pair::SOURCE;
use super::super::parts::{Known, cut};
use super::super::subject::{described_flow, described_operation};
use super::super::traffic::Traffic;
use super::super::trail::Trail;
use super::super::turns::Operated;
use super::super::{ExplainError, Explanation};
use super::{Followed, NONE, Probes, What};
use crate::network::{FlowEnd, Network, Record, RecordKind};

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
        network: &Network,
        now: SimTime,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.pauses.note_deadlocks(network.deadlocks());
        for place in 0..self.pairs.len() {
            let Followed { pair, what } = &mut self.pairs[place];
            match (what, pair.traffic) {
                (What::Flow(start), Traffic::Flow(flow)) => {
                    let (from, to) = (*start, now.ps().max(*start));
                    let leg = Leg { turn: 0, sender: SOURCE, from, to, arrival: None };
                    self.explain_flow(network, flow, leg, None);
                }
                (What::Operations(turns), Traffic::Connection(connection)) => {
                    for operated in turns.stop(now) {
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
            let leg = Leg { turn: 0, sender: SOURCE, from, to, arrival };
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

    fn explain_flow(&mut self, network: &Network, flow: u32, leg: Leg, end: Option<&FlowEnd>) {
        let place = self.of_flow[flow as usize];
        let untraced = end.is_some_and(FlowEnd::is_success) && leg.arrival.is_none();
        let (from, to) = (leg.from, leg.to);
        let explanation = described_flow(self.plan, network, flow, (from, to), end);
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

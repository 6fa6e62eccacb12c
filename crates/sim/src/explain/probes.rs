//! Follows flows and operations through a run: every packet of them, and the ports they wait for.

mod arrival;
mod awaited;
mod endings;
mod explanations;
mod pairs;
mod passing;
mod surveying;
mod trails;
mod waiting;
mod watching;

use rocelab_units::SimTime;

use self::arrival::Arriving;
use self::awaited::Awaited;
use self::explanations::Explanations;
use self::pairs::{Followed, Pairs, What};
use self::trails::Trails;
use self::waiting::Waiting;
use super::pair::Pair;
use super::pauses::Pauses;
use super::port_logs::PortLogs;
use super::selection::Selection;
use super::traffic::{Traffic, traffic_of};
use super::turns::Turns;
use crate::Plan;
use crate::network::watch::{FrameView, View};

/// Follows several flows and operations at once.
pub(super) struct Probes<'a> {
    plan: &'a Plan,
    awaited: Awaited,
    pairs: Pairs,
    trails: Trails,
    ports: PortLogs,
    pauses: Pauses<'a>,
    arriving: Option<Arriving>,
    explanations: Explanations,
    /// In a survey, where nothing is explained.
    waiting: Option<Waiting>,
}

impl<'a> Probes<'a> {
    pub(super) fn new(plan: &'a Plan, selection: &Selection) -> Self {
        Self {
            plan,
            awaited: Awaited::new(plan, selection),
            pairs: Pairs::new(plan),
            trails: Trails::default(),
            ports: PortLogs::new(),
            pauses: Pauses::new(plan),
            arriving: None,
            explanations: Explanations::default(),
            waiting: None,
        }
    }

    /// Whether it is a survey.
    const fn surveys(&self) -> bool {
        self.waiting.is_some()
    }

    /// Begins to follow what starts by now.
    fn begin(&mut self, network: View<'_>, now: SimTime) {
        for (connection, wanted) in self.awaited.take_connections() {
            let what = if self.surveys() {
                What::Open
            } else {
                What::Operations(Turns::new(network, connection, wanted))
            };
            self.follow(network, now, Traffic::Connection(connection), what);
        }
        if self.awaited.take_all_ports() {
            for port in 0..network.port_count() {
                self.ports.open(network, port, now);
            }
        }
        while let Some(flow) = self.awaited.take_flow(self.plan, now) {
            let what = What::Flow(self.plan.flows[flow as usize].start.ps());
            self.follow(network, now, Traffic::Flow(flow), what);
        }
    }

    fn follow(&mut self, network: View<'_>, now: SimTime, traffic: Traffic, what: What) {
        let mut pair = Pair::new(self.plan, network, traffic);
        for end in &mut pair.ends {
            self.ports.open(network, end.log.port, now);
            end.log.look(network, now);
        }
        self.pairs.add(self.plan, Followed { pair, what, arrived: [None, None] });
        if let Some(waiting) = &mut self.waiting {
            waiting.add();
        }
    }

    /// The pair of a packet that is followed: the frame at its place in the pool is that packet.
    fn pair_of(&self, network: View<'_>, frame: &FrameView) -> Option<u32> {
        let (pair, _) = self.trails.get(frame.id)?;
        if frame.is_to_group {
            return Some(*pair); // On its way it is for all members.
        }
        let place = self.pairs.place_of(traffic_of(network, frame)?)?;
        (place == *pair).then_some(place)
    }

    /// Forgets what no flow or operation asks for that is open or to come.
    fn forget(&mut self, now: SimTime) {
        let earliest = match &mut self.waiting {
            Some(waiting) => {
                waiting.settle(&self.pauses, &mut self.pairs, &self.trails, now);
                None
            }
            None => self.pairs.earliest(),
        };
        self.ports.forget(earliest.unwrap_or(now.ps()).min(now.ps()));
    }
}

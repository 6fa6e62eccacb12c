//! Follows flows and operations through a run: every packet of them, and the ports they wait for.

mod endings;
mod surveying;
mod trails;
mod watching;

use rocelab_units::SimTime;
use surveying::{Limit, Suffered};
use trails::Arriving;

use super::blocked::Blocked;
use super::error::ExplainError;
use super::explanation::Explanation;
use super::pair::Pair;
use super::pauses::Pauses;
use super::port_logs::PortLogs;
use super::selection::Selection;
use super::traffic::Traffic;
use super::trail::Trail;
use super::turns::Turns;
use crate::Plan;
use crate::network::Network;

/// Nothing, where there could be a place among pairs.
const NONE: u32 = u32::MAX;

/// Follows several flows and operations at once.
pub(super) struct Probes<'a> {
    plan: &'a Plan,
    /// Flows that are yet to start, the next one last.
    to_start: Vec<u32>,
    /// Connections, and the one operation that is asked for; until the first event.
    to_follow: Vec<(u32, Option<u64>)>,
    /// Whether every port is looked at from the start.
    looks_at_all: bool,
    pairs: Vec<Followed>,
    /// By flow, and by connection: the place among pairs, while they are followed.
    of_flow: Vec<u32>,
    of_connection: Vec<u32>,
    /// By node: pairs that are followed and have an end there.
    at_node: Vec<Vec<u32>>,
    /// By place in the pool: packets that are followed.
    trails: Vec<Option<(u32, Trail)>>,
    ports: PortLogs,
    pauses: Pauses<'a>,
    arriving: Option<Arriving>,
    explanations: Vec<Explanation>,
    error: Option<ExplainError>,
    /// In a survey, where nothing is explained: by place among pairs.
    blocked: Option<Vec<Blocked>>,
    /// In a survey: pairs that are over and have waited for pauses.
    suffered: Vec<Suffered>,
    /// In a survey.
    limit: Limit,
}

/// A pair that is followed, and what for.
#[derive(Debug)]
struct Followed {
    pair: Pair,
    what: What,
}

#[derive(Debug)]
enum What {
    /// A flow that started then (picoseconds).
    Flow(u64),
    Operations(Turns),
    /// A connection, of which only pauses are of interest.
    Open,
    /// It is over.
    Nothing,
}

impl<'a> Probes<'a> {
    pub(super) fn new(plan: &'a Plan, selection: &Selection) -> Self {
        let mut to_start: Vec<u32> = match selection {
            Selection::Flows(flows) => flows.clone(),
            Selection::Operation { .. } => Vec::new(),
            Selection::Everything => (0u32..).take(plan.flows.len()).collect(),
        };
        to_start.sort_by_key(|&flow| std::cmp::Reverse(plan.flows[flow as usize].start));
        let to_follow = match *selection {
            Selection::Flows(_) => Vec::new(),
            Selection::Operation { connection, operation } => vec![(connection, Some(operation))],
            Selection::Everything => {
                (0u32..).take(plan.connections.len()).map(|one| (one, None)).collect()
            }
        };
        Self {
            plan,
            to_start,
            to_follow,
            looks_at_all: matches!(selection, Selection::Everything),
            pairs: Vec::new(),
            of_flow: vec![NONE; plan.flows.len()],
            of_connection: vec![NONE; plan.connections.len()],
            at_node: vec![Vec::new(); plan.topology.nodes.len()],
            trails: Vec::new(),
            ports: PortLogs::new(),
            pauses: Pauses::new(plan),
            arriving: None,
            explanations: Vec::new(),
            error: None,
            blocked: None,
            suffered: Vec::new(),
            limit: Limit::new(),
        }
    }

    /// Begins to follow what starts by now.
    fn begin(&mut self, network: &Network, now: SimTime) {
        for (connection, wanted) in std::mem::take(&mut self.to_follow) {
            let what = match self.blocked {
                Some(_) => What::Open,
                None => What::Operations(Turns::new(network, connection, wanted)),
            };
            self.follow(network, now, Traffic::Connection(connection), what);
        }
        if self.looks_at_all {
            for port in 0..network.port_count() {
                self.ports.open(network, port, now);
            }
            self.looks_at_all = false;
        }
        let starts = |flow: u32| self.plan.flows[flow as usize].start;
        while let Some(flow) = self.to_start.pop_if(|flow| starts(*flow) <= now) {
            let what = What::Flow(starts(flow).ps());
            self.follow(network, now, Traffic::Flow(flow), what);
        }
    }

    fn follow(&mut self, network: &Network, now: SimTime, traffic: Traffic, what: What) {
        let place = u32::try_from(self.pairs.len()).unwrap_or(NONE);
        let mut pair = Pair::new(self.plan, network, traffic);
        for end in &mut pair.ends {
            self.at_node[end.log.node as usize].push(place);
            self.ports.open(network, end.log.port, now);
            end.log.look(network, now);
        }
        match traffic {
            Traffic::Flow(flow) => self.of_flow[flow as usize] = place,
            Traffic::Connection(connection) => self.of_connection[connection as usize] = place,
        }
        self.pairs.push(Followed { pair, what });
        if let Some(blocked) = &mut self.blocked {
            blocked.push(Blocked::default());
        }
    }

    /// The pair that traffic goes between, while it is followed.
    fn place_of(&self, traffic: Traffic) -> Option<u32> {
        let place = match traffic {
            Traffic::Flow(flow) => self.of_flow[flow as usize],
            Traffic::Connection(connection) => self.of_connection[connection as usize],
        };
        (place != NONE).then_some(place)
    }

    /// Forgets what no flow or operation asks for that is open or to come.
    fn forget(&mut self, now: SimTime) {
        self.settle(now);
        let since = |followed: &Followed| match &followed.what {
            What::Flow(start) => Some(*start),
            What::Operations(turns) => turns.earliest(),
            What::Open | What::Nothing => None,
        };
        let earliest = self.pairs.iter().filter_map(since).min();
        let earliest = earliest.filter(|_| self.blocked.is_none());
        self.ports.forget(earliest.unwrap_or(now.ps()).min(now.ps()));
    }
}

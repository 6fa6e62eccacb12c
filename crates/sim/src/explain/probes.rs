//! Follows flows and operations through a run: every packet of them, and the ports they wait for.

mod surveying;
mod watching;

use std::rc::Rc;

use rocelab_fabric::{NodeId, PacketId};
use rocelab_units::SimTime;
use surveying::Suffered;

use super::blocked::Blocked;
use super::course::{Leg, Stretch};
use super::pair::{Pair, SOURCE};
use super::parts::{Known, cut};
use super::pauses::Pauses;
use super::port_logs::PortLogs;
use super::subject::{described_flow, described_operation};
use super::traffic::{Owner, Traffic, only_acknowledges, traffic_of};
use super::trail::{Hop, Trail};
use super::turns::{Operated, Turns};
use super::{ExplainError, Explanation, Selection};
use crate::network::watch::{Carried, FrameView, Passed};
use crate::network::{FlowEnd, Network, Record, RecordKind};
use crate::{Plan, ProfilePlan};

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

/// What is known of an arrival before it happens.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    id: PacketId,
    port: u32,
    egress: u16,
    destination: NodeId,
    packet: Carried,
    pair: u32,
}

/// A packet that has arrived at an end of a pair.
struct Delivered {
    pair: u32,
    end: usize,
    trail: Rc<Trail>,
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
        }
    }

    /// Whether runs of this plan can be looked at.
    pub(super) const fn can_follow(plan: &Plan) -> bool {
        matches!(plan.profile, ProfilePlan::Roce)
    }

    /// What records say that no event has made.
    pub(super) fn note_late(&mut self, network: &Network, records: &[Record]) {
        for record in records {
            if let RecordKind::FlowEnd(end) = &record.kind {
                self.end_flow(network, end, None);
            }
        }
    }

    /// The run is over; gives the explanations, those of what has not ended last.
    pub(super) fn finish(
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

    /// The pair of a packet that is followed: the frame at its place in the pool is that packet.
    fn pair_of(&self, network: &Network, frame: &FrameView) -> Option<u32> {
        let (pair, _) = self.trails.get(frame.id.0 as usize)?.as_ref()?;
        let place = self.place_of(traffic_of(network, frame)?)?;
        (place == *pair).then_some(place)
    }

    fn hop_of(&mut self, id: PacketId) -> Option<&mut Hop> {
        let (_, trail) = self.trails.get_mut(id.0 as usize)?.as_mut()?;
        trail.hops.last_mut()
    }

    /// A packet has crossed the link of `port`; at a switch it goes on by `egress`, at a host it
    /// leaves the network. A frame that a port already sends, which was not looked at, is `started`.
    fn arrive(
        &mut self,
        network: &Network,
        now: SimTime,
        arriving: &Arriving,
        started: &mut Vec<(u32, FrameView, Owner)>,
    ) -> Option<Delivered> {
        let Arriving { id, port, egress, destination, pair, .. } = *arriving;
        let hop = self.hop_of(id)?;
        hop.arrived = now.ps();
        if hop.crossed == 0 {
            hop.crossed = now.ps();
        }
        let node = network.node_behind(port);
        if network.nic(node).is_none() {
            if egress != u16::MAX {
                let port = network.port_of(node, egress);
                if let Some(Some((_, trail))) = self.trails.get_mut(id.0 as usize) {
                    trail.waits_at = Some(port);
                }
                let sent = self.ports.open(network, port, now).filter(|frame| frame.id == id);
                started.extend(sent.map(|frame| (port, frame, Owner::of(network, &frame))));
            }
            return None;
        }
        let (_, trail) = self.trails[id.0 as usize].take()?;
        let trail = Rc::new(trail);
        let both = &mut self.pairs[pair as usize].pair;
        let end = both.end_of(destination, &arriving.packet);
        if self.blocked.is_none() {
            both.note_received(network, end, now, (&trail, &arriving.packet));
        }
        Some(Delivered { pair, end, trail })
    }

    /// A frame starts at a port.
    fn start(&mut self, network: &Network, now: SimTime, port: u32, frame: &FrameView) {
        let traffic = traffic_of(network, frame);
        let (Some(packet), Some(place)) =
            (&frame.packet, traffic.and_then(|one| self.place_of(one)))
        else {
            return;
        };
        let (node, _) = network.place_of_port(port);
        let hop = Hop { port, start: now.ps(), crossed: 0, kept: 0, arrived: 0 };
        let index = frame.id.0 as usize;
        if network.nic(node).is_some() {
            let pair = &mut self.pairs[place as usize].pair;
            let end = 1 - pair.end_of(frame.destination, packet);
            let answers =
                if self.blocked.is_none() { pair.note_sent(end, now, packet) } else { None };
            if self.trails.len() <= index {
                self.trails.resize_with(index + 1, || None);
            }
            let trail = Trail::new(packet, hop, answers);
            self.trails[index] = Some((place, trail));
            self.note_departure(network, place, (port, packet.priority()), (now.ps(), now.ps()));
        } else if let Some(Some((pair, trail))) = self.trails.get_mut(index)
            && *pair == place
        {
            let since = trail.arrived();
            trail.hops.push(hop);
            trail.waits_at = None;
            let queue = (port, trail.priority);
            self.note_departure(network, place, queue, (since, now.ps()));
        }
        let next = network.node_behind(port);
        if network.nic(next).is_none() && frame.egress != u16::MAX {
            self.ports.open(network, network.port_of(next, frame.egress), now);
        }
    }

    /// What came through links that are special, and what was dropped.
    fn passed(
        &mut self,
        network: &Network,
        now: SimTime,
        passed: &[Passed],
        started: &mut Vec<(u32, FrameView, Owner)>,
    ) -> Vec<Delivered> {
        let mut delivered = Vec::new();
        for (index, one) in passed.iter().enumerate() {
            match *one {
                Passed::Doubled { packet, copy } => self.note_copy(packet, copy),
                Passed::Kept { packet } => {
                    if let Some(hop) = self.hop_of(packet) {
                        hop.kept = now.ps();
                    }
                }
                Passed::Dropped { packet } => self.lose(packet),
                Passed::Arrived { packet: id, .. } if is_dropped(id, &passed[index + 1..]) => {}
                Passed::Arrived { packet: id, port, egress, destination, body } => {
                    let frame = FrameView { id, destination, packet: body, egress };
                    let (Some(packet), Some(pair)) = (body, self.pair_of(network, &frame)) else {
                        continue;
                    };
                    let arriving = Arriving { id, port, egress, destination, packet, pair };
                    delivered.extend(self.arrive(network, now, &arriving, started));
                }
            }
        }
        delivered
    }

    /// A packet that is followed is now two.
    fn note_copy(&mut self, packet: PacketId, copy: PacketId) {
        let Some(trail) = self.trails.get(packet.0 as usize).cloned().flatten() else { return };
        let index = copy.0 as usize;
        if self.trails.len() <= index {
            self.trails.resize_with(index + 1, || None);
        }
        self.trails[index] = Some(trail);
    }

    /// A packet is gone, and if it was followed, its trail.
    fn lose(&mut self, id: PacketId) {
        if let Some(trail) = self.trails.get_mut(id.0 as usize) {
            *trail = None;
        }
    }

    /// Looks at the ends of pairs at `node` that the event may have changed, and at the answers that
    /// they have made ready.
    fn look(
        &mut self,
        network: &Network,
        now: SimTime,
        node: Option<NodeId>,
        pairs: &[u32],
        started: &[(u32, FrameView, Owner)],
    ) {
        if self.blocked.is_some() {
            return;
        }
        for &place in pairs {
            let Followed { pair, what } = &mut self.pairs[place as usize];
            if matches!(what, What::Nothing) {
                continue;
            }
            for end in pair.ends_at(node) {
                let (host, traffic) = (pair.ends[end].log.node, pair.traffic);
                let left = started.iter().filter(|(port, frame, owner)| {
                    *owner == Owner::Control(traffic)
                        && network.place_of_port(*port).0 == host
                        && frame.packet.as_ref().is_some_and(only_acknowledges)
                });
                pair.note_answers(network, end, now, left.count());
            }
        }
    }

    fn end_flow(&mut self, network: &Network, end: &FlowEnd, arrival: Option<Rc<Trail>>) {
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

    fn explain_operation(
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

/// Whether a frame that has arrived is dropped by what happens then.
fn is_dropped(id: PacketId, then: &[Passed]) -> bool {
    let fate = then.iter().find_map(|one| match *one {
        Passed::Dropped { packet } if packet == id => Some(true),
        Passed::Arrived { packet, .. } | Passed::Doubled { copy: packet, .. } if packet == id => {
            Some(false) // Another frame has its place.
        }
        _ => None,
    });
    fate == Some(true)
}

//! Cuts the time of a flow or operation into parts.

mod sender;
mod unfinished;

use std::collections::BTreeMap;

use rocelab_fabric::Priority;
use rocelab_units::SimTime;

use super::category::{Category, Cause, Stage};
use super::course::{Leg, Stands, Stretch, Work};
use super::explanation::Part;
use super::host_log::HostLog;
use super::pair::Pair;
use super::pauses::Pauses;
use super::pieces::pieces;
use super::port_log::{Hold, PortLog};
use super::port_logs::PortLogs;
use super::traffic::{Owner, Traffic};
use super::trail::{Answered, Hop, Trail};
use crate::Plan;
use crate::network::watch::View;

/// A part without its length.
type Key = (u16, Stage, Place, Category, Option<Cause>);

/// A node, or one of its ports; in the order of the path.
type Place = (usize, String);

/// What is known of a run so far.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) plan: &'a Plan,
    pub(super) network: View<'a>,
    pub(super) pauses: &'a Pauses<'a>,
    pub(super) ports: &'a PortLogs,
}

/// Adds up what the time of one flow or operation went to.
struct Parts<'a> {
    known: Known<'a>,
    pair: &'a Pair,
    /// The turn that is cut, and when it began: what was before is not of it.
    turn: u16,
    begin: u64,
    /// Whether nothing of the turn is under way when the run ends.
    is_nowhere: bool,
    lengths: BTreeMap<Key, u64>,
}

/// A stage of a leg, and a place on it.
#[derive(Clone)]
struct Spot {
    stage: Stage,
    place: Place,
}

/// The parts of the time that a course takes, in the order of the path; none if the packet is not
/// known that ended a leg.
pub(super) fn cut(known: Known<'_>, pair: &Pair, course: &[Stretch]) -> Option<Vec<Part>> {
    let mut parts =
        Parts { known, pair, turn: 0, begin: 0, is_nowhere: false, lengths: BTreeMap::new() };
    for stretch in course {
        match stretch {
            Stretch::Work(work) => parts.work(work),
            Stretch::Leg(leg) => parts.leg(leg)?,
        }
    }
    Some(parts.finish())
}

impl Parts<'_> {
    fn finish(self) -> Vec<Part> {
        let part = |((turn, stage, (_, place), category, cause), ps): (Key, u64)| Part {
            turn,
            stage,
            place,
            category,
            cause,
            ps,
        };
        self.lengths.into_iter().filter(|&(_, ps)| ps > 0).map(part).collect()
    }

    /// Adds the time from `from` to `to`.
    fn add(&mut self, spot: &Spot, what: (Category, Option<Cause>), (from, to): (u64, u64)) {
        let length = to.saturating_sub(from.max(self.begin));
        let key = (self.turn, spot.stage, spot.place.clone(), what.0, what.1);
        *self.lengths.entry(key).or_default() += length;
    }

    fn work(&mut self, work: &Work) {
        (self.turn, self.begin) = (work.turn, work.from);
        let place = (0, self.name(self.pair.ends[work.end].log.node));
        let spot = Spot { stage: Stage::Program, place };
        self.add(&spot, (Category::Work, None), (work.from, work.to));
    }

    fn leg(&mut self, leg: &Leg) -> Option<()> {
        (self.turn, self.begin) = (leg.turn, leg.from);
        let pair = self.pair;
        let (sender, other) = (&pair.ends[leg.sender].log, &pair.ends[1 - leg.sender].log);
        if let Stands::At(trail) = &leg.stands {
            return self.unfinished(leg, trail);
        }
        self.is_nowhere = matches!(leg.stands, Stands::Nowhere);
        let Some(trail) = &leg.arrival else {
            self.sender(Stage::Sender, sender, (leg.from, leg.to));
            return Some(());
        };
        let Some(answered) = trail.answers.as_ref().filter(|_| self.leads_to(trail, sender)) else {
            if !self.leads_to(trail, other) {
                return None;
            }
            self.sender(Stage::Sender, sender, (leg.from, trail.left()));
            self.way(Stage::Request, trail)?;
            self.stack(other, trail, leg.to);
            self.completion(Stage::Request, other, trail, leg.to);
            return Some(());
        };
        self.up_to_answer(leg, answered, trail)?;
        self.way(Stage::Answer, trail)?;
        self.completion(Stage::Answer, sender, trail, leg.to);
        Some(())
    }

    /// From the arrival of the packet that ended a leg until a program knows, on a host that takes time.
    fn completion(&mut self, stage: Stage, end: &HostLog, trail: &Trail, known: u64) {
        if self.known.plan.host_models.contains_key(&end.node) && !end.is_tcp {
            let spot = Spot { stage, place: (2 * trail.hops.len(), self.name(end.node)) };
            self.add(&spot, (Category::Completion, None), (trail.arrived(), known));
        }
    }

    /// A leg up to the departure of what answers a packet of it.
    fn up_to_answer(&mut self, leg: &Leg, answered: &Answered, trail: &Trail) -> Option<()> {
        let pair = self.pair;
        let (sender, other) = (&pair.ends[leg.sender].log, &pair.ends[1 - leg.sender].log);
        self.sender(Stage::Sender, sender, (leg.from, answered.request.left()));
        self.way(Stage::Request, &answered.request)?;
        if trail.is_result {
            self.sender(Stage::Responder, other, (answered.request.arrived(), trail.left()));
        } else {
            self.answer(other, answered, trail);
        }
        Some(())
    }

    /// What keeps a frame from leaving by a port at a time.
    fn hold(&self, port: &PortLog, time: u64, marking: u8) -> (Category, Option<Cause>) {
        let network = self.known.network;
        let queue = network.queue_at(port.port, marking);
        let is_host = network.nic(port.node).is_some();
        let priorities = if is_host { 1 << queue } else { network.priorities_of(port.port, queue) };
        match port.hold(time, queue, priorities) {
            Hold::Paused => {
                let cause = self.known.pauses.cause(port.node, port.number, priorities, time);
                let control = self.known.pauses.flow_control(port.node, port.number);
                (Category::Pause(control), cause)
            }
            Hold::Behind(owner) => self.behind(owner),
            Hold::LinkDown => (Category::LinkDown, None),
            Hold::HostDown => (Category::HostDown, None),
            Hold::Shaped => (Category::Shaping, self.shaper(port, queue)),
            Hold::Nothing if self.known.plan.host_models.contains_key(&port.node) => {
                (Category::HostFetch, None)
            }
            Hold::Nothing => (Category::Idle, None),
        }
    }

    /// The shaper of a queue.
    fn shaper(&self, port: &PortLog, queue: u8) -> Option<Cause> {
        let shaper =
            self.known.plan.shapers_of(port.node, port.number).get(&Priority::new(queue)?)?;
        Some(Cause::Shaper { queue, rate_bps: shaper.rate.bits_per_second() })
    }

    /// The transmitter is busy with a frame.
    fn behind(&self, owner: Owner) -> (Category, Option<Cause>) {
        let cause = match owner {
            Owner::Data(own) if own == self.pair.traffic => {
                return (Category::QueueingBehindItself, None);
            }
            Owner::Control(own) if own == self.pair.traffic => Cause::OwnControl,
            Owner::Data(Traffic::Flow(flow)) | Owner::Control(Traffic::Flow(flow)) => {
                Cause::Flow { flow }
            }
            Owner::Data(Traffic::Connection(connection))
            | Owner::Control(Traffic::Connection(connection)) => Cause::Connection { connection },
            Owner::Stream(stream) => Cause::Stream { stream },
            Owner::PauseFrames if self.known.plan.infiniband.is_some() => Cause::FlowControlPackets,
            Owner::PauseFrames => Cause::PauseFrames,
            Owner::AddressResolution => Cause::AddressResolution,
            Owner::Pings => Cause::Pings,
            Owner::Management => Cause::Management,
        };
        (Category::QueueingBehindOthers, Some(cause))
    }

    /// An acknowledgement from the arrival that led to it until it leaves.
    fn answer(&mut self, end: &HostLog, answered: &Answered, trail: &Trail) {
        let (arrived, ready, left) = (answered.request.arrived(), answered.ready, trail.left());
        let spot = Spot { stage: Stage::Responder, place: (0, self.name(end.node)) };
        self.add(&spot, (Category::AckCoalescing, None), (arrived, ready));
        self.wait(&spot, end.port, trail.marking, (ready, left));
    }

    /// A frame waits for a port.
    fn wait(&mut self, spot: &Spot, port: u32, marking: u8, (from, to): (u64, u64)) {
        let Some(port) = self.known.ports.get(port) else {
            return self.add(spot, (Category::Idle, None), (from, to));
        };
        let from = from.max(self.begin.min(to));
        for (since, until) in pieces(from, to, port.changes(from, to)) {
            let what = self.hold(port, since, marking);
            self.add(spot, what, (since, until));
        }
    }

    /// A packet's way over all its links.
    fn way(&mut self, stage: Stage, trail: &Trail) -> Option<()> {
        for (number, hop) in (1..).step_by(2).zip(&trail.hops) {
            self.link(stage, number, hop)?;
        }
        self.waits_between(stage, trail);
        Some(())
    }

    /// A packet's waits between its links.
    fn waits_between(&mut self, stage: Stage, trail: &Trail) {
        for (number, pair) in (2..).step_by(2).zip(trail.hops.windows(2)) {
            let [before, next] = pair else { continue };
            let spot = Spot { stage, place: (number, self.port_name(next.port)) };
            self.wait(&spot, next.port, trail.marking, (before.arrived, next.start));
        }
    }

    /// One link, up to the node at its end.
    fn link(&mut self, stage: Stage, number: usize, hop: &Hop) -> Option<()> {
        let (node, port) = self.known.network.place_of_port(hop.port);
        let neighbour = self.known.pauses.neighbour(node, port)?;
        let delay = self.known.plan.topology.links[neighbour.link as usize].delay.ps();
        let latency = self.known.plan.latency_of(neighbour.node).ps();
        let on_link = Spot { stage, place: (number, self.port_name(hop.port)) };
        let in_node = Spot { stage, place: (number, self.name(neighbour.node)) };
        let at_end = hop.crossed.checked_sub(latency)?;
        let sent = at_end.checked_sub(delay).filter(|&sent| sent >= hop.start)?;
        self.add(&on_link, self.serialisation(hop.port, hop.start), (hop.start, sent));
        self.add(&on_link, (Category::Propagation, None), (sent, at_end));
        self.add(&in_node, (Category::SwitchLatency, None), (at_end, hop.crossed));
        let due = if hop.kept == 0 { hop.arrived } else { hop.kept };
        self.add(&on_link, (Category::FaultDelay, None), (hop.crossed, due));
        let in_nic = if self.known.plan.host_models.contains_key(&neighbour.node) {
            Category::Reception
        } else {
            Category::SlowReceiver
        };
        self.add(&in_node, (in_nic, None), (due, hop.arrived));
        Some(())
    }

    /// The bits leave of a frame that a port starts at a time (picoseconds), as fast as its link is then.
    fn serialisation(&self, port: u32, start: u64) -> (Category, Option<Cause>) {
        let lowered = self.known.network.lowered_rate(port, SimTime::from_ps(start));
        let cause = lowered.map(|rate| Cause::LoweredRate { rate_bps: rate.bits_per_second() });
        (Category::Serialisation, cause)
    }

    /// From the arrival of a segment of TCP until the protocol has it.
    fn stack(&mut self, end: &HostLog, trail: &Trail, through: u64) {
        if end.is_tcp {
            let place = (2 * trail.hops.len(), self.name(end.node));
            let spot = Spot { stage: Stage::Request, place };
            self.add(&spot, (Category::HostStack, None), (trail.arrived(), through));
        }
    }

    /// Whether a packet has come to the host of an end.
    fn leads_to(&self, trail: &Trail, end: &HostLog) -> bool {
        let last = trail.hops.last();
        last.is_some_and(|hop| self.known.network.node_behind(hop.port) == end.node)
    }

    fn name(&self, node: u32) -> String {
        self.known.plan.topology.nodes[node as usize].name.clone()
    }

    fn port_name(&self, port: u32) -> String {
        let (node, number) = self.known.network.place_of_port(port);
        format!("{}:{number}", self.known.plan.topology.nodes[node as usize].name)
    }
}

//! Cuts the time of a flow into parts.

use std::collections::BTreeMap;

use rocelab_transport::Standing;
use rocelab_transport::congestion_control::Feedback;

use super::category::{Category, Cause, Stage};
use super::causes::PauseNames;
use super::host_log::HostLog;
use super::port_log::{Hold, Owner, PortLog};
use super::probe::FlowProbe;
use super::trail::{Answered, Hop, Trail};
use super::{ExplainError, Part};
use crate::{Network, Plan, Verb};

/// A part without its length.
type Key = (Stage, Place, Category, Option<Cause>);

/// A node, or one of its ports; in the order of the path.
type Place = (usize, String);

/// Adds up what the time of one flow went to.
pub(super) struct Parts<'a> {
    pub(super) plan: &'a Plan,
    pub(super) network: &'a Network,
    pub(super) pauses: &'a PauseNames<'a>,
    pub(super) probe: &'a FlowProbe,
    lengths: BTreeMap<Key, u64>,
}

impl<'a> Parts<'a> {
    pub(super) const fn new(
        plan: &'a Plan,
        network: &'a Network,
        pauses: &'a PauseNames<'a>,
        probe: &'a FlowProbe,
    ) -> Self {
        Self { plan, network, pauses, probe, lengths: BTreeMap::new() }
    }

    /// The parts of the time from the flow's start to its end, in the order of the path.
    pub(super) fn cut(mut self) -> Result<Vec<Part>, ExplainError> {
        let untraced = ExplainError::Untraced { flow: self.probe.flow };
        let (Some(ends), Some(end)) = (self.probe.ends(), &self.probe.end) else {
            return Err(untraced);
        };
        let flow = &self.plan.flows[self.probe.flow as usize];
        let start = flow.start.ps();
        match &end.arrival {
            None => self.sender(Stage::Sender, &ends.source, start, end.time),
            Some(trail) => match &trail.answers {
                None if trail_leads_to(self.network, trail, flow.destination) => {
                    self.sender(Stage::Sender, &ends.source, start, trail.left());
                    self.way(Stage::Request, trail)?;
                }
                None => return Err(untraced),
                Some(answered) => {
                    self.sender(Stage::Sender, &ends.source, start, answered.request.left());
                    self.way(Stage::Request, &answered.request)?;
                    if flow.verb == Verb::Read {
                        let arrived = answered.request.arrived();
                        self.sender(Stage::Responder, &ends.destination, arrived, trail.left());
                    } else {
                        self.answer(&ends.destination, answered, trail);
                    }
                    self.way(Stage::Answer, trail)?;
                }
            },
        }
        Ok(self.finish())
    }

    fn finish(self) -> Vec<Part> {
        let part = |((stage, (_, place), category, cause), ps): (Key, u64)| Part {
            stage,
            place,
            category,
            cause,
            ps,
        };
        self.lengths.into_iter().filter(|&(_, ps)| ps > 0).map(part).collect()
    }

    fn add(&mut self, stage: Stage, place: Place, what: (Category, Option<Cause>), ps: u64) {
        *self.lengths.entry((stage, place, what.0, what.1)).or_default() += ps;
    }

    /// The state of an end that sends, from one time to another.
    fn sender(&mut self, stage: Stage, end: &HostLog, from: u64, to: u64) {
        let Some(port) = self.probe.port(end.port) else { return };
        let vain = end.vain(to);
        let place = (0, self.name(end.node));
        let changes = end.changes().chain(port.changes(from, to));
        for (since, until) in pieces(from, to, changes) {
            let what = match vain.at(since) {
                Some(_) if end.standing(since) == Standing::ReceiverNotReady => {
                    (Category::ReceiverNotReady, None)
                }
                Some(noticed) => (Category::Retransmission, Some(Cause::Loss { noticed })),
                None if port.busy_with(since) == Some(Owner::Own) => {
                    (Category::Serialisation, None)
                }
                None => self.standing(end, port, (since, to)),
            };
            self.add(stage, place.clone(), what, until - since);
        }
    }

    /// What an end waits for at `since`, that sends again at `to` at the latest.
    fn standing(
        &self,
        end: &HostLog,
        port: &PortLog,
        (since, to): (u64, u64),
    ) -> (Category, Option<Cause>) {
        let category = match end.standing(since) {
            Standing::NotConnected => Category::ConnectionSetup,
            Standing::Failed | Standing::NoWork => Category::Idle,
            Standing::Unanswered => {
                let noticed = end.signal_between(since, to);
                return (Category::Retransmission, Some(Cause::Loss { noticed }));
            }
            Standing::ReceiverNotReady => Category::ReceiverNotReady,
            Standing::Window => return (Category::Window, Some(self.congestion_control())),
            Standing::PacketLimit => Category::PacketLimit,
            Standing::ReadLimit => Category::ReadLimit,
            Standing::MaySend(release) if since < release.ps() => {
                return (Category::Pacing, Some(self.congestion_control()));
            }
            Standing::MaySend(_) => {
                let priority = self.plan.flows[self.probe.flow as usize].priority;
                return self.hold(port, since, priority);
            }
        };
        (category, None)
    }

    /// What keeps a frame from leaving by a port at a time.
    fn hold(&self, port: &PortLog, time: u64, priority: u8) -> (Category, Option<Cause>) {
        let queue = self.network.queue_at(port.port, priority);
        let is_host = self.network.nic(port.node).is_some();
        let priorities =
            if is_host { 1 << queue } else { self.network.priorities_of(port.port, queue) };
        let hold = port.hold(time, queue, priorities);
        let cause = match hold {
            Hold::Paused => self.pauses.cause(port.node, port.number, priorities, time),
            Hold::Behind(Owner::OwnControl) => Some(Cause::OwnControl),
            Hold::Behind(Owner::Flow(flow)) => Some(Cause::Flow { flow }),
            Hold::Behind(Owner::Connection(connection)) => Some(Cause::Connection { connection }),
            Hold::Behind(Owner::PauseFrames) => Some(Cause::PauseFrames),
            Hold::Behind(Owner::Management) => Some(Cause::Management),
            Hold::Behind(Owner::Own) | Hold::LinkDown | Hold::Shaped | Hold::Nothing => None,
        };
        (hold.category(), cause)
    }

    /// An acknowledgement from the arrival that led to it until it leaves.
    fn answer(&mut self, end: &HostLog, answered: &Answered, trail: &Trail) {
        let (arrived, ready, left) = (answered.request.arrived(), answered.ready, trail.left());
        let place = (0, self.name(end.node));
        let held = (Category::AckCoalescing, None);
        self.add(Stage::Responder, place.clone(), held, ready - arrived);
        self.wait(Stage::Responder, place, end.port, trail.priority, (ready, left));
    }

    /// A frame waits for a port.
    fn wait(
        &mut self,
        stage: Stage,
        place: Place,
        port: u32,
        priority: u8,
        (from, to): (u64, u64),
    ) {
        let Some(port) = self.probe.port(port) else {
            return self.add(stage, place, (Category::Idle, None), to - from);
        };
        for (since, until) in pieces(from, to, port.changes(from, to)) {
            let what = self.hold(port, since, priority);
            self.add(stage, place.clone(), what, until - since);
        }
    }

    /// A packet's way over all its links.
    fn way(&mut self, stage: Stage, trail: &Trail) -> Result<(), ExplainError> {
        for (number, hop) in (1..).step_by(2).zip(&trail.hops) {
            self.link(stage, number, hop)?;
        }
        for (number, pair) in (2..).step_by(2).zip(trail.hops.windows(2)) {
            let [before, next] = pair else { continue };
            let place = (number, self.port_name(next.port));
            let span = (before.arrived, next.start);
            self.wait(stage, place, next.port, trail.priority, span);
        }
        Ok(())
    }

    /// One link, up to the node at its end.
    fn link(&mut self, stage: Stage, number: usize, hop: &Hop) -> Result<(), ExplainError> {
        let (node, port) = self.network.place_of_port(hop.port);
        let untraced = ExplainError::Untraced { flow: self.probe.flow };
        let adjacency = &self.pauses.adjacency;
        let neighbour = adjacency.ports_of(node).get(usize::from(port)).ok_or(untraced)?;
        let delay = self.plan.topology.links[neighbour.link as usize].delay.ps();
        let latency = self.plan.latency_of(neighbour.node).ps();
        let untraced = ExplainError::Untraced { flow: self.probe.flow };
        let bits = (hop.crossed - hop.start).checked_sub(delay + latency).ok_or(untraced)?;
        let place = (number, self.port_name(hop.port));
        self.add(stage, place.clone(), (Category::Serialisation, None), bits);
        self.add(stage, place.clone(), (Category::Propagation, None), delay);
        self.add(stage, place.clone(), (Category::FaultDelay, None), hop.arrived - hop.crossed);
        let switch = (number, self.name(neighbour.node));
        self.add(stage, switch, (Category::SwitchLatency, None), latency);
        Ok(())
    }

    fn congestion_control(&self) -> Cause {
        let flow = &self.plan.flows[self.probe.flow as usize];
        let algorithm = &self.plan.queue_pairs_of(flow).congestion_control;
        let (node, port) = (flow.source, 0);
        let link = self.pauses.adjacency.ports_of(node).get(port).map(|port| port.link);
        let rate = link.map(|link| self.plan.topology.links[link as usize].rate);
        let signal = match algorithm.feedback(rate.unwrap_or_default()) {
            Feedback::Cnp { .. } => "CNP",
            Feedback::Rtt => "RTT",
            Feedback::EcnEcho => "ECN echo",
            Feedback::Int { .. } => "INT",
            Feedback::Pint { .. } => "PINT",
            _ => "nothing",
        };
        Cause::CongestionControl { algorithm: algorithm.name(), signal }
    }

    fn name(&self, node: u32) -> String {
        self.plan.topology.nodes[node as usize].name.clone()
    }

    fn port_name(&self, port: u32) -> String {
        let (node, number) = self.network.place_of_port(port);
        format!("{}:{number}", self.plan.topology.nodes[node as usize].name)
    }
}

fn trail_leads_to(network: &Network, trail: &Trail, host: u32) -> bool {
    trail.hops.last().is_some_and(|hop| network.node_behind(hop.port) == host)
}

/// The time from `from` to `to`, cut where something changes.
fn pieces(from: u64, to: u64, changes: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let inside = changes.filter(|&time| from < time && time < to);
    let mut cuts: Vec<u64> = inside.chain([from, to]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_span_once() {
        let cut = pieces(10, 20, [3, 20, 15, 10, 12, 15, 30].into_iter());
        assert_eq!(cut, [(10, 12), (12, 15), (15, 20)]);
        assert_eq!(pieces(7, 7, [7].into_iter()), []);
    }
}

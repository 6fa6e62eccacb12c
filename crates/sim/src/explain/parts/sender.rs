//! The state of an end that sends.

use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::Feedback;
use rocelab_transport::tcp::congestion_control::EcnEcho;

use super::super::acknowledgement::Stay;
use super::super::category::{Category, Cause, LossSignal, Stage};
use super::super::end_state::WaitsFor;
use super::super::host_log::{HostLog, is_limit};
use super::super::pair::{DESTINATION, SOURCE};
use super::super::pieces::pieces;
use super::super::port_log::PortLog;
use super::super::sent_frames::Loss;
use super::super::traffic::{Owner, Traffic};
use super::{Parts, Spot};
use crate::network::Overview;

impl Parts<'_> {
    /// The state of an end that sends, from one time to another.
    pub(super) fn sender(&mut self, stage: Stage, end: &HostLog, (from, to): (u64, u64)) {
        let Some(port) = self.known.ports.get(end.port) else { return };
        let from = from.max(self.begin);
        if to <= from {
            return;
        }
        let vain = end.vain(self.known.network, from, to);
        let spot = Spot { stage, place: (0, self.name(end.node)) };
        let changes = end.changes(from, to).chain(port.changes(from, to));
        for (since, until) in pieces(from, to, changes) {
            let waits_for = end.state(since).waits_for(since);
            let (noticed, loss) =
                vain.at(since).map_or((None, None), |frame| (frame.noticed, frame.loss));
            let what = match noticed {
                Some(_) if waits_for == WaitsFor::Only(Category::ReceiverNotReady) => {
                    (Category::ReceiverNotReady, None)
                }
                Some(noticed) => self.sent_again(noticed, loss),
                None if port.busy_with(since) == Some(Owner::Data(self.pair.traffic)) => {
                    self.serialisation(port.port, port.last_start(since))
                }
                None => self.waiting(end, port, (waits_for, loss), (since, to)),
            };
            match (what.0, end.loss_for_good()) {
                (Category::Window | Category::ReceiveWindow, _) => {
                    self.with_stays(&spot, end, what, (since, until), |_| true);
                }
                (Category::Retransmission, _) if end.is_ended_by_acknowledgement(since) => {
                    let is_delay = |stay: &Stay| stay.category == Category::DelayedAck;
                    self.with_stays(&spot, end, what, (since, until), is_delay);
                }
                (Category::Idle, Some(loss)) => self.lost(loss, (since, until)),
                (Category::Idle, None) if self.has_discarded(end) => {
                    self.discarded((since, until));
                }
                _ => self.add(&spot, what, (since, until)),
            }
        }
    }

    /// A message was lost that nobody sends again, and there is nothing else to do.
    fn lost(&mut self, loss: &Loss, span: (u64, u64)) {
        let lost = loss.told(self.known.plan);
        let spot = Spot { stage: Stage::Request, place: (0, lost.place.clone()) };
        let cause = Cause::Dropped { lost };
        self.add(&spot, (Category::MessageLost, Some(cause)), span);
    }

    /// Whether nothing of a flow was dropped, and yet messages of it have not arrived that nobody sends
    /// again.
    fn has_discarded(&self, end: &HostLog) -> bool {
        let Traffic::Flow(flow) = self.pair.traffic else { return false };
        let network = Overview(self.known.network.0);
        !end.repeats() && network.undelivered_messages(flow).is_some_and(|some| some > 0)
    }

    /// The responder discarded a packet of a message that nobody sends again.
    fn discarded(&mut self, span: (u64, u64)) {
        let destination = self.name(self.pair.ends[DESTINATION].log.node);
        let spot = Spot { stage: Stage::Request, place: (0, destination) };
        self.add(&spot, (Category::MessageLost, Some(Cause::Discarded)), span);
    }

    /// Something has to be sent again, because of this loss if of any.
    fn sent_again(&self, noticed: LossSignal, loss: Option<Loss>) -> (Category, Option<Cause>) {
        let lost = loss.map(|loss| loss.told(self.known.plan));
        (Category::Retransmission, Some(Cause::Loss { noticed, lost }))
    }

    /// An end waits for an acknowledgement. Of TCP some of what goes by at the ends, of the wait for the
    /// one with which it goes on, is said apart.
    fn with_stays(
        &mut self,
        spot: &Spot,
        end: &HostLog,
        what: (Category, Option<Cause>),
        (since, until): (u64, u64),
        is_apart: impl Fn(&Stay) -> bool,
    ) {
        let acknowledgement = end.acknowledgement_after(since);
        let stays = acknowledgement.into_iter().flat_map(|one| one.stays((since, until)));
        let mut from = since;
        for stay in stays.filter(is_apart) {
            let place = if stay.at_sender { SOURCE } else { DESTINATION };
            let at = Spot { place: (0, self.name(self.pair.ends[place].log.node)), ..spot.clone() };
            self.add(spot, what.clone(), (from, stay.from));
            self.add(&at, (stay.category, None), (stay.from, stay.to));
            from = stay.to;
        }
        self.add(spot, what, (from, until));
    }

    /// An end waits at `since` for something, and sends again at `to` at the latest; something may have
    /// been lost before.
    fn waiting(
        &self,
        end: &HostLog,
        port: &PortLog,
        (waits_for, loss): (WaitsFor, Option<Loss>),
        (since, to): (u64, u64),
    ) -> (Category, Option<Cause>) {
        if let Some(noticed) = self.waits_for_timer(end, waits_for, since) {
            return self.sent_again(noticed, loss);
        }
        match waits_for {
            WaitsFor::Only(Category::AddressResolution) => {
                let node = end.asks_for.map(|(_, node)| self.name(node));
                (Category::AddressResolution, node.map(|node| Cause::NextHop { node }))
            }
            WaitsFor::Only(category) => (category, None),
            WaitsFor::CongestionControl(category) => {
                (category, Some(self.congestion_control(end, category)))
            }
            // The last packet may still be in the channel adapter, on its way from the queue pair to the port.
            WaitsFor::Answer if loss.is_none() && self.known.plan.infiniband.is_some() => {
                self.hold(port, since, self.pair.priority)
            }
            WaitsFor::Answer => self.sent_again(end.signal_between(since, to), loss),
            WaitsFor::Port => self.hold(port, since, self.pair.priority),
        }
    }

    /// An end waits at `since` at a limit of what is unacknowledged, and no acknowledgement ends that,
    /// but a timer: those that could were lost. Where the run ends first, nobody has noticed.
    fn waits_for_timer(
        &self,
        end: &HostLog,
        waits_for: WaitsFor,
        since: u64,
    ) -> Option<LossSignal> {
        let (WaitsFor::Only(limit) | WaitsFor::CongestionControl(limit)) = waits_for else {
            return None;
        };
        if !is_limit(limit) {
            return None;
        }
        let is_missing = self.is_nowhere && end.misses_answer(since);
        end.timeout_after(since).or(is_missing.then_some(LossSignal::Unnoticed))
    }

    fn congestion_control(&self, end: &HostLog, limit: Category) -> Cause {
        let plan = self.known.plan;
        if let (Some(tcp), true) = (&plan.tcp, end.is_tcp) {
            let parameters = &tcp.parameters;
            let algorithm = &parameters.congestion_control;
            let signal = match algorithm.echo() {
                EcnEcho::EachSegment => "ECN echo and loss",
                EcnEcho::UntilCwr if parameters.uses_ecn() => "loss and ECN echo",
                EcnEcho::UntilCwr => "loss",
            };
            return Cause::CongestionControl { algorithm: algorithm.name(), signal };
        }
        let algorithm = &plan.queue_pairs[self.pair.queue_pairs as usize].congestion_control;
        let link = self.known.pauses.neighbour(end.node, 0).map(|port| port.link);
        let rate = link.map(|link| plan.topology.links[link as usize].rate);
        let signal = match algorithm.feedback(rate.unwrap_or_default()) {
            Feedback::Cnp { .. } if plan.infiniband.is_some() => "CN",
            Feedback::EcnEcho if plan.infiniband.is_some() => "BECN",
            Feedback::Cnp { .. } => "CNP",
            Feedback::Rtt => "RTT",
            Feedback::EcnEcho => "ECN echo",
            // It asks for the hops, and follows the round-trip time.
            Feedback::Telemetry(_) if has_fabric_window_only(algorithm) => "RTT",
            Feedback::Telemetry(units) => units.kind().label(),
            Feedback::Qcn => "CNM",
            Feedback::None if limit == Category::Window => "its fixed window",
            Feedback::None => "its fixed rate",
            _ => "nothing",
        };
        Cause::CongestionControl { algorithm: algorithm.name(), signal }
    }
}

/// Whether it is Swift without a window of the endpoint.
fn has_fabric_window_only(algorithm: &Algorithm) -> bool {
    matches!(algorithm, Algorithm::Swift(parameters) if parameters.endpoint_target.is_none())
}

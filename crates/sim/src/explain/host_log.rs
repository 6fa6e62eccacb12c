//! The state of one end of a flow, from event to event.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_transport::Standing;
use rocelab_transport::tcp::{TcpEnd, TcpLosses, TcpStanding};
use rocelab_units::SimTime;

use super::acknowledgement::Acknowledgement;
use super::category::{Category, LossSignal};
use super::delivery::{EndNumber, is_taken};
use super::end_state::{EndState, WaitsFor};
use super::sent_frames::{
    Again, Loss, OpenLosses, PacketKind, Sent, SentFrame, Vain, VainFrame, sent_again,
};
use crate::network::watch::View;

/// One end of a flow.
#[derive(Debug)]
pub(super) struct HostLog {
    pub(super) node: NodeId,
    pub(super) port: u32,
    /// Of its queue pair, or of its TCP connection.
    pub(super) number: u32,
    /// The other end.
    peer: EndNumber,
    pub(super) is_tcp: bool,
    /// Whether it sends again what was lost.
    repeats: bool,
    /// At the source of a flow that may have to wait for the address of a next hop: the flow, and that.
    pub(super) asks_for: Option<(u32, NodeId)>,
    /// From each time on, in order.
    states: Vec<(u64, EndState)>,
    /// Data and requests that it sent.
    frames: Vec<SentFrame>,
    /// When it learnt of losses.
    signals: Vec<(u64, LossSignal)>,
    /// Frames of it that were lost, by when they left.
    losses: BTreeMap<u64, Loss>,
    /// Answers to it that were lost, by when that was.
    lost_answers: BTreeMap<u64, Loss>,
    retries: u8,
    tcp: TcpSeen,
    /// Acknowledgements with which a sender of TCP went on.
    acknowledgements: Vec<Acknowledgement>,
}

/// What was last seen of a sender of TCP.
#[derive(Debug, Default)]
struct TcpSeen {
    losses: TcpLosses,
    /// Payload that was made into segments for the first time (bytes), and segments of what was sent
    /// before.
    made: (u64, u64),
    /// What came through its stack just now.
    acknowledgement: Option<Acknowledgement>,
}

impl HostLog {
    /// The end with a queue pair, or TCP connection, of this number at a host, and its peer.
    pub(super) fn new(
        network: View<'_>,
        (node, number): EndNumber,
        peer: EndNumber,
        is_tcp: bool,
    ) -> Self {
        Self {
            node,
            port: network.port_of(node, 0),
            number,
            peer,
            is_tcp,
            asks_for: None,
            repeats: is_tcp || network.plan().service().is_reliable(),
            states: Vec::new(),
            frames: Vec::new(),
            signals: Vec::new(),
            losses: BTreeMap::new(),
            lost_answers: BTreeMap::new(),
            retries: 0,
            tcp: TcpSeen::default(),
            acknowledgements: Vec::new(),
        }
    }

    /// Notes how the end stands after an event.
    pub(super) fn look(&mut self, network: View<'_>, now: SimTime) {
        let waits = |(flow, _)| network.waits_for_address(self.node, flow);
        let state = if self.asks_for.is_some_and(waits) {
            EndState::AddressResolution
        } else if self.is_tcp {
            self.look_at_connection(network, now)
        } else {
            self.look_at_queue_pair(network, now)
        };
        if self.states.last().is_none_or(|&(_, last)| last != state) {
            self.states.push((now.ps(), state));
        }
    }

    fn look_at_queue_pair(&mut self, network: View<'_>, now: SimTime) -> EndState {
        let queue_pair = network.nic(self.node).and_then(|nic| nic.queue_pair(self.number));
        let retries = queue_pair.map_or(0, |one| one.retries());
        if retries > self.retries {
            self.note_loss(now, LossSignal::Timeout);
        } else if retries < self.retries {
            let migrated = network.nic(self.node).and_then(|nic| nic.path_migrations().last());
            if migrated.is_some_and(|last| (last.time, last.qpn) == (now, self.number)) {
                self.note_loss(now, LossSignal::PathMigration);
            }
        }
        self.retries = retries;
        let standing = queue_pair.map_or(Standing::NotConnected, |one| one.standing());
        let posts = || {
            let host = network.nic(self.node).and_then(|nic| nic.host());
            host.is_some_and(|host| host.has_requests_of(self.number))
        };
        if matches!(standing, Standing::NoWork | Standing::Unanswered) && posts() {
            return EndState::Posting;
        }
        EndState::QueuePair(standing)
    }

    fn look_at_connection(&mut self, network: View<'_>, now: SimTime) -> EndState {
        let tcp = network.tcp(self.node);
        let connection = tcp.and_then(|tcp| tcp.connection(self.number));
        if let Some(connection) = connection
            && let TcpEnd::Sender(sender) = connection.end()
        {
            let (losses, known) = (sender.losses(), self.tcp.losses);
            if losses.fast_retransmits != known.fast_retransmits {
                self.note_loss(now, LossSignal::FastRetransmit);
            }
            if losses.timeouts != known.timeouts {
                self.note_loss(now, LossSignal::RetransmissionTimeout);
            }
            self.tcp.losses = losses;
            let made = (sender.sent(), connection.retransmissions());
            if self.tcp.made != made {
                self.acknowledgements.extend(self.tcp.acknowledgement.take());
            }
            self.tcp.made = made;
            // Of two events at one time the second may be that in which it is acted on.
            self.tcp.acknowledgement.take_if(|one| one.through < now.ps());
        }
        let standing = tcp.and_then(|tcp| tcp.standing(self.number));
        EndState::Tcp(standing.unwrap_or(TcpStanding::NoWork))
    }

    /// It sends data or a request.
    pub(super) fn note_sent(&mut self, now: SimTime, what: Sent) {
        self.frames.push(SentFrame { start: now.ps(), what });
    }

    /// It learns of a loss.
    pub(super) fn note_loss(&mut self, now: SimTime, signal: LossSignal) {
        self.signals.push((now.ps(), signal));
    }

    /// A frame of it, or an answer to it, was lost.
    pub(super) fn note_dropped(&mut self, loss: Loss, is_own: bool) {
        if is_own {
            self.losses.insert(loss.left, loss);
        } else {
            self.lost_answers.insert(loss.time, loss);
        }
    }

    /// Whether it sends again what was lost.
    pub(super) const fn repeats(&self) -> bool {
        self.repeats
    }

    /// The first frame of it that was lost and that nobody sends again.
    pub(super) fn loss_for_good(&self) -> Option<&Loss> {
        self.losses.values().next().filter(|_| !self.repeats)
    }

    /// How many were lost, if nobody sends them again.
    pub(super) fn lost_for_good(&self) -> u64 {
        if self.repeats { 0 } else { self.losses.len() as u64 }
    }

    /// The frames that were lost, have not been sent again, and should be, in order.
    pub(super) fn to_repeat(&self, network: View<'_>) -> Vec<SentFrame> {
        if !self.repeats || self.losses.is_empty() {
            return Vec::new();
        }
        let again = sent_again(&self.frames);
        let last = self.frames.iter().zip(again).filter(|(_, again)| again.is_none());
        let missing = last.map(|(frame, _)| frame).filter(|frame| self.is_missing(network, frame));
        missing.copied().collect()
    }

    /// Whether a frame was lost, what it brought has not come otherwise, and should.
    fn is_missing(&self, network: View<'_>, frame: &SentFrame) -> bool {
        self.repeats
            && self.losses.contains_key(&frame.start)
            && !is_taken(network, frame.what, (self.node, self.number), self.peer)
    }

    /// Whether it waits at `time` for what its peer sends.
    pub(super) fn waits_for_peer(&self, time: u64) -> bool {
        match self.state(time).waits_for(time) {
            WaitsFor::Answer | WaitsFor::CongestionControl(Category::Window) => true,
            WaitsFor::Only(what) => is_limit(what),
            WaitsFor::CongestionControl(_) | WaitsFor::Port => false,
        }
    }

    /// Whether it has sent the READ data, or the result of an atomic operation, with a PSN at a time or
    /// since.
    pub(super) fn has_answered_since(&self, psn: u32, time: u64) -> bool {
        let result = Sent::Packet { psn, kind: PacketKind::Result };
        let since = self.frames.iter().rev().take_while(|frame| frame.start >= time);
        since.map(|frame| frame.what).any(|what| what == result)
    }

    /// The timer whose expiry ends the wait that goes on at `time`: nothing is sent before it.
    pub(super) fn timeout_after(&self, time: u64) -> Option<LossSignal> {
        let next = self.frames.partition_point(|frame| frame.start <= time);
        let sends = self.frames.get(next)?.start;
        let later = self.signals.partition_point(|&(noted, _)| noted <= time);
        let signals = self.signals[later..].iter().take_while(|&&(noted, _)| noted <= sends);
        signals.map(|&(_, signal)| signal).find(|signal| signal.is_timeout())
    }

    /// Whether it waits for its peer at `time`, and no timer ends that, but an acknowledgement.
    pub(super) fn is_ended_by_acknowledgement(&self, time: u64) -> bool {
        self.waits_for_peer(time) && self.timeout_after(time).is_none()
    }

    /// Whether it waits for an answer that was lost, at and after `time`: it has sent nothing since.
    pub(super) fn misses_answer(&self, time: u64) -> bool {
        let last = self.frames.last().map_or(0, |frame| frame.start);
        self.repeats && last <= time && self.lost_answers.range(last + 1..).next().is_some()
    }

    /// Its TCP has an acknowledgement.
    pub(super) fn note_acknowledged(&mut self, acknowledgement: Acknowledgement) {
        self.tcp.acknowledgement = Some(acknowledgement);
    }

    /// How it stands at `time`.
    pub(super) fn state(&self, time: u64) -> EndState {
        let next = self.states.partition_point(|&(since, _)| since <= time);
        let last = next.checked_sub(1).and_then(|index| self.states.get(index));
        last.map_or(EndState::QueuePair(Standing::NotConnected), |&(_, state)| state)
    }

    /// Every instant from `from` to `to` at which something changes here, and some before.
    pub(super) fn changes(&self, from: u64, to: u64) -> impl Iterator<Item = u64> + '_ {
        let next = self.states.partition_point(|&(since, _)| since <= from);
        let states = &self.states[next.saturating_sub(1)..];
        let states = states.iter().take_while(move |&&(since, _)| since < to);
        let states = states.flat_map(|&(since, state)| [since, state.release(since)]);
        let first = self.frames.partition_point(|frame| frame.start < from);
        let frames = self.frames[first..].iter().map(|frame| frame.start);
        states.chain(frames.take_while(move |&start| start < to))
    }

    /// The first acknowledgement after a time with which a sender of TCP went on.
    pub(super) fn acknowledgement_after(&self, time: u64) -> Option<&Acknowledgement> {
        let next = self.acknowledgements.partition_point(|one| one.through <= time);
        self.acknowledgements.get(next)
    }

    /// How it learnt of a loss after `after`, and not after `until`.
    pub(super) fn signal_between(&self, after: u64, until: u64) -> LossSignal {
        let next = self.signals.partition_point(|&(time, _)| time <= after);
        let signal = self.signals.get(next).filter(|&&(time, _)| time <= until);
        if let Some(&(_, signal)) = signal {
            return signal;
        }
        let sent = self.frames.partition_point(|frame| frame.start <= after);
        let sends = self.frames.get(sent).is_some_and(|frame| frame.start <= until);
        if sends { self.without_signal(until) } else { LossSignal::Unnoticed }
    }

    /// How it learnt of a loss of which no signal of its own tells, and sent again at `again`: during a
    /// recovery each acknowledgement of TCP may tell of more; of RDMA it is the answers that have a gap.
    fn without_signal(&self, again: u64) -> LossSignal {
        if !self.is_tcp {
            return LossSignal::Gap;
        }
        let recovers = self.signals.first().is_some_and(|&(time, _)| time <= again);
        if recovers { LossSignal::SelectiveAck } else { LossSignal::Unnoticed }
    }

    /// The time spent on frames that had to be sent again up to `until`, of the last one that left
    /// not after `from` and of all later ones.
    pub(super) fn vain(&self, network: View<'_>, from: u64, until: u64) -> Vain {
        // What was lost before may have made later ones vain.
        let open = self.losses.range(..=from).next().map_or(from, |(&left, _)| left);
        let first = self.frames.partition_point(|frame| frame.start <= open).saturating_sub(1);
        let end = self.frames.partition_point(|frame| frame.start <= until);
        let frames = &self.frames[first..end.max(first)];
        let mut losses = OpenLosses::default();
        let look = |(place, (frame, again)): (usize, (&SentFrame, Option<Again>))| {
            let start = frame.start;
            let is_missing = again.is_none() && self.is_missing(network, frame);
            losses.pass(place);
            let own = self.losses.get(&start).filter(|_| again.is_some() || is_missing);
            if let Some(&loss) = own {
                losses.add(place, loss, again);
            }
            let noticed = match again {
                Some(again) => Some(self.noticed(start, frames[again.first].start)),
                None => is_missing.then(|| self.signal_between(start, u64::MAX)),
            };
            let next = frames
                .get(again.map_or(place + 1, |again| again.first))
                .map_or(until, |next| next.start);
            let loss = losses.first().or_else(|| self.first_loss(start, next));
            VainFrame { start, noticed, loss }
        };
        let again = sent_again(frames).into_iter();
        Vain { frames: frames.iter().zip(again).enumerate().map(look).collect() }
    }

    /// The first frame of it that left after one time, and before another, and was lost; or else the
    /// first answer that was lost then.
    fn first_loss(&self, after: u64, before: u64) -> Option<Loss> {
        let first = |losses: &BTreeMap<u64, Loss>| {
            let (&time, &loss) = losses.range(after + 1..).next()?;
            (time < before).then_some(loss)
        };
        first(&self.losses).or_else(|| first(&self.lost_answers))
    }

    /// Nobody asks any longer for what was before `time` (picoseconds).
    pub(super) fn forget(&mut self, time: u64) {
        let states = self.states.partition_point(|&(since, _)| since <= time);
        self.states.drain(..states.saturating_sub(1));
        let frames = self.frames.partition_point(|frame| frame.start <= time);
        self.frames.drain(..frames.saturating_sub(1));
        let oldest = self.frames.first().map_or(time, |frame| frame.start.min(time));
        let signals = self.signals.partition_point(|&(noted, _)| noted < oldest);
        self.signals.drain(..signals);
        self.losses = self.losses.split_off(&oldest);
        self.lost_answers = self.lost_answers.split_off(&oldest);
        let acknowledgements = self.acknowledgements.partition_point(|one| one.through <= time);
        self.acknowledgements.drain(..acknowledgements);
    }

    /// How it learnt that a frame that left at `start` was lost, which left again at `again`.
    fn noticed(&self, start: u64, again: u64) -> LossSignal {
        let next = self.signals.partition_point(|&(time, _)| time <= again);
        let signal = next.checked_sub(1).and_then(|index| self.signals.get(index));
        match signal.filter(|&&(time, _)| time >= start) {
            Some(&(_, signal)) => signal,
            None => self.without_signal(again),
        }
    }
}

/// Whether a limit of what is unacknowledged is meant.
pub(super) const fn is_limit(what: Category) -> bool {
    matches!(
        what,
        Category::Window | Category::ReceiveWindow | Category::PacketLimit | Category::ReadLimit
    )
}

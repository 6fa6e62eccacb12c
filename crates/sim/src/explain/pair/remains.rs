//! What the end of the run finds of two ends: their packets that are under way, and what is missing.

use std::rc::Rc;

use rocelab_wire::Psn;

use super::{DESTINATION, Pair, PairEnd, SOURCE};
use crate::explain::category::Category;
use crate::explain::course::Stands;
use crate::explain::delivery::queue_pair;
use crate::explain::end_state::WaitsFor;
use crate::explain::sent_frames::{PacketKind, Sent, SentFrame};
use crate::explain::trail::Trail;
use crate::network::watch::View;

/// What there is of a pair.
pub(crate) struct Remains<'a> {
    network: View<'a>,
    pair: &'a Pair,
    /// When the run ended, or the source gave up (picoseconds).
    now: u64,
    under_way: &'a [Rc<Trail>],
    /// By end: what it has to send again, in the order in which it left.
    to_repeat: [Vec<SentFrame>; 2],
}

/// The packets of what an end has posted: from one PSN to before another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub(crate) first: Psn,
    pub(crate) end: Psn,
}

/// Which packets of a pair are looked at.
#[derive(Clone, Copy)]
enum Scope {
    All,
    /// Those of one operation.
    Own(Posted),
    /// Those, and all in front of them.
    InFront(Posted),
}

impl Scope {
    const fn has(self, psn: u32) -> bool {
        let psn = Psn::new(psn);
        match self {
            Self::All => true,
            Self::Own(posted) => !psn.is_before(posted.first) && psn.is_before(posted.end),
            Self::InFront(posted) => psn.is_before(posted.end),
        }
    }

    /// Whether the acknowledgement of a packet acknowledges some of them: those before it too.
    const fn is_acknowledged_with(self, psn: u32) -> bool {
        match self {
            Self::Own(posted) => !Psn::new(psn).is_before(posted.first),
            Self::All | Self::InFront(_) => true,
        }
    }
}

impl<'a> Remains<'a> {
    pub(crate) fn new(
        network: View<'a>,
        pair: &'a Pair,
        now: u64,
        under_way: &'a [Rc<Trail>],
    ) -> Self {
        let to_repeat = [SOURCE, DESTINATION].map(|end| pair.ends[end].log.to_repeat(network));
        Self { network, pair, now, under_way, to_repeat }
    }

    /// How far that has come which an end has posted: all of it, or one operation's part.
    pub(crate) fn stands(&self, sender: usize, posted: Option<Posted>) -> Stands {
        let Some(oldest) = self.oldest(sender, posted) else {
            let is_nowhere = posted.is_some() || self.is_empty();
            return if is_nowhere { Stands::Nowhere } else { Stands::AtSender };
        };
        match self.first_to_repeat(sender, posted) {
            Some(left) if left < oldest.begun() => Stands::AtSender,
            _ => Stands::At(Rc::clone(oldest)),
        }
    }

    /// The oldest packet that is waited for, at one end or on its way. An operation waits for its own,
    /// and if there is none of them, for what is in front.
    fn oldest(&self, sender: usize, posted: Option<Posted>) -> Option<&'a Rc<Trail>> {
        let waits = self.waits_for_peer(sender, posted);
        let last = |scope: Scope| waits.then(|| self.unanswered(sender, scope)).flatten();
        let waiting = |scope: Scope| waits.then(|| self.to_be_answered(sender, scope)).flatten();
        let oldest = |scope: Scope, waiting: Option<&'a Rc<Trail>>| {
            let all = self.on_their_way(sender, scope).chain(waiting);
            all.min_by_key(|trail| trail.begun())
        };
        let Some(posted) = posted else {
            return oldest(Scope::All, waiting(Scope::All).or_else(|| last(Scope::All)));
        };
        let (own, in_front) = (Scope::Own(posted), Scope::InFront(posted));
        let front = || oldest(in_front, waiting(in_front));
        oldest(own, waiting(own)).or_else(front).or_else(|| last(own))
    }

    /// Whether what an end waits for is the other one's business.
    fn waits_for_peer(&self, sender: usize, posted: Option<Posted>) -> bool {
        let is_sent = |posted: Posted| {
            let next = self.send_psns(sender).map(|(_, next)| Psn::new(next));
            next.is_some_and(|next| !next.is_before(posted.end))
        };
        self.pair.ends[sender].log.waits_for_peer(self.now) || posted.is_some_and(is_sent)
    }

    /// Packets of an end, and what answers them.
    fn on_their_way(&self, sender: usize, scope: Scope) -> impl Iterator<Item = &'a Rc<Trail>> {
        let (own, other) = (&self.pair.ends[sender].log, &self.pair.ends[1 - sender].log);
        let is_part = move |trail: &&Rc<Trail>| {
            let from = trail.hops.first().map(|hop| hop.port);
            if trail.carries_data && !trail.is_result {
                return from == Some(own.port) && scope.has(trail.number);
            }
            let Some(answered) = trail.answers.as_ref().filter(|_| !own.is_tcp) else {
                return false;
            };
            let asked = answered.request.number;
            let is_meant =
                if trail.is_result { scope.has(asked) } else { scope.is_acknowledged_with(asked) };
            from == Some(other.port) && is_meant
        };
        self.under_way.iter().filter(is_part)
    }

    /// What has arrived at the other end, which has its answer ready, or to send.
    fn to_be_answered(&self, sender: usize, scope: Scope) -> Option<&'a Rc<Trail>> {
        let other = &self.pair.ends[1 - sender];
        if let Some(stack) = &other.stack {
            return stack.first_inbound();
        }
        let mut ready = other.to_answer.iter().map(|answered| &answered.request);
        let ready = ready.find(|request| scope.is_acknowledged_with(request.number));
        ready.or_else(|| self.to_be_served(sender, other, scope))
    }

    /// The request for the READ data, or the result, that is needed next, if the other end has that
    /// still to send.
    fn to_be_served(
        &self,
        sender: usize,
        other: &'a PairEnd,
        scope: Scope,
    ) -> Option<&'a Rc<Trail>> {
        let (oldest, _) = self.send_psns(sender)?;
        let needed = match scope {
            Scope::Own(posted) if Psn::new(oldest).is_before(posted.first) => posted.first.value(),
            Scope::All | Scope::Own(_) | Scope::InFront(_) => oldest,
        };
        let request = other.request_for(needed).filter(|_| scope.has(needed))?;
        let is_idle =
            other.log.state(self.now).waits_for(self.now) == WaitsFor::Only(Category::Idle);
        let is_served = other.log.has_answered_since(needed, request.ready);
        (!is_idle && !is_served).then_some(&request.request)
    }

    /// What has arrived last at the other end, if that has answered nothing since.
    fn unanswered(&self, sender: usize, scope: Scope) -> Option<&'a Rc<Trail>> {
        let other = &self.pair.ends[1 - sender];
        let is_new = |last: &&Rc<Trail>| {
            let arrived = last.arrived();
            other.answered.is_none_or(|time| time < arrived)
                && !(self.pair.asks_for_result(1 - sender, last)
                    && other.log.has_answered_since(last.number, arrived))
        };
        let last = other.last_request.as_ref().filter(is_new);
        last.filter(|last| scope.is_acknowledged_with(last.number))
    }

    /// When the first frame left that has to be sent again before all is there: of an end itself also
    /// what is in front, of the other end only what answers.
    fn first_to_repeat(&self, sender: usize, posted: Option<Posted>) -> Option<u64> {
        let (in_front, own) =
            posted.map_or((Scope::All, Scope::All), |one| (Scope::InFront(one), Scope::Own(one)));
        let is_meant = |frame: &&SentFrame| match frame.what {
            Sent::Packet { kind: PacketKind::Result, .. } => false,
            Sent::Packet { psn, .. } => in_front.has(psn),
            Sent::Payload { .. } => true,
        };
        let answers = |frame: &&SentFrame| match frame.what {
            Sent::Packet { kind: PacketKind::Result, psn } => own.has(psn),
            Sent::Packet { .. } | Sent::Payload { .. } => false,
        };
        let first = self.to_repeat[sender].iter().find(is_meant);
        let answer = self.to_repeat[1 - sender].iter().find(answers);
        first.into_iter().chain(answer).map(|frame| frame.start).min()
    }

    /// Whether nothing is anywhere.
    fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.pair.ends.iter().all(PairEnd::has_empty_stack)
    }

    /// The PSNs of the oldest packet of an end that is not acknowledged, and of the next to send.
    fn send_psns(&self, end: usize) -> Option<(u32, u32)> {
        let log = &self.pair.ends[end].log;
        Some(queue_pair(self.network, (log.node, log.number))?.send_psns())
    }
}

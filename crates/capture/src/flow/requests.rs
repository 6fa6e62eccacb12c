//! The requests of one direction: their PSNs, and which of them are missing or repeated.

use std::collections::VecDeque;
use std::time::Duration;

use rocelab_wire::{Opcode, Psn};

use super::damaged::Damaged;
use super::missing::{Gap, Missing};
use super::mtu::{PathMtus, packets};
use super::novelty::Novelty;
use super::position::{Position, Step};
use crate::fault::Fault;
use crate::observation::Observation;

/// Distance of PSNs above which a requester is taken to start a new sequence: more than any window,
/// far less than the 2^23 of the standard.
const FARTHEST: u32 = 1 << 16;

/// Number of reads that are remembered, to find responses without a request.
const READS: usize = 64;

/// Number of messages that are remembered until they are acknowledged.
const WAITING: usize = 128;

/// Number of packets whose time is remembered until they are acknowledged; further ones are not
/// measured.
const TIMED: usize = 32;

/// A request packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) step: Step,
    pub(super) psn: Psn,
    pub(super) time: Duration,
    /// Whether an answer to this very packet is expected.
    pub(super) answered: bool,
}

/// The result of observing a request packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requested {
    pub(super) novelty: Novelty,
    /// Whether it ends a message that was not sent before.
    pub(super) ends_message: bool,
    /// The frame that answered it before it was seen.
    pub(super) answered_by: Option<u64>,
}

/// What a response shows about requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    /// The time from the acknowledged packet to this response.
    pub(super) time: Option<Duration>,
    /// Missing packets that the response acknowledges, and that the receiver had not reported.
    pub(super) unseen: Option<Gap>,
}

/// An RDMA READ.
#[derive(Clone, Copy, Debug)]
struct Read {
    start: Psn,
    /// Requested length in bytes; `None` if the capture ends before it.
    len: Option<u32>,
}

impl Read {
    /// The read in a request, if it is one.
    fn asked_for_by(request: &Request) -> Option<Self> {
        let is_read = request.step.opcode.is_rdma_read_request();
        is_read.then_some(Self { start: request.psn, len: request.step.announced })
    }

    /// The least and the greatest number of PSNs that it takes.
    fn packets(&self, mtus: PathMtus) -> (u32, u32) {
        self.len.map_or((1, FARTHEST), |len| mtus.packets(len))
    }
}

/// The requests of one direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Requests {
    started: bool,
    mtus: PathMtus,
    /// The first PSN.
    first: Psn,
    /// The PSN of the last packet.
    last: Psn,
    /// The PSN that is expected after the last packet, unless that was a read of unknown length.
    next: Psn,
    /// The last packet, if it was a read whose number of PSNs is not known yet.
    open_read: Option<Read>,
    /// The latest that was sent.
    frontier: Frontier,
    /// PSNs of packets with a wrong checksum.
    damaged: Damaged,
    position: Position,
    missing: Missing,
    /// The first PSN that is not acknowledged. It has no meaning before the first response.
    unacknowledged: Psn,
    reads: VecDeque<Read>,
    /// The last PSNs of messages that are not acknowledged.
    messages: VecDeque<Psn>,
    /// PSNs and times of packets that ask for an acknowledgement.
    sent: VecDeque<(Psn, Duration)>,
    /// A PSN that was answered before it was seen, and the number of the answering frame.
    early: Option<(Psn, u64)>,
}

/// Behind the latest packet that was sent.
#[derive(Debug, Default)]
struct Frontier {
    /// The next PSN.
    psn: Psn,
    /// The position there.
    position: Position,
}

/// The place of a packet's PSN among the others.
enum Place {
    Next,
    /// After a gap of so many PSNs.
    Ahead(u32),
    Behind,
    Elsewhere,
}

impl Requests {
    pub(super) const fn started(&self) -> bool {
        self.started
    }

    /// Whether the response `psn` can answer one of these requests.
    pub(super) fn contains(&self, psn: Psn) -> bool {
        self.started && !psn.is_before(self.first) && psn.is_before(self.limit())
    }

    /// Whether a packet with this PSN was seen, as far as is remembered.
    pub(super) fn holds(&self, psn: Psn) -> bool {
        self.contains(psn) && !self.missing.contains(psn)
    }

    /// Whether these contain the first PSN of `other`.
    pub(super) fn began_with(&self, other: &Self) -> bool {
        self.contains(other.first)
    }

    /// Whether `psn` is after all requests so far.
    pub(super) fn is_unsent(&self, psn: Psn) -> bool {
        !psn.is_before(self.limit())
    }

    /// The PSN after the last request.
    pub(super) fn limit(&self) -> Psn {
        match self.open_read {
            Some(read) if self.frontier.psn == self.next => {
                read.start.wrapping_add(read.packets(self.mtus).1)
            }
            _ => self.frontier.psn,
        }
    }

    /// Whether a packet with this PSN and opcode would continue the message that has begun.
    pub(super) fn would_continue(&self, psn: Psn, opcode: Opcode) -> bool {
        self.started && self.next == psn && self.position.continues_with(opcode)
    }

    /// Number of missing PSNs.
    pub(super) fn missing(&self) -> u64 {
        self.missing.count()
    }

    /// Number of messages that are not acknowledged; at most [`WAITING`] are counted.
    pub(super) fn unacknowledged_messages(&self) -> usize {
        self.messages.len()
    }

    /// Number of PSNs that are not acknowledged.
    pub(super) fn unacknowledged_psns(&self) -> u32 {
        self.frontier.psn.distance_from(self.unacknowledged).max(0).unsigned_abs()
    }

    /// Takes the next packet.
    pub(super) fn observe(
        &mut self,
        request: &Request,
        faults: &mut Vec<Fault>,
        observations: &mut Vec<Observation>,
    ) -> Requested {
        let psn = request.psn;
        if !self.started {
            self.start(psn);
        }
        let novelty = self.find_place(request, observations);
        let again = novelty != Novelty::New;
        let answered_by = self.answered_by(psn);
        self.position.step(&request.step, faults);
        self.learn_mtu(&request.step);

        let read = self.read(request);
        let (least, most) = read.map_or((1, 1), |read| read.packets(self.mtus));
        self.last = psn;
        self.next = psn.wrapping_add(least);
        self.open_read = read.filter(|_| least < most);
        if again {
            // The packet was sent twice, so it is unknown which of the two an answer belongs to.
            while self.sent.back().is_some_and(|(sent, _)| !sent.is_before(psn)) {
                self.sent.pop_back();
            }
        }
        let ends = request.step.opcode.is_last() || request.step.opcode.is_only();
        if self.next.is_after(self.frontier.psn) || !again {
            self.frontier.psn = self.next;
            self.frontier.position = self.position;
        }
        if !again {
            if request.answered && self.sent.len() < TIMED {
                self.sent.push_back((psn, request.time));
            }
            if ends {
                remember(&mut self.messages, self.next.wrapping_sub(1), WAITING);
            }
        }
        let ends_message = ends && novelty != Novelty::Again;
        Requested { novelty, ends_message, answered_by }
    }

    /// Records that frame `number` answers a PSN that no request had yet.
    pub(super) fn answered_early(&mut self, psn: Psn, number: u64) {
        if self.early.is_none_or(|(early, _)| psn.is_before(early)) {
            self.early = Some((psn, number));
        }
    }

    /// If the requests now reach a PSN that was answered earlier, without a gap, then it was
    /// answered before it was sent. A gap before it means that the capture does not have all
    /// requests.
    fn answered_by(&mut self, psn: Psn) -> Option<u64> {
        let (early, number) = self.early?;
        let is_whole = self.missing.is_empty();
        if !is_whole || early == psn {
            self.early = None;
        }
        (is_whole && early == psn).then_some(number)
    }

    fn start(&mut self, psn: Psn) {
        self.started = true;
        (self.first, self.next, self.frontier.psn, self.unacknowledged) = (psn, psn, psn, psn);
        (self.position, self.frontier.position, self.open_read) =
            (Position::Unknown, Position::Unknown, None);
        self.missing.clear();
        self.damaged = Damaged::default();
        self.reads.clear();
        self.messages.clear();
        self.sent.clear();
        self.early = None;
    }

    /// Takes a packet with a wrong checksum; `read` is the length in bytes that it asks for, if it is a read.
    pub(super) fn note_damaged(&mut self, psn: Psn, read: Option<u32>) {
        let count = read.map_or(1, |len| self.mtus.packets(len).0);
        self.damaged.add(psn, count);
    }

    /// Compares the request with the packets before.
    fn find_place(&mut self, request: &Request, observations: &mut Vec<Observation>) -> Novelty {
        let psn = request.psn;
        match self.place(psn) {
            Place::Next if psn == self.frontier.psn => return Novelty::New,
            Place::Next => {}
            Place::Ahead(count) => {
                let first = psn.wrapping_sub(count);
                for part in self.damaged.split(first, count) {
                    self.missing.add(part);
                    observations.extend(part.observation());
                }
                self.position = Position::Unknown;
                return Novelty::New;
            }
            Place::Behind if psn == self.frontier.psn => {
                self.position = self.frontier.position;
                return Novelty::New;
            }
            Place::Behind => self.position = Position::Unknown,
            Place::Elsewhere => {
                observations.push(Observation::NewSequence { psn });
                self.start(psn);
                return Novelty::New;
            }
        }
        // A read also takes the PSNs of its responses.
        let read = Read::asked_for_by(request);
        let count = read.map_or(1, |read| read.packets(self.mtus).1);
        if self.missing.fill(psn, count) {
            observations.push(Observation::FillsGap { psn });
            return Novelty::Late;
        }
        observations.push(if psn == self.last {
            Observation::Duplicate { psn }
        } else {
            Observation::Retransmission { psn }
        });
        Novelty::Again
    }

    fn place(&mut self, psn: Psn) -> Place {
        if let Some(read) = self.open_read {
            let count = psn.distance_from(read.start).max(0).unsigned_abs();
            let can_be = match read.len {
                Some(len) => count > 0 && self.mtus.keep(|mtu| packets(len, mtu) == count),
                // The requested length is unknown, so the read may take all PSNs that were skipped.
                None => (1..=FARTHEST).contains(&count),
            };
            if can_be {
                self.open_read = None;
                if self.frontier.psn == self.next {
                    self.frontier.psn = psn;
                }
                self.next = psn;
                if read.len.is_none() && count > 1 {
                    // Or it took fewer, and others are missing, or not sent again.
                    self.position = Position::Unknown;
                }
            }
        }
        let ahead = psn.distance_from(self.next);
        if ahead == 0 {
            return Place::Next;
        }
        if ahead.unsigned_abs()
            > FARTHEST + self.frontier.psn.distance_from(self.next).unsigned_abs()
        {
            return Place::Elsewhere;
        }
        match psn.distance_from(self.frontier.psn) {
            skipped @ 1.. => Place::Ahead(skipped.unsigned_abs()),
            _ => Place::Behind,
        }
    }

    fn learn_mtu(&mut self, step: &Step) {
        if step.opcode.is_first() || step.opcode.is_middle() {
            self.learn_path_mtu(step.len);
        } else if let Some(len @ 1..) = step.len {
            self.mtus.keep(|mtu| usize::from(mtu) >= len);
        }
    }

    /// Learns from a packet of this connection that was filled with so many bytes.
    pub(super) fn learn_path_mtu(&mut self, len: Option<usize>) {
        let Some(len) = len.filter(|&len| PathMtus::is_path_mtu(len)) else { return };
        self.mtus.learn(len);
        if let (Some(read), Some(mtu)) = (self.open_read, self.mtus.known())
            && let Some(len) = read.len
        {
            let next = read.start.wrapping_add(packets(len, mtu));
            if self.frontier.psn == self.next {
                self.frontier.psn = next;
            }
            self.next = next;
            self.open_read = None;
        }
    }

    /// The read in a request, if it is one; it is remembered.
    fn read(&mut self, request: &Request) -> Option<Read> {
        let read = Read::asked_for_by(request)?;
        remember(&mut self.reads, read, READS);
        Some(read)
    }

    /// Whether a read starts with this PSN. Its length may be unknown.
    pub(super) fn reads_from(&self, psn: Psn) -> bool {
        self.reads.iter().any(|read| read.start == psn)
    }

    /// The length in bytes of the read that starts with this PSN, if it is known.
    pub(super) fn read_length_from(&self, psn: Psn) -> Option<u32> {
        self.reads.iter().rev().find(|read| read.start == psn).and_then(|read| read.len)
    }

    /// Whether no read can have this response, as far as is remembered.
    pub(super) fn reads_nothing_at(&self, psn: Psn) -> bool {
        let forgotten =
            self.reads.len() == READS && self.reads.iter().all(|read| psn.is_before(read.start));
        let covers = |read: &Read| {
            let most = read.packets(self.mtus).1;
            !psn.is_before(read.start) && psn.is_before(read.start.wrapping_add(most))
        };
        !forgotten
            && !psn.is_before(self.first)
            && !self.missing.contains(psn)
            && !self.reads.iter().any(covers)
    }

    /// Records that a response acknowledges everything up to `psn`.
    pub(super) fn acknowledge(&mut self, psn: Psn, time: Duration) -> Acknowledged {
        if !psn.is_before(self.unacknowledged) {
            self.unacknowledged = psn.wrapping_add(1);
        }
        while self.messages.front().is_some_and(|last| !last.is_after(psn)) {
            self.messages.pop_front();
        }
        let unseen = self.missing.acknowledge(psn);
        let mut newest = None;
        while let Some(sent) = self.sent.front().copied()
            && !sent.0.is_after(psn)
        {
            self.sent.pop_front();
            newest = Some(sent);
        }
        let sent = newest.filter(|(sent, _)| *sent == psn);
        Acknowledged { time: sent.and_then(|(_, sent)| time.checked_sub(sent)), unseen }
    }

    /// Records that a NAK reports `psn` as missing, or refuses it.
    pub(super) fn refuse(&mut self, psn: Psn) {
        self.missing.report(psn);
    }
}

/// Appends a value, and forgets the oldest if there are more than `limit`.
fn remember<T>(queue: &mut VecDeque<T>, value: T, limit: usize) {
    if queue.len() == limit {
        queue.pop_front();
    }
    queue.push_back(value);
}

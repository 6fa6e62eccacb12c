//! What a responder has to send: READ data and atomic results, and acknowledgements that must not
//! overtake them.

use std::collections::VecDeque;
use std::ops::Range;

use rocelab_wire::{NakCode, Opcode, Sack, Syndrome};

use crate::Packet;
use crate::queue_pair::message::{Segmentation, read_response_opcode};
use crate::sequence::{Sequence, psn};

/// READs that come again and are kept at once; a requester that has lost more asks again.
const MAX_REPEATS: u32 = 1024;

/// In the order in which they leave. A READ is always first: what has no READ before it does not
/// wait.
#[derive(Debug)]
pub(super) struct Answers {
    waiting: VecDeque<Waiting>,
    /// READs among them that are answered for the first time.
    reads: u32,
    /// The others.
    repeats: u32,
    /// READ responses below this were sent at least once.
    responded: Sequence,
    dest_qp: u32,
    segmentation: Segmentation,
}

rocelab_state::state!(Answers {
    values: waiting, reads, repeats, responded;
    kept: dest_qp, segmentation
});

#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
enum Waiting {
    Read(ReadResponse),
    Acknowledge(Acknowledge),
    Detailed(Detailed),
}

impl Waiting {
    /// What waits is in the order of these, but where a READ that is repeated in part has gone past
    /// the rest of the same READ, or a message begins anew (go-back-0).
    const fn sequence(&self) -> Sequence {
        match self {
            Self::Read(read) => read.next,
            Self::Acknowledge(acknowledge) => acknowledge.sequence,
            Self::Detailed(detailed) => detailed.acknowledge.sequence,
        }
    }
}

/// A READ that is being answered.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct ReadResponse {
    first: Sequence,
    next: Sequence,
    end: Sequence,
    /// Payload still to send (bytes).
    remaining: u32,
    /// Where it is.
    address: u64,
    msn: u32,
    /// Whether it was answered before, in part at least.
    again: bool,
}

/// A READ response packet that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue_pair) struct ReadData {
    pub(in crate::queue_pair) packet: Packet,
    /// Where its payload is.
    pub(in crate::queue_pair) address: u64,
    /// Whether it is the last of its READ.
    pub(in crate::queue_pair) last: bool,
    /// Whether it was sent before.
    pub(in crate::queue_pair) repeated: bool,
}

/// An acknowledgement, positive or negative.
///
/// It fits two registers: what says more than that is a [`Detailed`] one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(in crate::queue_pair) struct Acknowledge {
    pub(in crate::queue_pair) sequence: Sequence,
    pub(in crate::queue_pair) syndrome: Syndrome,
    pub(super) msn: u32,
}

/// An acknowledgement with more than an AETH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(in crate::queue_pair) struct Detailed {
    pub(super) acknowledge: Acknowledge,
    pub(super) detail: Detail,
}

/// What an acknowledgement says beyond its AETH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) enum Detail {
    /// What was in memory before the atomic operation.
    Original(u64),
    /// What arrived behind a gap.
    Arrived(Sack),
}

/// An acknowledgement that no longer waits for READ data.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue_pair) enum Released {
    Plain(Acknowledge),
    Detailed(Detailed),
}

impl Acknowledge {
    #[inline]
    pub(in crate::queue_pair) const fn packet(&self, dest_qp: u32) -> Packet {
        self.packet_of(Opcode::RcAcknowledge, dest_qp)
    }

    #[inline]
    const fn packet_of(&self, opcode: Opcode, dest_qp: u32) -> Packet {
        Packet::new(opcode, dest_qp, psn(self.sequence)).with_aeth(self.syndrome, self.msn)
    }

    /// Whether the responder fails with it.
    pub(in crate::queue_pair) const fn is_fatal(&self) -> bool {
        match self.syndrome {
            Syndrome::Nak(code) => !matches!(code, NakCode::PsnSequenceError),
            _ => false,
        }
    }

    /// Whether a later one says all that it says.
    pub(super) fn is_positive(&self) -> bool {
        self.syndrome == Syndrome::ACK
    }
}

impl Detailed {
    pub(in crate::queue_pair) const fn packet(&self, dest_qp: u32) -> Packet {
        let acknowledge = &self.acknowledge;
        match self.detail {
            Detail::Original(original) => acknowledge
                .packet_of(Opcode::RcAtomicAcknowledge, dest_qp)
                .with_atomic_ack_eth(original),
            Detail::Arrived(sack) => {
                acknowledge.packet_of(Opcode::RcSelectiveAcknowledge, dest_qp).with_sack(sack)
            }
        }
    }

    /// Whether it says what arrived behind a gap.
    pub(in crate::queue_pair) const fn is_selective(&self) -> bool {
        matches!(self.detail, Detail::Arrived(_))
    }
}

impl Answers {
    pub(super) const fn new(first: Sequence, dest_qp: u32, segmentation: Segmentation) -> Self {
        Self {
            waiting: VecDeque::new(),
            reads: 0,
            repeats: 0,
            responded: first,
            dest_qp,
            segmentation,
        }
    }

    /// Whether something waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// READs that are not answered completely, for the first time.
    pub(super) const fn reads(&self) -> u32 {
        self.reads
    }

    /// A READ of `length` bytes at `address`, whose response takes the sequence numbers from
    /// `first` to before `end`.
    pub(super) fn push_read(
        &mut self,
        first: Sequence,
        end: Sequence,
        length: u32,
        address: u64,
        msn: u32,
    ) {
        let read =
            ReadResponse { first, next: first, end, remaining: length, address, msn, again: false };
        self.waiting.push_back(Waiting::Read(read));
        self.reads += 1;
    }

    /// The acknowledgement, if nothing is before it; otherwise it waits, and says so by `None`. It
    /// must not overtake the data of earlier READs, which it would acknowledge.
    #[inline]
    pub(super) fn in_order(&mut self, acknowledge: Acknowledge) -> Option<Acknowledge> {
        if self.waiting.is_empty() {
            return Some(acknowledge);
        }
        match self.waiting.back_mut() {
            Some(Waiting::Acknowledge(last)) if last.is_positive() && acknowledge.is_positive() => {
                *last = acknowledge;
            }
            _ => self.waiting.push_back(Waiting::Acknowledge(acknowledge)),
        }
        None
    }

    /// Like [`in_order`](Self::in_order), of one with more than an AETH, which none replaces. That of
    /// an atomic operation that comes again goes before all that is later.
    pub(super) fn detailed_in_order(&mut self, detailed: Detailed) -> Option<Detailed> {
        let place = match detailed.detail {
            Detail::Original(_) => self.place_before(detailed.acknowledge.sequence + 1),
            Detail::Arrived(_) => self.waiting.len(),
        };
        if place == 0 {
            return Some(detailed);
        }
        self.waiting.insert(place, Waiting::Detailed(detailed));
        None
    }

    /// The place before the first that waits with `sequence` or a later one.
    fn place_before(&self, sequence: Sequence) -> usize {
        // Not a binary search: see `Waiting::sequence`.
        let found = self.waiting.iter().position(|waiting| waiting.sequence() >= sequence);
        found.unwrap_or(self.waiting.len())
    }

    /// The next READ response packet.
    #[inline]
    pub(super) fn take(&mut self) -> Option<ReadData> {
        let Some(Waiting::Read(read)) = self.waiting.front_mut() else { return None };
        let last = read.next + 1 == read.end;
        let opcode = read_response_opcode(read.next == read.first, last);
        let payload = self.segmentation.payload(read.remaining);
        let mut packet =
            Packet::new(opcode, self.dest_qp, psn(read.next)).with_payload_len(payload);
        if opcode.has_aeth() {
            packet = packet.with_aeth(Syndrome::ACK, read.msn);
        }
        let address = read.address;
        let repeated = read.next < self.responded;
        read.next += 1;
        self.responded = self.responded.max(read.next);
        read.remaining -= u32::from(payload);
        read.address = address.wrapping_add(u64::from(payload));
        if last {
            let done = *read;
            self.waiting.pop_front();
            self.uncount(&done);
        }
        Some(ReadData { packet, address, last, repeated })
    }

    /// The next acknowledgement that no longer waits for READ data.
    pub(super) fn take_released(&mut self) -> Option<Released> {
        let released = match *self.waiting.front()? {
            Waiting::Read(_) => return None,
            Waiting::Acknowledge(acknowledge) => Released::Plain(acknowledge),
            Waiting::Detailed(detailed) => Released::Detailed(detailed),
        };
        self.waiting.pop_front();
        Some(released)
    }

    /// A READ that comes again, for `packets` of its response. It goes before all that is later,
    /// which its requester cannot use without it (or, with selective repeat, has less need of); what
    /// of it waits already is not sent twice.
    pub(super) fn repeat_read(
        &mut self,
        packets: Range<Sequence>,
        length: u32,
        address: u64,
        msn: u32,
    ) {
        let Range { start: first, end } = packets;
        let covers = |waiting: &Waiting| match waiting {
            Waiting::Read(read) => read.next <= first && end <= read.end,
            Waiting::Acknowledge(_) | Waiting::Detailed(_) => false,
        };
        if self.repeats >= MAX_REPEATS || self.waiting.iter().any(covers) {
            return;
        }
        let place = self.place_before(first);
        if let Some(&Waiting::Read(read)) = self.waiting.get(place)
            && read.end <= end
        {
            self.waiting.remove(place);
            self.uncount(&read);
        }
        self.repeats += 1;
        let again = true;
        let read = ReadResponse { first, next: first, end, remaining: length, address, msn, again };
        self.waiting.insert(place, Waiting::Read(read));
    }

    const fn uncount(&mut self, read: &ReadResponse) {
        let count = if read.again { &mut self.repeats } else { &mut self.reads };
        *count -= 1;
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        (self.reads, self.repeats) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: u32 = 1024;

    fn answers() -> Answers {
        Answers::new(100, 7, Segmentation::new(crate::PathMtu::try_from(1024).unwrap()))
    }

    /// A READ of which every packet is full.
    fn read(answers: &mut Answers, packets: Range<Sequence>) {
        let length = PAYLOAD * u32::try_from(packets.end - packets.start).unwrap();
        answers.push_read(packets.start, packets.end, length, 0, 1);
    }

    fn again(answers: &mut Answers, packets: Range<Sequence>) {
        let length = PAYLOAD * u32::try_from(packets.end - packets.start).unwrap();
        answers.repeat_read(packets, length, 0, 1);
    }

    fn atomic(sequence: Sequence) -> Detailed {
        let acknowledge = Acknowledge { sequence, syndrome: Syndrome::ACK, msn: 1 };
        Detailed { acknowledge, detail: Detail::Original(9) }
    }

    /// All that waits, in the order in which it leaves.
    fn drain(answers: &mut Answers) -> Vec<Sequence> {
        let mut sent = Vec::new();
        while !answers.is_empty() {
            while let Some(data) = answers.take() {
                sent.push(Sequence::from(data.packet.psn()));
            }
            while let Some(released) = answers.take_released() {
                sent.push(match released {
                    Released::Plain(acknowledge) => acknowledge.sequence,
                    Released::Detailed(detailed) => detailed.acknowledge.sequence,
                });
            }
        }
        sent
    }

    #[test]
    fn the_result_of_an_atomic_that_comes_again_waits_for_earlier_reads_only() {
        let mut answers = answers();
        read(&mut answers, 100..102);
        assert_eq!(answers.detailed_in_order(atomic(102)), None);
        read(&mut answers, 103..105);
        assert_eq!(answers.detailed_in_order(atomic(102)), None);
        assert_eq!(drain(&mut answers), [100, 101, 102, 102, 103, 104]);

        read(&mut answers, 103..105);
        assert_eq!(answers.detailed_in_order(atomic(102)), Some(atomic(102)), "nothing before it");
    }

    /// What arrived behind a gap is told behind the NAK of that gap.
    #[test]
    fn what_arrived_behind_a_gap_comes_last() {
        let mut answers = answers();
        read(&mut answers, 100..102);
        let nak =
            Acknowledge { sequence: 102, syndrome: Syndrome::RnrNak { timer_code: 3 }, msn: 1 };
        assert_eq!(answers.in_order(nak), None);
        let acknowledge = Acknowledge { sequence: 101, syndrome: Syndrome::ACK, msn: 1 };
        let arrived = Detailed { acknowledge, detail: Detail::Arrived(Sack::default()) };
        assert_eq!(answers.detailed_in_order(arrived), None);
        assert_eq!(drain(&mut answers), [100, 101, 102, 101]);
    }

    /// A deque's halves in memory must not tell in what order things leave: a search by halves would
    /// look at one or the other.
    #[test]
    fn where_a_read_comes_again_does_not_depend_on_where_things_are_in_memory() {
        for rotated in 0..16 {
            let mut answers = answers();
            for _ in 0..rotated {
                read(&mut answers, 100..101);
                answers.take();
            }
            read(&mut answers, 100..110);
            for _ in 0..9 {
                answers.take();
            }
            again(&mut answers, 105..106);
            again(&mut answers, 107..108);
            // It goes past those two, and past the READ itself, whose next is 109.
            again(&mut answers, 100..109);
            for _ in 0..8 {
                answers.take();
            }
            again(&mut answers, 108..110);
            assert_eq!(drain(&mut answers), [108, 109, 107, 109], "{rotated}");
        }
    }
}

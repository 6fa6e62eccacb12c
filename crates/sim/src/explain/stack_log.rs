//! What one end of a TCP connection takes in through its host's stack, and how it answers.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use rocelab_fabric::NodeId;
use rocelab_transport::tcp::TcpSegment;
use rocelab_units::SimTime;

use super::trail::{Answered, Trail};
use crate::network::watch::View;

/// One end of a TCP connection.
#[derive(Debug)]
pub(super) struct StackLog {
    /// Payload that is to arrive here (bytes); 0 at the source.
    expected: u64,
    numbering: Numbering,
    /// Segments between the wire and the protocol, in order.
    inbound: VecDeque<Inbound>,
    received: Received,
    /// The segment with which all payload was there.
    completed_by: Option<Rc<Trail>>,
    /// The last segment that came through the stack, and when.
    last: Option<(Rc<Trail>, u64)>,
    /// Acknowledgements that are made and have not left.
    to_leave: VecDeque<Rc<Answered>>,
    waiting: u32,
}

#[derive(Debug)]
struct Inbound {
    trail: Rc<Trail>,
    segment: TcpSegment,
    /// When the protocol has it (picoseconds).
    through: u64,
}

impl StackLog {
    /// The end of a connection whose first byte has this sequence number.
    pub(super) fn new(first: u32, expected: u64) -> Self {
        Self {
            expected,
            numbering: Numbering { first, highest: 0 },
            inbound: VecDeque::new(),
            received: Received::default(),
            completed_by: None,
            last: None,
            to_leave: VecDeque::new(),
            waiting: 0,
        }
    }

    /// The part of the stream that a segment brings which leaves here.
    pub(super) fn part_of(&mut self, segment: &TcpSegment) -> (u64, u64) {
        self.numbering.part_of(segment)
    }

    /// A segment has arrived at the host, and is through the stack at a time (picoseconds).
    pub(super) fn note_arrived(&mut self, trail: &Rc<Trail>, segment: TcpSegment, through: u64) {
        self.inbound.push_back(Inbound { trail: Rc::clone(trail), segment, through });
    }

    /// The first segment that is between the wire and the protocol.
    pub(super) fn first_inbound(&self) -> Option<&Rc<Trail>> {
        self.inbound.front().map(|inbound| &inbound.trail)
    }

    /// Takes in what is through the stack; gives the last acknowledgement of it, and when it was
    /// through.
    pub(super) fn take_in(&mut self, now: u64) -> Option<(Rc<Trail>, u64)> {
        let mut acknowledged = None;
        while let Some(inbound) = self.inbound.pop_front_if(|inbound| inbound.through <= now) {
            let Inbound { trail, segment, through } = inbound;
            if segment.payload_len == 0 {
                acknowledged = Some((trail, through));
                continue;
            }
            let (from, to) = self.numbering.part_of(&segment);
            self.received.insert(from, to);
            if self.received.bytes == self.expected && self.completed_by.is_none() {
                self.completed_by = Some(Rc::clone(&trail));
            }
            self.last = Some((trail, through));
        }
        acknowledged
    }

    /// The segment with which all was there.
    pub(super) const fn completed_by(&self) -> Option<&Rc<Trail>> {
        self.completed_by.as_ref()
    }

    /// Notes the acknowledgements that this event made, `left` of which have left.
    pub(super) fn note_made(
        &mut self,
        network: View<'_>,
        (host, number): (NodeId, u32),
        now: SimTime,
        left: usize,
    ) {
        let tcp = network.tcp(host);
        let waiting = tcp.map_or(0, |tcp| tcp.waiting(number));
        let made = (waiting as usize + left).saturating_sub(self.waiting as usize);
        self.waiting = waiting;
        let Some((request, through)) = &self.last else { return };
        let leaving = tcp.into_iter().flat_map(|tcp| tcp.leaving_stack(number));
        let leaving: Vec<_> = leaving.take(made).collect();
        for newer in (0..made).rev() {
            let released = leaving.get(newer).copied().unwrap_or(now);
            self.to_leave.push_back(Rc::new(Answered {
                request: Rc::clone(request),
                through: *through,
                ready: now.ps(),
                released: released.ps(),
            }));
        }
    }

    /// An acknowledgement leaves.
    pub(super) fn note_left(&mut self) -> Option<Rc<Answered>> {
        self.to_leave.pop_front()
    }
}

/// From 32 bits on the wire to positions in the stream.
#[derive(Debug)]
struct Numbering {
    /// The sequence number of the first byte.
    first: u32,
    /// The end of what is known to be sent.
    highest: u64,
}

impl Numbering {
    fn part_of(&mut self, segment: &TcpSegment) -> (u64, u64) {
        let low_half = u32::try_from(self.highest & 0xffff_ffff).unwrap_or(0);
        let distance = segment.seq.wrapping_sub(self.first).wrapping_sub(low_half).cast_signed();
        let from = self.highest.saturating_add_signed(distance.into());
        let to = from + u64::from(segment.payload_len);
        self.highest = self.highest.max(to);
        (from, to)
    }
}

/// Parts of a stream that are there, none of which touch: starts and ends.
#[derive(Debug, Default)]
struct Received {
    parts: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Received {
    fn insert(&mut self, mut from: u64, mut to: u64) {
        let before = self.parts.range(..=to).rev();
        let touching: Vec<_> =
            before.map(|(&start, &end)| (start, end)).take_while(|&(_, end)| end >= from).collect();
        for (start, end) in touching {
            self.parts.remove(&start);
            self.bytes -= end - start;
            (from, to) = (from.min(start), to.max(end));
        }
        self.parts.insert(from, to);
        self.bytes += to - from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_once() {
        let mut received = Received::default();
        for (from, to, bytes) in
            [(10, 20, 10), (30, 40, 20), (0, 10, 30), (15, 35, 40), (0, 40, 40), (50, 51, 41)]
        {
            received.insert(from, to);
            assert_eq!(received.bytes, bytes, "{from} to {to}");
        }
        assert_eq!(received.parts.len(), 2);
    }

    #[test]
    fn sequence_numbers_begin_anywhere_and_come_round() {
        let mut numbering = Numbering { first: u32::MAX - 9, highest: 0 };
        let segment = |seq: u32| TcpSegment::new(0, seq, 0, 0).with_payload_len(10);
        assert_eq!(numbering.part_of(&segment(u32::MAX - 9)), (0, 10));
        assert_eq!(numbering.part_of(&segment(10)), (20, 30));
        assert_eq!(numbering.part_of(&segment(0)), (10, 20), "an earlier one");
        numbering.highest = (1 << 32) + 5;
        assert_eq!(numbering.part_of(&segment(0)), ((1 << 32) + 10, (1 << 32) + 20));
    }
}

//! Request packets that arrived before their turn.

use std::collections::BTreeMap;

use rocelab_wire::Sack;

use crate::sequence::{Sequence, psn};
use crate::{Content, Packet};

/// A packet that waits, with what came beside it.
#[derive(Clone, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(crate) struct Held {
    pub(crate) packet: Packet,
    pub(crate) content: Option<Content>,
    /// Sequence numbers that it takes: a READ takes those of its response.
    pub(crate) span: u64,
}

/// What a responder keeps.
#[derive(Debug)]
pub(crate) struct ReorderBuffer {
    held: BTreeMap<Sequence, Held>,
    /// Packets before it counted as accepted when they came, ahead of their turn.
    counted_to: Sequence,
    reach: u64,
}

rocelab_state::state!(ReorderBuffer { values: held, counted_to; kept: reach });

impl ReorderBuffer {
    /// An empty one, which keeps packets up to `reach` ahead.
    pub(crate) fn new(reach: u32) -> Self {
        Self { held: BTreeMap::new(), counted_to: 0, reach: u64::from(reach) }
    }

    /// How far ahead a packet may be that is kept.
    pub(crate) const fn reach(&self) -> u64 {
        self.reach
    }

    /// Keeps a packet; whether it was not there yet.
    pub(crate) fn keep(&mut self, sequence: Sequence, held: Held) -> bool {
        self.held.insert(sequence, held).is_none()
    }

    /// Packets before it have counted as accepted: they do so once.
    pub(crate) const fn counted_to(&self) -> Sequence {
        self.counted_to
    }

    /// Packets before `sequence` have counted.
    pub(crate) fn count_to(&mut self, sequence: Sequence) {
        self.counted_to = self.counted_to.max(sequence);
    }

    /// Whether a packet is kept.
    pub(crate) fn has(&self, sequence: Sequence) -> bool {
        self.held.contains_key(&sequence)
    }

    /// The packet whose turn it is, if it is here.
    pub(crate) fn take(&mut self, expected: Sequence) -> Option<Held> {
        while let Some(first) = self.held.first_entry() {
            if *first.key() > expected {
                return None;
            }
            let (sequence, held) = first.remove_entry();
            if sequence == expected {
                return Some(held);
            }
        }
        None
    }

    /// What is here of the 64 packets around `newest`, counted in blocks from the packet after
    /// `expected` on.
    pub(crate) fn sack(&self, expected: Sequence, newest: Sequence) -> Sack {
        let packets = u64::from(Sack::PACKETS);
        let first = newest - (newest - expected - 1) % packets;
        let mut arrived = 0;
        // The one before `first` may be a READ that reaches over it.
        let start = self.held.range(..first).next_back().map_or(first, |(&before, _)| before);
        for (&sequence, held) in self.held.range(start..first + packets) {
            let from = sequence.max(first);
            let to = (sequence + held.span).min(first + packets);
            for packet in from..to {
                arrived |= 1 << (packet - first);
            }
        }
        Sack::new(psn(first), arrived)
    }
}

#[cfg(test)]
mod tests {
    use rocelab_wire::Opcode;

    use super::*;

    fn buffer(sequences: &[(Sequence, u64)]) -> ReorderBuffer {
        let mut buffer = ReorderBuffer::new(1 << 23);
        for &(sequence, span) in sequences {
            let packet = Packet::new(Opcode::RcSendOnly, 0x11, psn(sequence));
            assert!(buffer.keep(sequence, Held { packet, content: None, span }));
        }
        buffer
    }

    #[test]
    fn packets_come_out_when_it_is_their_turn() {
        let mut buffer = buffer(&[(12, 1), (13, 1), (15, 1)]);
        assert!(buffer.take(11).is_none());
        assert_eq!(buffer.take(12).unwrap().packet.psn(), 12);
        assert!(buffer.take(14).is_none(), "13 is of no use any more");
        assert_eq!(buffer.take(15).unwrap().packet.psn(), 15);
    }

    #[test]
    fn the_bitmap_is_of_the_newest_packet_s_block() {
        let buffer = buffer(&[(102, 1), (103, 4), (160, 8), (170, 1)]);
        // Blocks begin at 101 and 165.
        let near = buffer.sack(100, 103);
        assert_eq!((near.first, near.arrived), (101, 0b11_1110 | 0b1_1111 << 59));
        let far = buffer.sack(100, 170);
        assert_eq!((far.first, far.arrived), (165, 0b10_0111));
    }
}

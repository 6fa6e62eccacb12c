//! What selective acknowledgements of TCP say: it has a side table, as content has.

use rocelab_fabric::PacketId;
use rocelab_transport::tcp::{SackBlocks, TcpSegment};

/// What selective acknowledgements say, beside their segments: most have none.
#[derive(Debug, Default)]
pub(super) struct Sacks {
    /// By the segment's place in the pool; it says whether it has any.
    pub(super) by_packet: Vec<SackBlocks>,
}

impl Sacks {
    /// A segment starts with these.
    pub(super) fn put(&mut self, id: PacketId, blocks: SackBlocks) {
        let place = id.0 as usize;
        if self.by_packet.len() <= place {
            self.by_packet.resize(place + 1, SackBlocks::default());
        }
        self.by_packet[place] = blocks;
    }

    /// `copy` has those of `original`, if it has any.
    pub(super) fn copy(&mut self, original: PacketId, copy: PacketId) {
        if let Some(&blocks) = self.by_packet.get(original.0 as usize) {
            self.put(copy, blocks);
        }
    }

    /// Those of a segment, if it has any.
    pub(super) fn of(&self, id: PacketId, segment: &TcpSegment) -> Option<&SackBlocks> {
        if segment.sack_count() == 0 {
            return None;
        }
        self.by_packet.get(id.0 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_of_segments_that_say_so() {
        let mut sacks = Sacks::default();
        let mut blocks = SackBlocks::default();
        assert!(blocks.push(1, 2));
        sacks.put(PacketId(3), blocks);
        let segment = TcpSegment::new(0, 0, 0, 0);
        assert_eq!(sacks.of(PacketId(3), &segment), None);
        assert_eq!(sacks.of(PacketId(3), &segment.with_sack_count(1)), Some(&blocks));
        assert_eq!(sacks.of(PacketId(4), &segment.with_sack_count(1)), None);
    }
}

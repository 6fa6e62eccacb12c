//! The SACK option.

use core::fmt;
use std::io::{Read, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_state::unfit;

/// The blocks of a SACK option (RFC 2018): parts of the stream that arrived out of order. Without
/// the timestamps option there is room for four.
///
/// They travel beside the [`TcpSegment`](super::TcpSegment), which says how many there are,
/// because most segments have none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    edges: [(u32, u32); Self::MAX],
    count: u8,
}

impl SackBlocks {
    /// The most that one option holds.
    pub const MAX: usize = 4;

    /// Adds a block by its edges: the sequence number of its first byte, and that after its last.
    /// Returns whether there was room.
    pub fn push(&mut self, left: u32, right: u32) -> bool {
        let Some(place) = self.edges.get_mut(usize::from(self.count)) else { return false };
        *place = (left, right);
        self.count += 1;
        true
    }

    /// The blocks, that of the latest arrival first.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.edges[..usize::from(self.count)]
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> u8 {
        self.count
    }

    /// Bytes that the option with this many blocks adds to a TCP header: two bytes of padding
    /// before it, kind and length, and 8 for each block; none without blocks.
    #[inline]
    #[must_use]
    pub const fn option_len(count: u8) -> u16 {
        if count == 0 { 0 } else { 4 + 8 * count as u16 }
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl BorshSerialize for SackBlocks {
    fn serialize<W: Write>(&self, writer: &mut W) -> std::io::Result<()> {
        self.as_slice().serialize(writer)
    }
}

impl BorshDeserialize for SackBlocks {
    fn deserialize_reader<R: Read>(reader: &mut R) -> std::io::Result<Self> {
        let mut blocks = Self::default();
        for (left, right) in Vec::deserialize_reader(reader)? {
            if !blocks.push(left, right) {
                return Err(unfit("the blocks of a SACK option"));
            }
        }
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_fit() {
        let mut blocks = SackBlocks::default();
        for edge in 0..4 {
            assert!(blocks.push(edge, edge + 1));
        }
        assert!(!blocks.push(9, 10));
        assert_eq!(blocks.as_slice(), [(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!([0, 1, 4].map(SackBlocks::option_len), [0, 12, 36]);
        // 40 bytes of options are the most that a TCP header has room for.
        assert!(SackBlocks::option_len(4) <= 40);
        assert_eq!(size_of::<SackBlocks>(), 36);
    }
}

//! Which blocks a selective acknowledgement names.

use std::io::{Read, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use rocelab_state::unfit;

use super::SackBlocks;
use super::ranges::Ranges;
use super::sequence::{Numbering, Position};

/// Where the latest segments arrived that were out of order, the latest first. RFC 2018: the first
/// block is that of the segment that caused the acknowledgement, the others repeat what was named
/// last, so that a lost acknowledgement costs nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    places: [Position; SackBlocks::MAX],
    count: usize,
}

impl Recent {
    /// A segment arrived at `place`; older places in its range are the same block.
    pub(super) fn add(&mut self, place: Position, arrived: &Ranges) {
        let range = arrived.at(place);
        let mut places = [place; SackBlocks::MAX];
        let mut count = 1;
        for &older in &self.places[..self.count] {
            if count < places.len() && arrived.at(older).is_some() && arrived.at(older) != range {
                places[count] = older;
                count += 1;
            }
        }
        (self.places, self.count) = (places, count);
    }

    /// The blocks, as far as they are still waiting.
    pub(super) fn blocks(&self, arrived: &Ranges, numbering: Numbering) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if arrived.is_empty() {
            return blocks;
        }
        for &place in &self.places[..self.count] {
            if let Some(range) = arrived.at(place) {
                blocks.push(numbering.wire(range.start), numbering.wire(range.end));
            }
        }
        blocks
    }
}

impl BorshSerialize for Recent {
    fn serialize<W: Write>(&self, writer: &mut W) -> std::io::Result<()> {
        self.places[..self.count].serialize(writer)
    }
}

impl BorshDeserialize for Recent {
    fn deserialize_reader<R: Read>(reader: &mut R) -> std::io::Result<Self> {
        let saved = Vec::deserialize_reader(reader)?;
        let mut recent = Self { count: saved.len(), ..Self::default() };
        let places = recent.places.get_mut(..saved.len());
        places.ok_or_else(|| unfit("the blocks of a SACK option"))?.copy_from_slice(&saved);
        Ok(recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::ranges::Range;

    #[test]
    fn the_latest_first_and_no_more_than_four() {
        let (mut recent, mut arrived) = (Recent::default(), Ranges::default());
        let mut come = |start: u64| {
            arrived.insert(Range::new(start, start + 10));
            recent.add(start, &arrived);
            let blocks = recent.blocks(&arrived, Numbering::new(0));
            blocks.as_slice().to_vec()
        };
        assert_eq!(come(100), [(100, 110)]);
        assert_eq!(come(140), [(140, 150), (100, 110)]);
        // Grown at its end, and named again.
        assert_eq!(come(110), [(100, 120), (140, 150)]);
        assert_eq!(come(160), [(160, 170), (100, 120), (140, 150)]);
        assert_eq!(come(180), [(180, 190), (160, 170), (100, 120), (140, 150)]);
        assert_eq!(come(200), [(200, 210), (180, 190), (160, 170), (100, 120)]);
        // Two blocks become one.
        assert_eq!(come(170), [(160, 190), (200, 210), (100, 120)]);
    }
}

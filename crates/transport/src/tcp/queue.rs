//! Segments that wait in their host, by connection.

use super::{SackBlocks, TcpSegment};

const NONE: u32 = u32::MAX;

/// A list of waiting segments, through the [`Waiting`] of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };
}

/// What waits: a segment, and what travels beside it.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Queued {
    pub(super) segment: TcpSegment,
    pub(super) sack: SackBlocks,
}

/// All segments that wait in a host. Places are used again.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Waiting {
    places: Vec<(Queued, u32)>,
    free: u32,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { places: Vec::new(), free: NONE }
    }
}

impl Waiting {
    /// Adds a segment at the end of a list.
    pub(super) fn push(&mut self, list: &mut List, queued: Queued) {
        let place = self.free;
        let place = if let Some(slot) = self.places.get_mut(place as usize) {
            self.free = slot.1;
            *slot = (queued, NONE);
            place
        } else {
            let place = u32::try_from(self.places.len()).expect("fewer than 2^32 segments wait");
            self.places.push((queued, NONE));
            place
        };
        match self.places.get_mut(list.last as usize) {
            Some(last) => last.1 = place,
            None => list.first = place,
        }
        list.last = place;
    }

    /// Takes out the first segment of a list.
    pub(super) fn pop(&mut self, list: &mut List) -> Option<Queued> {
        let place = list.first;
        let slot = self.places.get_mut(place as usize)?;
        let (queued, next) = *slot;
        slot.1 = self.free;
        self.free = place;
        list.first = next;
        if next == NONE {
            list.last = NONE;
        }
        Some(queued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(seq: u32) -> Queued {
        Queued { segment: TcpSegment::new(0, seq, 0, 0), sack: SackBlocks::default() }
    }

    #[test]
    fn lists_keep_their_order_and_places_are_used_again() {
        let mut waiting = Waiting::default();
        let mut lists = [List::EMPTY; 2];
        for round in 0..3 {
            for seq in 0..6 {
                waiting.push(&mut lists[seq as usize % 2], queued(round * 10 + seq));
            }
            for (index, expected) in [(0, [0, 2, 4]), (1, [1, 3, 5])] {
                for seq in expected {
                    let first = waiting.pop(&mut lists[index]).unwrap();
                    assert_eq!(first.segment.seq, round * 10 + seq);
                }
                assert!(waiting.pop(&mut lists[index]).is_none());
            }
        }
        assert_eq!(waiting.places.len(), 6);
        assert!(size_of::<(Queued, u32)>() <= 64, "a cache line");
    }
}

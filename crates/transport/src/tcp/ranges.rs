//! Which parts of a stream are there.

use super::sequence::Position;

/// A part of a stream, from its first byte to the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

impl Range {
    pub(super) const fn new(start: Position, end: Position) -> Self {
        Self { start, end }
    }

    pub(super) const fn len(self) -> u64 {
        self.end - self.start
    }
}

/// Ranges that neither overlap nor touch, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Ranges {
    ranges: Vec<Range>,
    bytes: u64,
}

impl Ranges {
    /// Adds a range; returns how many of its bytes were not there yet.
    pub(super) fn insert(&mut self, added: Range) -> u64 {
        if added.start >= added.end {
            return 0;
        }
        let first = self.ranges.partition_point(|range| range.end < added.start);
        let after = self.ranges.partition_point(|range| range.start <= added.end);
        let met = &self.ranges[first..after];
        let before: u64 = met.iter().map(|range| range.len()).sum();
        let start = met.first().map_or(added.start, |range| range.start.min(added.start));
        let end = met.last().map_or(added.end, |range| range.end.max(added.end));
        self.ranges.splice(first..after, [Range::new(start, end)]);
        let new = end - start - before;
        self.bytes += new;
        new
    }

    /// Forgets all before `position`.
    pub(super) fn remove_before(&mut self, position: Position) {
        let gone = self.ranges.partition_point(|range| range.end <= position);
        self.bytes -= self.ranges.drain(..gone).map(Range::len).sum::<u64>();
        if let Some(first) = self.ranges.first_mut()
            && first.start < position
        {
            self.bytes -= position - first.start;
            first.start = position;
        }
    }

    /// Takes out the range that covers `position`, if there is one as the first; returns its end.
    pub(super) fn take_first_through(&mut self, position: Position) -> Option<Position> {
        let first = *self.ranges.first()?;
        if first.start > position {
            return None;
        }
        self.ranges.remove(0);
        self.bytes -= first.len();
        Some(first.end)
    }

    /// The range that covers `position`.
    pub(super) fn at(&self, position: Position) -> Option<Range> {
        let index = self.ranges.partition_point(|range| range.end <= position);
        self.ranges.get(index).copied().filter(|range| range.start <= position)
    }

    /// The first part from `position` on that is not there; its end is where the next range
    /// starts, or none.
    pub(super) fn next_hole(&self, position: Position) -> (Position, Option<Position>) {
        let index = self.ranges.partition_point(|range| range.end <= position);
        match self.ranges.get(index) {
            Some(range) if range.start <= position => {
                (range.end, self.ranges.get(index + 1).map(|next| next.start))
            }
            Some(range) => (position, Some(range.start)),
            None => (position, None),
        }
    }

    /// Bytes that are there before `position`.
    pub(super) fn bytes_before(&self, position: Position) -> u64 {
        let whole = self.ranges.iter().take_while(|range| range.start < position);
        whole.map(|range| range.end.min(position) - range.start).sum()
    }

    /// All bytes that are there.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the last range ends.
    pub(super) fn end(&self) -> Option<Position> {
        self.ranges.last().map(|range| range.end)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, the last first.
    pub(super) fn backwards(&self) -> impl Iterator<Item = Range> {
        self.ranges.iter().rev().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set of single bytes.
        #[test]
        fn like_a_set_of_bytes(script in prop::collection::vec((0..60_u64, 0..12_u64), 0..30),
            cut in 0..70_u64) {
            let mut ranges = Ranges::default();
            let mut bytes = BTreeSet::new();
            for (start, len) in script {
                let before = bytes.len();
                bytes.extend(start..start + len);
                let new = ranges.insert(Range::new(start, start + len));
                prop_assert_eq!(new, (bytes.len() - before) as u64);
            }
            prop_assert_eq!(ranges.bytes_before(cut), bytes.range(..cut).count() as u64);
            ranges.remove_before(cut);
            bytes.retain(|&byte| byte >= cut);
            prop_assert_eq!(ranges.bytes(), bytes.len() as u64);
            for position in cut..80 {
                prop_assert_eq!(ranges.at(position).is_some(), bytes.contains(&position));
                let (hole, end) = ranges.next_hole(position);
                prop_assert_eq!(Some(hole), (position..).find(|byte| !bytes.contains(byte)));
                prop_assert_eq!(end, bytes.range(hole..).next().copied());
            }
            for pair in ranges.ranges.windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
        }
    }
}

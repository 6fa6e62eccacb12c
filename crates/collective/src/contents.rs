//! What memory holds, by whose input it is the sum of: for the symbolic execution of schedules.

use std::collections::BTreeMap;

use crate::schedule::Operation;

/// Bytes that are sums of the input of some ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Where the first byte is in the input of each of those ranks.
    pub(crate) input: u64,
    /// Those ranks, one bit each.
    pub(crate) ranks: RankSet,
}

/// A set of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RankSet(Vec<u64>);

impl RankSet {
    /// A set of ranks below `most`.
    pub(crate) fn new(most: u32, ranks: impl IntoIterator<Item = u32>) -> Self {
        let mut words = vec![0_u64; (most as usize).div_ceil(64)];
        for rank in ranks {
            words[rank as usize / 64] |= 1 << (rank % 64);
        }
        Self(words)
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    /// Adds those of another set.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one |= other);
    }

    /// How many they are.
    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// What a member's memory holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// By first address: the end, and what is there. They do not overlap.
    segments: BTreeMap<u64, (u64, Sum)>,
}

impl Contents {
    /// Has a boundary at `address`.
    fn cut(&mut self, address: u64) {
        let Some((&start, (end, sum))) = self.segments.range_mut(..address).next_back() else {
            return;
        };
        if *end > address {
            let behind = Sum { input: sum.input + (address - start), ranks: sum.ranks.clone() };
            let end = core::mem::replace(end, address);
            self.segments.insert(address, (end, behind));
        }
    }

    /// What is in `bytes` from `start` on: places from 0 on, lengths and sums. `None` if some of it was never written.
    pub(crate) fn read(&mut self, start: u64, bytes: u64) -> Option<Vec<(u64, u64, Sum)>> {
        self.cut(start);
        self.cut(start + bytes);
        let mut read = Vec::new();
        let mut next = start;
        for (&from, (end, sum)) in self.segments.range(start..start + bytes) {
            if from != next {
                return None;
            }
            read.push((from - start, end - from, sum.clone()));
            next = *end;
        }
        (next == start + bytes).then_some(read)
    }

    /// Takes a sum of `bytes` at `start`.
    ///
    /// # Errors
    /// Text that says what is wrong with it.
    pub(crate) fn write(
        &mut self,
        start: u64,
        bytes: u64,
        sum: &Sum,
        operation: Operation,
        may_be_empty: bool,
    ) -> Result<(), &'static str> {
        self.cut(start);
        self.cut(start + bytes);
        let old = match operation {
            Operation::Copy => None,
            Operation::Reduce => self.read(start, bytes),
        };
        let Some(old) = old else {
            let holes = operation == Operation::Reduce;
            if holes && (!may_be_empty || self.segments.range(start..start + bytes).count() > 0) {
                return Err("it is added to memory that was never written");
            }
            self.segments.retain(|from, _| !(start..start + bytes).contains(from));
            self.segments.insert(start, (start + bytes, sum.clone()));
            return Ok(());
        };
        for (place, length, mut before) in old {
            if before.input != sum.input + place {
                return Err("it is added to other bytes than its own");
            }
            if before.ranks.meets(&sum.ranks) {
                return Err("a rank is added twice");
            }
            before.ranks.join(&sum.ranks);
            self.segments.insert(start + place, (start + place + length, before));
        }
        Ok(())
    }
}

//! Results of atomic operations, kept for requests that come again.

use std::collections::VecDeque;

use crate::sequence::Sequence;

/// The latest results, oldest first: an atomic operation must not be executed twice.
#[derive(Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct AtomicResults(VecDeque<(Sequence, u64)>);

impl AtomicResults {
    /// Keeps a result, and at most `limit` in all.
    pub(super) fn keep(&mut self, sequence: Sequence, original: u64, limit: u32) {
        while self.0.len() >= limit.max(1) as usize {
            self.0.pop_front();
        }
        self.0.push_back((sequence, original));
    }

    /// What the operation of this sequence number found in memory, if that is known yet.
    pub(super) fn find(&self, sequence: Sequence) -> Option<u64> {
        self.0.iter().find(|(kept, _)| *kept == sequence).map(|&(_, original)| original)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let mut results = AtomicResults::default();
        for sequence in 0..4 {
            results.keep(sequence, 10 + sequence, 2);
        }
        assert_eq!([1, 2, 3].map(|sequence| results.find(sequence)), [None, Some(12), Some(13)]);
    }
}

//! The queue pairs of a NIC, by number.

use crate::queue_pair::QueuePair;

/// The first queue pair number of ordinary queue pairs. Numbers are dense from here on.
pub const FIRST_QPN: u32 = 0x11;

/// Queue pair numbers have 24 bits.
pub(super) const MAX_QPN: u32 = 0x00ff_ffff;

/// Queue pairs by their *index*, which is their number minus [`FIRST_QPN`].
#[derive(Debug, Default)]
pub(super) struct QueuePairs(Vec<Option<Box<QueuePair>>>);

impl QueuePairs {
    /// The index of a number, if there is a place for it.
    #[inline]
    pub(super) fn index_of(&self, qpn: u32) -> Option<u32> {
        qpn.checked_sub(FIRST_QPN).filter(|&index| (index as usize) < self.0.len())
    }

    /// The queue pair of an index; one that [`index_of`](Self::index_of) gave, or that had a place before.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&QueuePair> {
        self.0[index as usize].as_deref()
    }

    /// The same, to change.
    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut QueuePair> {
        self.0[index as usize].as_deref_mut()
    }

    /// The queue pair of an index, wherever that is from.
    #[inline]
    pub(super) fn find(&self, index: u32) -> Option<&QueuePair> {
        self.0.get(index as usize)?.as_deref()
    }

    /// All queue pairs, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &QueuePair> {
        self.0.iter().filter_map(Option::as_deref)
    }

    /// The same, to change.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut QueuePair> {
        self.0.iter_mut().filter_map(Option::as_deref_mut)
    }

    /// All places with their indices, those without a queue pair included.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, Option<&QueuePair>)> {
        (0..).zip(self.0.iter().map(Option::as_deref))
    }

    /// Places, those without a queue pair included.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Makes or takes away places, so that there are `len`.
    pub(super) fn resize(&mut self, len: usize) {
        self.0.resize_with(len, || None);
    }

    /// Puts a queue pair into the place of its index, which is there.
    pub(super) fn insert(&mut self, index: u32, queue_pair: QueuePair) {
        self.0[index as usize] = Some(Box::new(queue_pair));
    }

    /// Takes the queue pair of an index out of its place, which stays.
    pub(super) fn remove(&mut self, index: u32) -> Option<Box<QueuePair>> {
        self.0[index as usize].take()
    }
}

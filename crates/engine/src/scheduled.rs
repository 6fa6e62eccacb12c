//! An event that waits.

use std::cmp::Ordering;

use crate::EventKey;

/// An event and its place in the order. Two of them are a cache line, and none is on two.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Scheduled<E> {
    /// Its place in the order.
    pub key: EventKey,
    /// What happens.
    pub event: E,
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Scheduled<E> {}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

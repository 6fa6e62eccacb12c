//! Per-egress byte counts of the ingress queues that have asserted PFC.

use rocelab_state::{BorshDeserialize, BorshSerialize};

/// Bytes of memory held by frames, by the port that they came in by, their priority and the port
/// that they leave by.
///
/// Only ingress ports and priorities that have paused their sender at least once are tracked: they
/// are few, and the causes of a pause are all that these counts are for.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct HeldByEgress {
    /// Indexed by the place of the ingress port and priority, then by egress port. A row is empty
    /// while its place is not tracked.
    rows: Vec<Box<[u32]>>,
}

impl HeldByEgress {
    /// The bytes held now, by egress port, of a place that is tracked; `None` for any other.
    pub(super) fn of(&self, place: usize) -> Option<&[u32]> {
        self.rows.get(place).map(AsRef::as_ref).filter(|row| !row.is_empty())
    }

    /// Starts to track a place whose frames hold the bytes `held` now, by egress port.
    pub(super) fn follow(&mut self, place: usize, held: Box<[u32]>) {
        if self.rows.len() <= place {
            self.rows.resize_with(place + 1, Box::default);
        }
        self.rows[place] = held;
    }

    /// Counts a frame that is stored. Does nothing if the place is not tracked.
    pub(super) fn add(&mut self, place: usize, egress: u16, memory: u32) {
        if let Some(held) = self.held(place, egress) {
            *held += memory;
        }
    }

    /// Counts a frame that leaves the memory. Does nothing if the place is not tracked.
    pub(super) fn remove(&mut self, place: usize, egress: u16, memory: u32) {
        if let Some(held) = self.held(place, egress) {
            *held -= memory;
        }
    }

    /// Sets the counts of an egress port to zero: its frames were lost without being released.
    pub(super) fn forget(&mut self, egress: u16) {
        for held in self.rows.iter_mut().filter_map(|row| row.get_mut(usize::from(egress))) {
            *held = 0;
        }
    }

    fn held(&mut self, place: usize, egress: u16) -> Option<&mut u32> {
        self.rows.get_mut(place)?.get_mut(usize::from(egress))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_followed_is_counted() {
        let mut held = HeldByEgress::default();
        held.add(3, 1, 100);
        held.remove(3, 1, 100);
        assert_eq!(held.of(3), None);
        held.follow(3, Box::new([7, 5]));
        held.add(3, 1, 100);
        held.add(2, 1, 100);
        held.remove(3, 0, 7);
        assert_eq!((held.of(2), held.of(3), held.of(4)), (None, Some(&[0, 105][..]), None));
        held.add(3, 0, 9);
        held.forget(1);
        assert_eq!(held.of(3), Some(&[9, 0][..]));
    }
}

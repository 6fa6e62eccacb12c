//! Where the frames of an ingress port go that has made its sender pause.

use rocelab_state::{BorshDeserialize, BorshSerialize};

/// Bytes of memory that frames hold which came in by a port in a priority, by the port that they leave
/// by. It is counted only of those that are followed, which are those that ever paused: the others
/// are many, and nobody asks for them.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct HeldByEgress {
    /// By place of the ingress port and priority; those that are not followed are empty.
    rows: Vec<Box<[u32]>>,
}

impl HeldByEgress {
    /// What is held now by egress port, of an ingress port and priority that is followed.
    pub(super) fn of(&self, place: usize) -> Option<&[u32]> {
        self.rows.get(place).map(AsRef::as_ref).filter(|row| !row.is_empty())
    }

    /// Counts one from now on, of which so much is held.
    pub(super) fn follow(&mut self, place: usize, held: Box<[u32]>) {
        if self.rows.len() <= place {
            self.rows.resize_with(place + 1, Box::default);
        }
        self.rows[place] = held;
    }

    /// A frame is stored.
    pub(super) fn add(&mut self, place: usize, egress: u16, memory: u32) {
        if let Some(held) = self.held(place, egress) {
            *held += memory;
        }
    }

    /// A frame leaves that was stored.
    pub(super) fn remove(&mut self, place: usize, egress: u16, memory: u32) {
        if let Some(held) = self.held(place, egress) {
            *held -= memory;
        }
    }

    /// What was to leave by a port is gone.
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

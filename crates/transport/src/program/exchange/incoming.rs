//! What has arrived from one rank for one lane.

use rocelab_state::{BorshDeserialize, BorshSerialize};

/// Messages from one rank for one lane, in the order in which they were posted.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Incoming {
    /// Pieces that have arrived without a gap.
    arrived: u64,
    /// Numbers of pieces that have arrived ahead of others, in order: they went over another queue pair.
    early: Vec<u64>,
    /// Messages that the lane has taken.
    taken: u64,
    /// Of those, messages whose room is free again.
    freed: u64,
    /// Messages for which the sender was told that there is room.
    granted: u64,
}

impl Incoming {
    /// A piece has arrived.
    pub(super) fn arrive(&mut self, number: u64) {
        if number != self.arrived {
            let place = self.early.partition_point(|&other| other < number);
            return self.early.insert(place, number);
        }
        self.arrived += 1;
        let next = self.early.iter().zip(self.arrived..).take_while(|(early, n)| *early == n);
        let follow = next.count();
        self.arrived += follow as u64;
        self.early.drain(..follow);
    }

    /// Takes the next message, of so many pieces, if all of them are there.
    pub(super) fn take(&mut self, pieces: u64) -> bool {
        let is_there = self.arrived >= (self.taken + 1) * pieces;
        self.taken += u64::from(is_there);
        is_there
    }

    /// The room of the oldest message that was taken is free again.
    pub(super) fn free(&mut self) {
        self.freed += 1;
    }

    /// The number of the message for which room is promised now, if there is room for one more within the window.
    pub(super) fn grant(&mut self, window: u64) -> Option<u64> {
        let number = self.granted;
        let has_room = number < self.freed.saturating_add(window);
        self.granted += u64::from(has_room);
        has_room.then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_in_order_once_all_pieces_are_there() {
        let mut incoming = Incoming::default();
        for number in [1, 4, 3] {
            incoming.arrive(number);
            assert!(!incoming.take(2));
        }
        incoming.arrive(0);
        assert!(incoming.take(2));
        assert!(!incoming.take(2), "piece 2 is missing");
        incoming.arrive(2);
        assert!(incoming.take(2));
        assert!(!incoming.take(2), "piece 5 is missing");
    }

    #[test]
    fn room_is_promised_within_the_window() {
        let mut incoming = Incoming::default();
        assert_eq!(
            [incoming.grant(2), incoming.grant(2), incoming.grant(2)],
            [Some(0), Some(1), None]
        );
        incoming.arrive(0);
        assert!(incoming.take(1));
        assert_eq!(incoming.grant(2), None, "it is in use");
        incoming.free();
        assert_eq!([incoming.grant(2), incoming.grant(2)], [Some(2), None]);
    }
}

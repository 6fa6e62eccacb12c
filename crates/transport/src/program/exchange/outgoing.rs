//! What goes to one lane of another rank.

use std::collections::VecDeque;

use rocelab_state::{BorshDeserialize, BorshSerialize};

/// Messages for one lane of another rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Outgoing {
    /// Messages that were posted.
    posted: u64,
    /// Messages for which the receiver has said that it is ready.
    granted: u64,
    /// Lengths of messages that wait for that (bytes).
    waiting: VecDeque<u32>,
    /// Pieces that are posted and not completed.
    pieces: u64,
}

impl Outgoing {
    /// A message is to go.
    pub(super) fn push(&mut self, bytes: u32) {
        self.waiting.push_back(bytes);
    }

    /// The receiver is ready for one more.
    pub(super) fn grant(&mut self) {
        self.granted += 1;
    }

    /// Takes the next message that may go, of so many pieces: its number and length. With `is_asked`, one goes only when
    /// the receiver is ready for it.
    pub(super) fn pop(&mut self, pieces: u64, is_asked: bool) -> Option<(u64, u32)> {
        if is_asked && self.posted >= self.granted {
            return None;
        }
        let bytes = self.waiting.pop_front()?;
        let number = self.posted;
        self.posted += 1;
        self.pieces += pieces;
        Some((number, bytes))
    }

    /// Whether no message waits.
    pub(super) fn is_sent(&self) -> bool {
        self.waiting.is_empty()
    }

    /// A piece is completed.
    pub(super) fn complete(&mut self) {
        self.pieces = self.pieces.saturating_sub(1);
    }

    /// Whether fewer than `window` messages of so many pieces are on their way, or wait.
    pub(super) fn has_room(&self, window: u64, pieces: u64) -> bool {
        let open = self.pieces.div_ceil(pieces) + self.waiting.len() as u64;
        open < window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_until_the_receiver_is_ready() {
        let mut outgoing = Outgoing::default();
        outgoing.push(7);
        outgoing.push(8);
        assert_eq!(outgoing.pop(2, true), None);
        outgoing.grant();
        assert_eq!([outgoing.pop(2, true), outgoing.pop(2, true)], [Some((0, 7)), None]);
        assert_eq!([outgoing.pop(2, false), outgoing.pop(2, false)], [Some((1, 8)), None]);
    }

    #[test]
    fn the_window_counts_what_waits_and_what_is_on_its_way() {
        let mut outgoing = Outgoing::default();
        outgoing.push(1);
        assert!(outgoing.has_room(2, 2));
        outgoing.push(2);
        assert!(!outgoing.has_room(2, 2));
        outgoing.pop(2, false);
        outgoing.complete();
        assert!(!outgoing.has_room(2, 2), "half of a message is on its way");
        outgoing.complete();
        assert!(outgoing.has_room(2, 2));
    }
}

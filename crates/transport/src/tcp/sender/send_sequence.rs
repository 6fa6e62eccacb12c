//! The send sequence variables (RFC 9293).

use crate::tcp::sequence::Position;

/// Where a sender is in its stream.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct SendSequence {
    /// SND.UNA: all before it was acknowledged.
    pub(super) una: Position,
    /// SND.NXT: nothing from it on was ever sent.
    pub(super) nxt: Position,
    /// Where the data that the application posted ends.
    pub(super) posted: Position,
    /// Where the receive window ends.
    window_end: Position,
}

impl SendSequence {
    /// The start of a stream whose receiver has so much room (bytes).
    pub(super) const fn new(window: u64) -> Self {
        Self { una: 0, nxt: 0, posted: 0, window_end: window }
    }

    /// Whether all that was sent is acknowledged.
    pub(super) const fn is_idle(&self) -> bool {
        self.una == self.nxt
    }

    /// Payload sent and not acknowledged, whether it is lost or not (bytes).
    pub(super) const fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// The receiver has room for `window` bytes behind `acknowledged`; it takes no room back.
    pub(super) fn open_window(&mut self, acknowledged: Position, window: u32) {
        self.window_end = self.window_end.max(acknowledged + u64::from(window));
    }

    /// Where the data ends that may be sent and was posted.
    pub(super) fn sendable_end(&self) -> Position {
        self.posted.min(self.window_end)
    }
}

//! Once for a window of data (RFC 3168, RFC 8257): how far the last reduction reaches.

use crate::tcp::sequence::Position;

/// The last reduction of the congestion window.
#[derive(Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct WindowReduction {
    /// The next segment with new data is to say that the window was reduced.
    cwr_due: bool,
    /// All sent before this is of the window of data that was reduced last.
    end: Position,
}

impl WindowReduction {
    /// The window was reduced when all before `nxt` had been sent; `tells` says whether the receiver is told.
    pub(super) const fn note(&mut self, nxt: Position, tells: bool) {
        self.end = nxt;
        self.cwr_due = tells;
    }

    /// All sent before this is of the window of data that was reduced last.
    pub(super) const fn end(&self) -> Position {
        self.end
    }

    /// Whether the segment with new data that leaves now says so.
    pub(super) const fn take_cwr(&mut self) -> bool {
        core::mem::replace(&mut self.cwr_due, false)
    }
}

//! What an application waits for.

use std::collections::VecDeque;

use crate::tcp::sequence::Position;

/// Parts of the stream that the application waits for.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// Id, length and end, in order.
    parts: VecDeque<(u64, u64, Position)>,
    end: Position,
}

rocelab_state::state!(Expected { values: parts, end });

impl Expected {
    /// Nothing is waited for, and what is comes behind `end`.
    pub(super) const fn from(end: Position) -> Self {
        Self { parts: VecDeque::new(), end }
    }

    /// The application waits for so many further bytes.
    pub(super) fn add(&mut self, id: u64, bytes: u64) {
        self.end = self.end.saturating_add(bytes);
        self.parts.push_back((id, bytes, self.end));
    }

    /// The next part of which all before `delivered` is enough: id and length.
    pub(super) fn poll_done(&mut self, delivered: Position) -> Option<(u64, u64)> {
        let (id, bytes, _) = self.parts.pop_front_if(|&mut (.., end)| end <= delivered)?;
        Some((id, bytes))
    }
}

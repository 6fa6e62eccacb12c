//! What of the stream is here, in order or not.

use crate::tcp::SackBlocks;
use crate::tcp::ranges::{Range, Ranges};
use crate::tcp::recent::Recent;
use crate::tcp::sequence::{Numbering, Position};

/// What has arrived of a stream.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Reassembly {
    /// RCV.NXT: all before it was delivered.
    next: Position,
    /// What arrived behind it.
    arrived: Ranges,
    recent: Recent,
}

/// What a part of the stream brought that came in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    /// Payload that is delivered with it (bytes).
    pub(super) new: u64,
    /// Of that, what had not arrived before (bytes).
    pub(super) accepted: u64,
    /// Whether something waited, before it came.
    pub(super) fills: bool,
}

impl Reassembly {
    /// A stream of which all before `next` was delivered.
    pub(super) fn new(next: Position) -> Self {
        Self { next, arrived: Ranges::default(), recent: Recent::default() }
    }

    /// RCV.NXT.
    pub(super) const fn next(&self) -> Position {
        self.next
    }

    /// Whether a part of the stream is here.
    pub(super) fn has(&self, from: Position, to: Position) -> bool {
        to <= self.next || self.arrived.at(from.max(self.next)).is_some_and(|range| range.end >= to)
    }

    /// Payload that waits for an earlier byte (bytes).
    pub(super) const fn waiting(&self) -> u64 {
        self.arrived.bytes()
    }

    /// Keeps a part that is out of order; returns what of it is new (bytes).
    pub(super) fn keep(&mut self, part: Range) -> u64 {
        let new = self.arrived.insert(part);
        self.recent.add(part.start, &self.arrived);
        new
    }

    /// Delivers what is in order up to `end`, with what waited for it.
    pub(super) fn deliver(&mut self, end: Position) -> Delivered {
        let before = self.next;
        let fills = !self.arrived.is_empty();
        let waited = self.arrived.bytes();
        self.next = end;
        // What came may cover several ranges: messages are cut otherwise when they are sent again.
        while let Some(end) = self.arrived.take_first_through(self.next) {
            self.next = self.next.max(end);
        }
        let new = self.next - before;
        // Of what is delivered, that which waited counted when it came.
        Delivered { new, accepted: new - (waited - self.arrived.bytes()), fills }
    }

    /// What a selective acknowledgement says.
    pub(super) fn blocks(&self, numbering: Numbering) -> SackBlocks {
        self.recent.blocks(&self.arrived, numbering)
    }
}

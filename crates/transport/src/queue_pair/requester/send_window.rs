//! Where a requester is in the sequence of its packets, and of its payload.

use crate::sequence::Sequence;

/// The `cursor` of a requester that waits because of an RNR NAK: no message has this place, so that
/// nothing can be sent.
const PARKED: usize = usize::MAX;

/// Positions among sequence numbers and payload: `acknowledged` <= `next` <= `sent_end` <= `posted_end`.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
#[repr(C)]
pub(super) struct SendWindow {
    /// Which message `next` is in; their number if all is sent.
    pub(super) cursor: usize,
    /// The next packet to send.
    pub(super) next: Sequence,
    /// After the last packet that was ever sent.
    pub(super) sent_end: Sequence,
    /// All before it arrived; with a scheme that forgets partial messages, it may fall back.
    pub(super) acknowledged: Sequence,
    /// After the last packet of all posted messages.
    pub(super) posted_end: Sequence,
    /// Payload before `next`, `acknowledged` and `posted_end` (bytes).
    pub(super) next_byte: u64,
    pub(super) acknowledged_byte: u64,
    pub(super) posted_byte: u64,
}

impl SendWindow {
    /// Nothing is posted, and `first` is the first packet.
    pub(super) const fn new(first: Sequence) -> Self {
        Self {
            cursor: 0,
            next: first,
            sent_end: first,
            acknowledged: first,
            posted_end: first,
            next_byte: 0,
            acknowledged_byte: 0,
            posted_byte: 0,
        }
    }

    /// Waits because of an RNR NAK: nothing can be sent.
    pub(super) const fn park(&mut self) {
        self.cursor = PARKED;
    }

    /// Whether it waits because of an RNR NAK.
    pub(super) const fn is_parked(&self) -> bool {
        self.cursor == PARKED
    }

    /// Packets before `next` that are not acknowledged.
    #[inline]
    pub(super) const fn packets_in_flight(&self) -> u64 {
        self.next - self.acknowledged
    }

    /// Payload sent and not acknowledged; that of READs counts from the request on (bytes).
    #[inline]
    pub(super) const fn bytes_in_flight(&self) -> u64 {
        self.next_byte.saturating_sub(self.acknowledged_byte)
    }

    /// Payload posted and not acknowledged (bytes).
    pub(super) const fn bytes_outstanding(&self) -> u64 {
        self.posted_byte - self.acknowledged_byte
    }

    /// Whether the next packet was sent before.
    #[inline]
    pub(super) const fn repeats(&self) -> bool {
        self.next < self.sent_end
    }

    /// All that was posted is given up.
    pub(super) const fn give_up(&mut self) {
        self.cursor = 0;
        self.next = self.posted_end;
        self.next_byte = self.posted_byte;
        self.acknowledged = self.posted_end;
        self.acknowledged_byte = self.posted_byte;
    }
}

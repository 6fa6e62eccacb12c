//! What a TCP host counts.

use crate::Traffic;

/// Everything that a [`TcpHost`](super::TcpHost) counts, from its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct TcpCounters {
    /// Segments with payload sent, retransmissions included.
    pub data_sent: Traffic,
    /// Segments without payload sent.
    pub acks_sent: Traffic,
    /// Segments with payload that was sent before (part of `data_sent`).
    pub retransmitted: Traffic,
    /// Segments with payload received, wanted or not.
    pub data_received: u64,
    /// Segments without payload received.
    pub acks_received: u64,
    /// Segments with payload received with "congestion experienced".
    pub ce_received: u64,
    /// Acknowledgements received with ECE.
    pub ece_received: u64,
    /// Segments received of which nothing was new.
    pub duplicates: u64,
    /// Segments received before an earlier one.
    pub out_of_order: u64,
    /// Times that fast retransmit began recovery.
    pub fast_retransmits: u64,
    /// Times that the retransmission timer expired.
    pub timeouts: u64,
    /// Times that the window fell because of ECE.
    pub ecn_reductions: u64,
    /// Payload handed to applications, in order (bytes).
    pub payload_delivered: u64,
    /// Payload accepted, each byte once: what waits for an earlier byte too (bytes).
    pub payload_accepted: u64,
    /// Segments for a connection that does not exist, or that make no sense to it.
    pub discarded: u64,
}

impl core::ops::AddAssign<&Self> for TcpCounters {
    /// Sums up several hosts.
    fn add_assign(&mut self, other: &Self) {
        self.data_sent += other.data_sent;
        self.acks_sent += other.acks_sent;
        self.retransmitted += other.retransmitted;
        self.data_received += other.data_received;
        self.acks_received += other.acks_received;
        self.ce_received += other.ce_received;
        self.ece_received += other.ece_received;
        self.duplicates += other.duplicates;
        self.out_of_order += other.out_of_order;
        self.fast_retransmits += other.fast_retransmits;
        self.timeouts += other.timeouts;
        self.ecn_reductions += other.ecn_reductions;
        self.payload_delivered += other.payload_delivered;
        self.payload_accepted += other.payload_accepted;
        self.discarded += other.discarded;
    }
}

impl TcpCounters {
    /// A segment leaves the protocol.
    pub(super) const fn count_sent(&mut self, payload_len: u16, frame_len: u16, again: bool) {
        if payload_len == 0 {
            self.acks_sent.count(frame_len);
            return;
        }
        self.data_sent.count(frame_len);
        if again {
            self.retransmitted.count(frame_len);
        }
    }
}

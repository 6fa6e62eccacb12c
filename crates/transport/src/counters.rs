//! What a NIC counts.

/// Packets, and the bytes of their frames with FCS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Frame bytes, FCS included.
    pub bytes: u64,
}

impl Traffic {
    #[inline]
    pub(crate) const fn count(&mut self, frame_len: u16) {
        self.packets += 1;
        self.bytes += frame_len as u64;
    }
}

/// Everything that a NIC counts, from its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// SEND and WRITE packets and READ responses sent, retransmissions included.
    pub data_sent: Traffic,
    /// READ requests sent, retransmissions included.
    pub read_requests_sent: Traffic,
    /// Positive acknowledgements sent.
    pub acks_sent: Traffic,
    /// Negative acknowledgements sent.
    pub naks_sent: Traffic,
    /// Congestion notification packets sent.
    pub cnps_sent: Traffic,
    /// Requests that were sent before (part of `data_sent` and `read_requests_sent`). A READ
    /// counts at the requester, its repeated responses at the responder.
    pub retransmitted: Traffic,
    /// Data packets received, wanted or not.
    pub data_received: u64,
    /// Positive acknowledgements received.
    pub acks_received: u64,
    /// Negative acknowledgements received.
    pub naks_received: u64,
    /// Congestion notification packets received.
    pub cnps_received: u64,
    /// Data packets received with "congestion experienced".
    pub ce_received: u64,
    /// Local ACK timeouts that led to a retransmission or to an error.
    pub timeouts: u64,
    /// Messages received completely: SENDs and WRITEs at the responder, READs at the requester.
    pub messages_delivered: u64,
    /// Their payload [bytes].
    pub payload_delivered: u64,
    /// Requests and READ responses dropped because an earlier one was missing.
    pub out_of_order: u64,
    /// Requests and READ responses received again.
    pub duplicates: u64,
    /// Packets for a queue pair that does not exist.
    pub unknown_qp: u64,
    /// Packets for a queue pair in the error state, and packets that make no sense to it.
    pub discarded: u64,
}

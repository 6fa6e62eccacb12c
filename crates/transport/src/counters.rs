//! What a NIC counts.

/// Packets, and the bytes of their frames with FCS.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
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
    /// Management datagrams sent.
    pub datagrams_sent: Traffic,
    /// Requests that were sent before (part of `data_sent` and `read_requests_sent`). A READ
    /// counts at the requester, its repeated responses at the responder.
    pub retransmitted: Traffic,
    /// Data packets received, wanted or not.
    pub data_received: u64,
    /// Payload accepted, packet by packet, each byte once: of messages that are still arriving too, and what
    /// waits for an earlier packet (bytes).
    pub payload_accepted: u64,
    /// Positive acknowledgements received.
    pub acks_received: u64,
    /// Negative acknowledgements received.
    pub naks_received: u64,
    /// RNR NAKs received.
    pub rnr_naks_received: u64,
    /// Congestion notification packets received.
    pub cnps_received: u64,
    /// Acknowledgements received whose BECN bit told that a packet had met congestion.
    pub becn_acks_received: u64,
    /// Congestion notification messages of switches received (QCN).
    pub cnms_received: u64,
    /// Data packets received with "congestion experienced".
    pub ce_received: u64,
    /// Local ACK timeouts that led to a retransmission or to an error.
    pub timeouts: u64,
    /// Messages received completely: SENDs and WRITEs at the responder, READs at the requester.
    pub messages_delivered: u64,
    /// Their payload (bytes).
    pub payload_delivered: u64,
    /// Requests and READ responses dropped because an earlier one was missing.
    pub out_of_order: u64,
    /// Requests and READ responses received again.
    pub duplicates: u64,
    /// Datagrams without the queue pair's key.
    pub wrong_key: u64,
    /// Packets for a queue pair that does not exist.
    pub unknown_qp: u64,
    /// Packets for a queue pair in the error state, and packets that make no sense to it.
    pub discarded: u64,
    /// Connections that were given up before their answer came.
    pub late_connections: u64,
    /// Completion events: how often a sleeping program was woken.
    pub completion_events: u64,
    /// Completions that programs found when they had been woken.
    pub completions_after_events: u64,
}

impl core::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl core::ops::AddAssign<&Self> for Counters {
    /// Sums up several NICs.
    fn add_assign(&mut self, other: &Self) {
        self.data_sent += other.data_sent;
        self.read_requests_sent += other.read_requests_sent;
        self.acks_sent += other.acks_sent;
        self.naks_sent += other.naks_sent;
        self.cnps_sent += other.cnps_sent;
        self.datagrams_sent += other.datagrams_sent;
        self.retransmitted += other.retransmitted;
        self.data_received += other.data_received;
        self.acks_received += other.acks_received;
        self.naks_received += other.naks_received;
        self.rnr_naks_received += other.rnr_naks_received;
        self.cnps_received += other.cnps_received;
        self.becn_acks_received += other.becn_acks_received;
        self.cnms_received += other.cnms_received;
        self.ce_received += other.ce_received;
        self.timeouts += other.timeouts;
        self.messages_delivered += other.messages_delivered;
        self.payload_delivered += other.payload_delivered;
        self.payload_accepted += other.payload_accepted;
        self.out_of_order += other.out_of_order;
        self.duplicates += other.duplicates;
        self.wrong_key += other.wrong_key;
        self.unknown_qp += other.unknown_qp;
        self.discarded += other.discarded;
        self.late_connections += other.late_connections;
        self.completion_events += other.completion_events;
        self.completions_after_events += other.completions_after_events;
    }
}

//! The counters of a flow.

use rocelab_wire::NakCode;

/// The counters of a flow. Packets that are malformed or whose ICRC is wrong are not counted,
/// because receivers drop them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowCounters {
    /// Packets.
    pub packets: u64,
    /// Payload of all packets, in bytes.
    pub payload_bytes: u64,
    /// Payload of packets that were not sent before, in bytes.
    pub new_payload_bytes: u64,
    /// Messages: requests whose last packet was seen, each counted once.
    pub messages: u64,
    /// Requests and read responses whose PSN was sent before, or was missing before.
    pub retransmissions: u64,
    /// ACKNOWLEDGE packets that are neither NAKs nor RNR NAKs.
    pub acks: u64,
    /// NAKs, in the order of their codes: see [`FlowCounters::naks_of`].
    pub naks: [u64; 5],
    /// RNR NAKs.
    pub rnr_naks: u64,
    /// Congestion notifications.
    pub cnps: u64,
    /// Packets with the ECN codepoint CE (congestion experienced).
    pub congestion_experienced: u64,
    /// Packets with faults.
    pub faulty: u64,
}

impl FlowCounters {
    /// NAKs with this code.
    #[must_use]
    pub const fn naks_of(&self, code: NakCode) -> u64 {
        self.naks[code as usize]
    }

    /// NAKs of all codes, without RNR NAKs.
    #[must_use]
    pub fn naks_total(&self) -> u64 {
        self.naks.iter().sum()
    }
}

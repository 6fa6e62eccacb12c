//! What a connection manager is told: once, and for each connection.

use rocelab_units::Duration;
use rocelab_wire::Gid;
use rocelab_wire::cm::timeout_ns;

/// The time of a 5-bit timeout code: 4.096 us x 2^code.
pub(super) fn time(code: u8) -> Duration {
    Duration::from_ns(timeout_ns(code))
}

/// A NIC's connection manager. The defaults are what Linux's rdma_cm puts into its REQs
/// (`drivers/infiniband/core/cma.c` of kernel 6.1, and the captures in the tests).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CmConfig {
    /// The port's GID, for REQs and the addresses in their private data.
    pub gid: Gid,
    /// The adapter's GUID.
    pub ca_guid: u64,
    /// The first communication ID; the next connections count on. 0 is skipped.
    pub first_communication_id: u32,
    /// The high half of all transaction IDs; the low half is the communication ID.
    pub transaction_id_prefix: u32,
    /// Within which time a host answers a CM message: a code of 5 bits, 4.096 us x 2^n. It is both
    /// what is asked of the peer and what is promised to it.
    pub response_timeout: u8,
    /// How often a message is sent again before the connection is given up, 0 to 15.
    pub max_cm_retries: u8,
    /// How long a packet may be on its way: a code of 5 bits. The active side waits for two of
    /// them and the response timeout, and the queue pairs' ACK timeout is one more.
    pub packet_lifetime: u8,
    /// For how long an MRA asks: a code of 5 bits.
    pub service_timeout: u8,
    /// How long the adapter takes for an ACK, in REPs: a code of 5 bits.
    pub target_ack_delay: u8,
    /// Hop limit of all connections.
    pub hop_limit: u8,
    /// Most requests that wait for the application's decision; further ones are rejected with
    /// [`RejectReason::NO_RESOURCES`](rocelab_wire::cm::RejectReason::NO_RESOURCES). Bounds what
    /// strangers can make a host remember. Our choice: 1024.
    pub max_pending: usize,
}

impl CmConfig {
    /// The defaults, for the port with this GID and the adapter with this GUID.
    #[must_use]
    pub const fn new(gid: Gid, ca_guid: u64) -> Self {
        Self {
            gid,
            ca_guid,
            first_communication_id: 1,
            transaction_id_prefix: 2,
            response_timeout: 20,
            max_cm_retries: 15,
            packet_lifetime: 18,
            service_timeout: 24,
            target_ack_delay: 15,
            hop_limit: 64,
            max_pending: 1_024,
        }
    }

    /// The local ACK timeout code of connections: twice the packet lifetime, 5 bits (Linux
    /// `cm_ack_timeout`, of an adapter that is faster than the network).
    #[must_use]
    pub fn ack_timeout(&self) -> u8 {
        self.packet_lifetime.saturating_add(1).min(31)
    }

    /// How long the active side waits for the answer to a REQ.
    pub(super) fn request_timeout(&self) -> Duration {
        time(self.packet_lifetime) * 2 + time(self.response_timeout)
    }
}

/// A connection that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    /// The host to connect to, as the network names it.
    pub destination: u32,
    /// Its GID.
    pub remote_gid: Gid,
    /// The service: see [`service_id`](rocelab_wire::cm::service_id).
    pub service_id: u64,
    /// The own port, for the header in the private data.
    pub source_port: u16,
    /// The own queue pair number, 24 bits.
    pub qpn: u32,
    /// The PSN that the own queue pair will expect first, 24 bits: see the [module](super).
    pub starting_psn: u32,
    /// The path MTU in bytes: 256, 512, 1024, 2048 or 4096.
    pub path_mtu: u16,
    /// READs and atomics that the own queue pair can answer at a time.
    pub responder_resources: u8,
    /// READs and atomics that it wants to have outstanding.
    pub initiator_depth: u8,
    /// How often both queue pairs retry, 0 to 7.
    pub retry_count: u8,
    /// How often the peer's queue pair retries after RNR NAKs, 0 to 7; 7 is for ever.
    pub rnr_retry_count: u8,
    /// Partition key of the connection.
    pub p_key: u16,
    /// Whether the own queue pair has a shared receive queue.
    pub srq: bool,
    /// Whether the own queue pair does end-to-end flow control.
    pub end_to_end_flow_control: bool,
    /// Flow label of the connection, 20 bits.
    pub flow_label: u32,
    /// Traffic class of the connection (DSCP and ECN).
    pub traffic_class: u8,
    /// For the peer's application, behind the addresses: up to 56 bytes.
    pub private_data: Vec<u8>,
}

impl ConnectRequest {
    /// A request with one READ at a time each way, all retries (7), a path MTU of 1024 bytes, and
    /// no private data.
    #[must_use]
    pub const fn new(
        destination: u32,
        remote_gid: Gid,
        service_id: u64,
        qpn: u32,
        starting_psn: u32,
    ) -> Self {
        Self {
            destination,
            remote_gid,
            service_id,
            source_port: 0,
            qpn,
            starting_psn,
            path_mtu: 1024,
            responder_resources: 1,
            initiator_depth: 1,
            retry_count: 7,
            rnr_retry_count: 7,
            p_key: 0xffff,
            srq: false,
            end_to_end_flow_control: false,
            flow_label: 0,
            traffic_class: 0,
            private_data: Vec::new(),
        }
    }
}

/// How a request is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptReply {
    /// The own queue pair number, 24 bits.
    pub qpn: u32,
    /// The PSN that the own queue pair will expect first, 24 bits: see the [module](super).
    pub starting_psn: u32,
    /// READs and atomics that the own queue pair can answer at a time. The REP says no more than
    /// the peer wants to have outstanding.
    pub responder_resources: u8,
    /// READs and atomics that it wants to have outstanding. The REP says no more than the peer can
    /// answer.
    pub initiator_depth: u8,
    /// How often the peer's queue pair retries after RNR NAKs, 0 to 7; 7 is for ever.
    pub rnr_retry_count: u8,
    /// Whether the own queue pair has a shared receive queue.
    pub srq: bool,
    /// Whether the own queue pair does end-to-end flow control.
    pub end_to_end_flow_control: bool,
    /// For the peer's application: up to 196 bytes.
    pub private_data: Vec<u8>,
}

impl AcceptReply {
    /// A reply with one READ at a time each way, all RNR retries (7), and no private data.
    #[must_use]
    pub const fn new(qpn: u32, starting_psn: u32) -> Self {
        Self {
            qpn,
            starting_psn,
            responder_resources: 1,
            initiator_depth: 1,
            rnr_retry_count: 7,
            srq: false,
            end_to_end_flow_control: false,
            private_data: Vec::new(),
        }
    }
}

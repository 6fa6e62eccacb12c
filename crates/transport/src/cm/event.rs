//! What a connection manager reports.

use rocelab_wire::Gid;
use rocelab_wire::cm::{CmAttribute, RejectReason};

/// The name of a connection at one host: its communication ID.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
)]
pub struct ConnectionId(pub u32);

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[derive(borsh::BorshSerialize, borsh::BorshDeserialize)]
pub enum CmEvent {
    /// Someone wants to connect: to be accepted or rejected.
    ConnectRequested {
        /// The new connection.
        connection: ConnectionId,
        /// What is asked for.
        request: IncomingRequest,
    },
    /// Both sides know all of each other: the queue pair may send.
    Established {
        /// The connection.
        connection: ConnectionId,
        /// How the queue pair is to be set up.
        parameters: ConnectionParameters,
        /// Private data of the REP at the active side (196 bytes), empty at the passive side.
        private_data: Vec<u8>,
    },
    /// The peer rejects the request or the reply. The connection no longer exists.
    Rejected {
        /// The connection.
        connection: ConnectionId,
        /// Why.
        reason: RejectReason,
    },
    /// The peer did not answer at all. The connection no longer exists.
    TimedOut {
        /// The connection.
        connection: ConnectionId,
        /// The message without an answer: REQ or REP.
        message: CmAttribute,
    },
    /// The peer's answer to a REQ came after all, when the connection had been given up. It was not there in
    /// time because the timers are shorter than the round-trip time, or because messages were lost before.
    AnsweredLate {
        /// The connection, which no longer exists.
        connection: ConnectionId,
    },
    /// The peer wants to disconnect: to be answered by
    /// [`disconnect`](super::ConnectionManager::disconnect).
    DisconnectRequested {
        /// The connection.
        connection: ConnectionId,
    },
    /// The connection is over.
    Disconnected {
        /// The connection.
        connection: ConnectionId,
        /// Whether both sides know that: not if the DREQ was never answered.
        confirmed: bool,
    },
    /// Packets that were still on their way are gone: the queue pair's number may be used again.
    /// The connection no longer exists.
    Released {
        /// The connection.
        connection: ConnectionId,
    },
}

/// What a REQ asks for.
#[derive(Clone, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct IncomingRequest {
    /// The host that asks, as the network names it.
    pub source: u32,
    /// Its GID.
    pub remote_gid: Gid,
    /// The service that it wants.
    pub service_id: u64,
    /// Its queue pair number, 24 bits.
    pub remote_qpn: u32,
    /// Whether it asks for an unreliable connection (UC) instead of a reliable one.
    pub unreliable: bool,
    /// READs and atomics that it can answer at a time.
    pub responder_resources: u8,
    /// READs and atomics that it wants to have outstanding.
    pub initiator_depth: u8,
    /// All 92 bytes of private data, beginning with a
    /// [`CmaHeader`](rocelab_wire::cm::CmaHeader) if the service is a port.
    pub private_data: Vec<u8>,
}

/// All that a queue pair is set up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct ConnectionParameters {
    /// The peer, as the network names it.
    pub peer: u32,
    /// Its GID.
    pub remote_gid: Gid,
    /// The own queue pair number, 24 bits.
    pub local_qpn: u32,
    /// The peer's queue pair number, 24 bits.
    pub remote_qpn: u32,
    /// The PSN of the first packet to send, 24 bits.
    pub send_psn: u32,
    /// The PSN of the first packet to expect, 24 bits.
    pub receive_psn: u32,
    /// Code of the path MTU: 1 to 5 for 256, 512, 1024, 2048 and 4096 bytes (others can come from
    /// a peer that makes no sense).
    pub path_mtu_code: u8,
    /// Local ACK timeout, a code of 5 bits: 4.096 us x 2^n.
    pub ack_timeout: u8,
    /// How often to retry, 0 to 7.
    pub retry_count: u8,
    /// How often to retry after RNR NAKs, as the peer wishes, 0 to 7; 7 is for ever.
    pub rnr_retry_count: u8,
    /// READs and atomics to answer at a time (`max_dest_rd_atomic`).
    pub responder_resources: u8,
    /// READs and atomics to have outstanding at most (`max_rd_atomic`).
    pub initiator_depth: u8,
    /// Partition key.
    pub p_key: u16,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Whether the connection is an unreliable one (UC).
    pub unreliable: bool,
    /// Whether the peer does end-to-end flow control: its ACKs carry credits.
    pub end_to_end_flow_control: bool,
}

impl ConnectionParameters {
    /// The path MTU in bytes; none if the code means nothing.
    #[must_use]
    pub const fn path_mtu(&self) -> Option<u16> {
        match self.path_mtu_code {
            code @ 1..=5 => Some(128 << code),
            _ => None,
        }
    }
}

/// Why a call was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CmError {
    /// There is no such connection, or no longer.
    #[error("there is no connection {:#010x}", .0.0)]
    UnknownConnection(ConnectionId),
    /// The connection is at a point where this cannot be asked for.
    #[error("connection {:#010x} is in another state", .0.0)]
    WrongState(ConnectionId),
    /// The private data does not fit the message.
    #[error("{len} bytes of private data do not fit: at most {max}")]
    PrivateDataTooLong {
        /// Its length (bytes).
        len: usize,
        /// Room in the message (bytes).
        max: usize,
    },
    /// The path MTU is none of the five that exist.
    #[error("path MTU {0} does not exist: use 256, 512, 1024, 2048 or 4096")]
    PathMtu(u16),
    /// All communication IDs are in use.
    #[error("all communication IDs are in use")]
    TooManyConnections,
}

/// Messages that were sent again, or made no sense.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
pub struct CmCounters {
    /// REQs, REPs and DREQs that were sent again because no answer came in time.
    pub repeated: u64,
    /// Messages that had arrived before.
    pub duplicates: u64,
    /// Messages that belong to no connection, come at a wrong time, or cannot be read.
    pub discarded: u64,
}

//! Work that is posted to a queue pair, and what became of it.

use rocelab_wire::Opcode;

/// The longest message (bytes): 2^31.
pub const MAX_MESSAGE_LENGTH: u32 = 1 << 31;

/// The payload of an atomic operation (bytes).
pub const ATOMIC_LENGTH: u32 = 8;

/// What a work request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub enum Operation {
    /// SEND into a buffer of the responder's choice.
    Send,
    /// RDMA WRITE into the responder's memory.
    Write,
    /// RDMA READ: the payload travels from responder to requester.
    Read,
    /// SEND, and 32 bits of immediate data with its last packet.
    SendWithImmediate(u32),
    /// SEND that makes one of the responder's keys useless.
    SendWithInvalidate(u32),
    /// RDMA WRITE, and 32 bits of immediate data with its last packet.
    WriteWithImmediate(u32),
    /// Stores `swap` in eight bytes of the responder's memory if they are `compare`.
    CompareSwap {
        /// The value that must be there.
        compare: u64,
        /// The value to store.
        swap: u64,
    },
    /// Adds to eight bytes of the responder's memory, modulo 2^64.
    FetchAdd {
        /// The value to add.
        add: u64,
    },
}

/// One message to send or to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct WorkRequest {
    /// The caller's name for it: comes back with the completion.
    pub id: u64,
    /// What to do.
    pub operation: Operation,
    /// Payload, 0 to [`MAX_MESSAGE_LENGTH`] (bytes); of atomic operations always 8.
    pub length: u32,
    /// Address in the responder's memory (WRITE, READ and atomics).
    pub remote_address: u64,
    /// Key of the responder's memory region (WRITE, READ and atomics).
    pub r_key: u32,
    /// Address in the requester's memory: where payload comes from, and where that of READs and
    /// the result of atomics go. Of interest only where memory holds bytes.
    pub local_address: u64,
    /// Whether its last packet asks for an event at the receiver, where that has a program that sleeps (SEND, and WRITE with
    /// immediate).
    pub solicited: bool,
}

/// A buffer for one SEND, or a ticket for one WRITE with immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct ReceiveRequest {
    /// The caller's name for it: comes back with the completion.
    pub id: u64,
    /// Where payload goes. Of interest only where memory holds bytes.
    pub address: u64,
    /// Room for payload (bytes).
    pub length: u32,
}

/// Where a datagram goes: what a queue pair of an unreliable datagram is not told at set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct AddressHandle {
    /// The other end, as in [`QueuePairConfig::destination`](crate::QueuePairConfig::destination).
    pub destination: u32,
    /// UDP source port (v2) or flow label (v1).
    pub entropy: u32,
    /// The other end's queue pair number, 24 bits.
    pub dest_qp: u32,
    /// The other end's queue key.
    pub q_key: u32,
}

/// The end of a work request. Those of one queue pair come in the order of posting, each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Completion {
    /// The queue pair that it was posted to.
    pub qpn: u32,
    /// [`WorkRequest::id`].
    pub id: u64,
    /// How it ended.
    pub status: CompletionStatus,
    /// [`WorkRequest::operation`].
    pub operation: Operation,
    /// Payload that was transferred: the whole length, or 0 if it failed (bytes).
    pub bytes: u32,
    /// What was in the responder's memory before an atomic operation; 0 of anything else.
    pub original: u64,
}

/// The end of a receive request. Those of one receive queue come in the order of posting, each
/// once; from a shared receive queue, those of each queue pair do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct ReceiveCompletion {
    /// The queue pair whose message used it.
    pub qpn: u32,
    /// [`ReceiveRequest::id`].
    pub id: u64,
    /// How it ended.
    pub status: CompletionStatus,
    /// Payload of the message, WRITEs with immediate included (bytes); 0 if it failed.
    pub bytes: u32,
    /// The message's immediate data, if it had any.
    pub immediate: Option<u32>,
    /// The key that the message made useless, if it did.
    pub invalidated: Option<u32>,
    /// Whether the message asked for an event: its last packet had the Solicited Event bit.
    pub solicited: bool,
    /// Who sent a datagram.
    pub from: Option<DatagramSource>,
}

/// Where a datagram came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct DatagramSource {
    /// The host, as the NIC was told with the packet.
    pub host: u32,
    /// Its queue pair, 24 bits.
    pub qpn: u32,
}

/// A queue pair took its alternate path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct PathMigration {
    /// When.
    pub time: rocelab_units::SimTime,
    /// Which queue pair.
    pub qpn: u32,
}

/// How a work request ended. After anything but `Success` the queue pair is in the error state,
/// but for datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[derive(borsh::BorshSerialize, borsh::BorshDeserialize)]
pub enum CompletionStatus {
    /// All of it was acknowledged, read or received; without acknowledgements: sent.
    Success,
    /// The message was longer than the receive request's buffer.
    LocalLength,
    /// The peer stayed silent for all retries.
    RetryExceeded,
    /// The peer had no receive request for all retries.
    RnrRetryExceeded,
    /// The peer refused it: NAK "invalid request".
    RemoteInvalidRequest,
    /// The peer refused it: NAK "remote access error".
    RemoteAccess,
    /// The peer could not do it: NAK "remote operational error".
    RemoteOperational,
    /// The queue pair was in the error state, or got there before this work's turn.
    Flushed,
}

/// Why work was not accepted. Nothing was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// There is no such queue pair on this NIC.
    #[error("there is no queue pair {qpn:#x}")]
    UnknownQueuePair {
        /// The number given.
        qpn: u32,
    },
    /// There is no such shared receive queue on this NIC.
    #[error("there is no shared receive queue {srqn}")]
    UnknownReceiveQueue {
        /// The number given.
        srqn: u32,
    },
    /// The queue pair is not yet ready to send, or cannot take what was posted in its state.
    #[error("queue pair {qpn:#x} is not in a state to take this work")]
    WrongState {
        /// The queue pair.
        qpn: u32,
    },
    /// The message is longer than [`MAX_MESSAGE_LENGTH`].
    #[error("a message of {length} bytes is longer than 2^31: post several")]
    TooLong {
        /// The length given (bytes).
        length: u32,
    },
    /// The message is longer than the path MTU of an unreliable datagram.
    #[error("a datagram of {length} bytes is longer than the path MTU of {mtu} bytes")]
    DatagramTooLong {
        /// The length given (bytes).
        length: u32,
        /// Payload bytes of a full packet.
        mtu: u32,
    },
    /// The transport service of the queue pair cannot do this.
    #[error("queue pair {qpn:#x} has a transport service without this operation")]
    NotOnThisService {
        /// The queue pair.
        qpn: u32,
    },
    /// The receive queue is full, or shared, or endless: nothing can be posted to it.
    #[error("queue pair {qpn:#x} takes no receive requests of its own")]
    NoReceiveQueue {
        /// The queue pair.
        qpn: u32,
    },
}

impl WorkRequest {
    /// A work request for addresses and keys of 0.
    #[must_use]
    pub const fn new(id: u64, operation: Operation, length: u32) -> Self {
        Self {
            id,
            operation,
            length,
            remote_address: 0,
            r_key: 0,
            local_address: 0,
            solicited: false,
        }
    }

    /// The same for this address and key of the responder.
    #[must_use]
    pub const fn to(self, remote_address: u64, r_key: u32) -> Self {
        Self { remote_address, r_key, ..self }
    }

    /// The same with the Solicited Event bit, or without.
    #[must_use]
    pub const fn soliciting(self, solicited: bool) -> Self {
        Self { solicited, ..self }
    }

    /// The same from (or into) this address of the requester.
    #[must_use]
    pub const fn local(self, local_address: u64) -> Self {
        Self { local_address, ..self }
    }
}

impl Operation {
    /// Whether it is an RDMA READ.
    #[inline]
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Read)
    }

    /// Whether it is an atomic operation.
    #[inline]
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::CompareSwap { .. } | Self::FetchAdd { .. })
    }

    /// Whether only a response with its result ends it, and no acknowledgement.
    #[inline]
    #[must_use]
    pub const fn awaits_response(self) -> bool {
        self.is_read() || self.is_atomic()
    }

    /// The immediate data, if it has any.
    #[inline]
    #[must_use]
    pub const fn immediate(self) -> Option<u32> {
        match self {
            Self::SendWithImmediate(data) | Self::WriteWithImmediate(data) => Some(data),
            _ => None,
        }
    }

    /// Whether its packets carry more than a RETH and payload.
    #[inline]
    pub(crate) const fn has_extras(self) -> bool {
        !matches!(self, Self::Send | Self::Write | Self::Read)
    }

    /// The opcode of a request packet, by its place in the message. A READ is one packet
    /// whatever its place.
    #[inline]
    pub(crate) const fn opcode(self, first: bool, last: bool) -> Opcode {
        match (self, first, last) {
            (Self::Read, ..) => Opcode::RcRdmaReadRequest,
            (Self::CompareSwap { .. }, ..) => Opcode::RcCompareSwap,
            (Self::FetchAdd { .. }, ..) => Opcode::RcFetchAdd,
            (Self::Write | Self::WriteWithImmediate(_), true, false) => Opcode::RcRdmaWriteFirst,
            (Self::Write | Self::WriteWithImmediate(_), false, false) => Opcode::RcRdmaWriteMiddle,
            (Self::Write, false, true) => Opcode::RcRdmaWriteLast,
            (Self::Write, true, true) => Opcode::RcRdmaWriteOnly,
            (Self::WriteWithImmediate(_), false, true) => Opcode::RcRdmaWriteLastWithImmediate,
            (Self::WriteWithImmediate(_), true, true) => Opcode::RcRdmaWriteOnlyWithImmediate,
            (_, true, false) => Opcode::RcSendFirst,
            (_, false, false) => Opcode::RcSendMiddle,
            (Self::SendWithImmediate(_), false, true) => Opcode::RcSendLastWithImmediate,
            (Self::SendWithImmediate(_), true, true) => Opcode::RcSendOnlyWithImmediate,
            (Self::SendWithInvalidate(_), false, true) => Opcode::RcSendLastWithInvalidate,
            (Self::SendWithInvalidate(_), true, true) => Opcode::RcSendOnlyWithInvalidate,
            (Self::Send, false, true) => Opcode::RcSendLast,
            (Self::Send, true, true) => Opcode::RcSendOnly,
        }
    }
}

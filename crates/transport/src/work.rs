//! Work that is posted to a queue pair, and what became of it.

use rocelab_wire::Opcode;

/// The longest message (bytes): 2^31.
pub const MAX_MESSAGE_LENGTH: u32 = 1 << 31;

/// What a work request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// SEND into a buffer of the responder's choice.
    Send,
    /// SEND, and 32 bits of immediate data with its last packet.
    SendWithImmediate(u32),
    /// RDMA WRITE into the responder's memory.
    Write,
    /// RDMA WRITE, and 32 bits of immediate data with its last packet.
    WriteWithImmediate(u32),
    /// RDMA READ: the payload travels from responder to requester.
    Read,
}

/// One message to send or to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkRequest {
    /// The caller's name for it: comes back with the completion.
    pub id: u64,
    /// What to do.
    pub operation: Operation,
    /// Payload, 0 to [`MAX_MESSAGE_LENGTH`] (bytes).
    pub length: u32,
    /// Address in the responder's memory (WRITE and READ).
    pub remote_address: u64,
    /// Key of the responder's memory region (WRITE and READ).
    pub r_key: u32,
}

/// The end of a work request. Those of one queue pair come in the order of posting, each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// How a work request ended. After anything but `Success` the queue pair is in the error state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionStatus {
    /// All of it was acknowledged, or read.
    Success,
    /// The peer stayed silent for all retries.
    RetryExceeded,
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
    /// The message is longer than [`MAX_MESSAGE_LENGTH`].
    #[error("a message of {length} bytes is longer than 2^31: post several")]
    TooLong {
        /// The length given (bytes).
        length: u32,
    },
}

impl Operation {
    /// Whether it is an RDMA READ.
    #[inline]
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Read)
    }

    /// The immediate data, if it has any.
    #[inline]
    #[must_use]
    pub const fn immediate(self) -> Option<u32> {
        match self {
            Self::SendWithImmediate(data) | Self::WriteWithImmediate(data) => Some(data),
            Self::Send | Self::Write | Self::Read => None,
        }
    }

    /// The opcode of a request packet, by its place in the message. A READ is one packet
    /// whatever its place.
    #[inline]
    pub(crate) const fn opcode(self, first: bool, last: bool) -> Opcode {
        match (self, first, last) {
            (Self::Read, ..) => Opcode::RcRdmaReadRequest,
            (Self::Send | Self::SendWithImmediate(_), true, false) => Opcode::RcSendFirst,
            (Self::Send | Self::SendWithImmediate(_), false, false) => Opcode::RcSendMiddle,
            (Self::Send, false, true) => Opcode::RcSendLast,
            (Self::Send, true, true) => Opcode::RcSendOnly,
            (Self::SendWithImmediate(_), false, true) => Opcode::RcSendLastWithImmediate,
            (Self::SendWithImmediate(_), true, true) => Opcode::RcSendOnlyWithImmediate,
            (Self::Write | Self::WriteWithImmediate(_), true, false) => Opcode::RcRdmaWriteFirst,
            (Self::Write | Self::WriteWithImmediate(_), false, false) => Opcode::RcRdmaWriteMiddle,
            (Self::Write, false, true) => Opcode::RcRdmaWriteLast,
            (Self::Write, true, true) => Opcode::RcRdmaWriteOnly,
            (Self::WriteWithImmediate(_), false, true) => Opcode::RcRdmaWriteLastWithImmediate,
            (Self::WriteWithImmediate(_), true, true) => Opcode::RcRdmaWriteOnlyWithImmediate,
        }
    }
}

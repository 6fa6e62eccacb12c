//! The states of a queue pair.

/// The state of a queue pair (IBTA: those of its states that are modelled; there is no "send queue
/// drained" and no "send queue error").
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub enum QueuePairState {
    /// Takes receive requests; packets are dropped.
    Init,
    /// Receives, and answers; takes no work.
    ReadyToReceive,
    /// Sends and receives.
    ReadyToSend,
    /// A work request failed. Packets are dropped, work is flushed.
    Error,
}

impl QueuePairState {
    /// Whether the queue pair may be put from this state into `next`: step by step to "ready to
    /// send", and from anywhere to "error".
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Init, Self::ReadyToReceive)
                | (Self::ReadyToReceive, Self::ReadyToSend)
                | (_, Self::Error)
        )
    }

    /// Whether packets are received in it.
    #[inline]
    pub(crate) const fn receives(self) -> bool {
        matches!(self, Self::ReadyToReceive | Self::ReadyToSend)
    }
}

/// A queue pair was not put into a state. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// There is no such queue pair on this NIC.
    #[error("there is no queue pair {qpn:#x}")]
    UnknownQueuePair {
        /// The number given.
        qpn: u32,
    },
    /// One state does not follow the other.
    #[error("a queue pair in state {from:?} cannot be put into state {to:?}")]
    NoSuchTransition {
        /// The present state.
        from: QueuePairState,
        /// The state given.
        to: QueuePairState,
    },
}

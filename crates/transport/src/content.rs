//! What a packet carries beyond its header words: most packets carry nothing.

/// Content that travels beside a [`Packet`](crate::Packet) which
/// [says so](crate::Packet::has_content).
#[derive(Clone, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub enum Content {
    /// The operands of an atomic operation, which have no room among the header words.
    Operands(AtomicOperands),
    /// Payload bytes: [`Packet::payload_len`](crate::Packet::payload_len) of them. Only where
    /// memory holds bytes.
    Payload(Box<[u8]>),
}

/// The data fields of an [`AtomicEth`](rocelab_wire::AtomicEth).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
pub struct AtomicOperands {
    /// The value to store, or to add.
    pub swap_or_add: u64,
    /// The value that must be there for a swap.
    pub compare: u64,
}

impl Content {
    /// The payload bytes; empty for anything else.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        match self {
            Self::Payload(bytes) => bytes,
            Self::Operands(_) => &[],
        }
    }
}

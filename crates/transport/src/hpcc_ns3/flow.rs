//! Flows: how they start, and how they end.

/// A flow that starts.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Its number in the plan.
    pub number: u32,
    /// The receiving host.
    pub destination: u32,
    /// Source port, and above it destination port (16 bits each).
    pub ports: u32,
    /// Payload (bytes).
    pub size: u32,
    /// Priority 1 to 7.
    pub priority: u8,
}

/// A flow whose last byte was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct FlowEnd {
    /// Its number in the plan.
    pub flow: u32,
    /// Packets that were sent again.
    pub retransmissions: u64,
}

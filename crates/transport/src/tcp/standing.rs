//! What an end of a connection waits for, for those who look at it from outside.

/// What an end of a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpStanding {
    /// All that was posted is acknowledged; or it receives, and no acknowledgement is made.
    NoWork,
    /// All was sent at least once, and not all is acknowledged.
    Unanswered,
    /// The congestion window allows no more in flight.
    CongestionWindow,
    /// The receive window ends.
    ReceiveWindow,
    /// A segment is on its way from the protocol to the wire.
    InStack,
    /// A segment is through the stack, and waits for the port.
    MaySend,
}

/// How often a sender has noticed that something was lost.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
pub struct TcpLosses {
    /// Fast retransmits (RFC 6675, section 5).
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer (RFC 6298, section 5.5).
    pub timeouts: u32,
}

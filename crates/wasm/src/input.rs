//! What a guest is told in a call.

/// No time, and no limit.
pub const NEVER: u64 = u64::MAX;

/// Bits of [`Input::flags`].
pub const FLAG_ECN: u32 = 1;
/// The loss was noticed by a timeout.
pub const FLAG_TIMEOUT: u32 = 2;
/// There is a round-trip time.
pub const FLAG_RTT: u32 = 4;

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// When it happens.
    pub now: u64,
    /// Payload that is newly acknowledged.
    pub acked: u64,
    /// Position before which all has arrived.
    pub acknowledged: u64,
    /// Position of the next packet to send.
    pub sent: u64,
    /// Round-trip time, if there is one.
    pub rtt: u64,
    /// Length of the frame that was sent.
    pub bytes: u64,
    /// See the constants.
    pub flags: u32,
    /// Number of the timer, or quantized feedback.
    pub value: u32,
}

impl Input {
    /// An event at a time, about nothing more.
    pub const fn at(now: u64) -> Self {
        Self { now, acked: 0, acknowledged: 0, sent: 0, rtt: NEVER, bytes: 0, flags: 0, value: 0 }
    }
}

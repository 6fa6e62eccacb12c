//! What a guest is told in a call.

use rocelab_transport::congestion_control::EndpointReport;

/// No time, and no limit.
pub const NEVER: u64 = u64::MAX;

/// Bits of [`Input::flags`].
pub const FLAG_ECN: u32 = 1;
/// The loss was noticed by a timeout.
pub const FLAG_TIMEOUT: u32 = 2;
/// There is a round-trip time.
pub const FLAG_RTT: u32 = 4;
/// The ends of the path tell of themselves.
pub const FLAG_ENDPOINT: u32 = 8;

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
    /// Length of the frame that was sent. Of an acknowledgement with [`FLAG_ENDPOINT`]: endpoint delay << 32 | time in
    /// NICs, in ns.
    pub bytes: u64,
    /// See the constants.
    pub flags: u32,
    /// Number of the timer, or quantized feedback. Of an acknowledgement with [`FLAG_ENDPOINT`]: hops.
    pub value: u32,
}

impl Input {
    /// The same acknowledgement with what the ends of the path tell.
    #[must_use]
    pub fn with_endpoint(self, report: EndpointReport) -> Self {
        let EndpointReport { hops, delay_ns, held_ns } = report;
        let bytes = u64::from(delay_ns) << 32 | u64::from(held_ns);
        Self { bytes, value: hops.into(), flags: self.flags | FLAG_ENDPOINT, ..self }
    }

    /// An event at a time, about nothing more.
    pub const fn at(now: u64) -> Self {
        Self { now, acked: 0, acknowledged: 0, sent: 0, rtt: NEVER, bytes: 0, flags: 0, value: 0 }
    }
}

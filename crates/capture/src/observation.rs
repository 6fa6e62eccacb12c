//! Noteworthy properties of a frame that are not faults.

use std::fmt;

use rocelab_wire::{NakCode, Psn, rnr_timer_ns};

use crate::dissection::NotLookedInto;

/// Something that can happen in a network that works correctly: not a [`Fault`](crate::Fault).
///
/// `Display` is one line: a name for programs, and after a colon details, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Observation {
    /// The request's PSN was sent before.
    Retransmission {
        /// The PSN.
        psn: Psn,
    },
    /// The PSN is the same as that of the packet before.
    Duplicate {
        /// The PSN.
        psn: Psn,
    },
    /// PSNs are missing before this packet: lost, late, or not captured.
    Gap {
        /// The first missing PSN.
        first: Psn,
        /// Number of consecutive missing PSNs.
        count: u32,
    },
    /// The packet has a PSN that was missing.
    FillsGap {
        /// The PSN.
        psn: Psn,
    },
    /// PSNs start anew, far away from those before: the queue pair's number was reused.
    NewSequence {
        /// The first PSN.
        psn: Psn,
    },
    /// The request that this packet answers is not in the capture.
    UnseenRequest {
        /// The PSN of the request.
        psn: Psn,
    },
    /// The response acknowledges packets that are missing here, but not all packets of the flow
    /// need pass this interface: it is not the port of one host alone.
    AcknowledgesElsewhere {
        /// The first missing PSN.
        first: Psn,
        /// Number of consecutive missing PSNs.
        count: u32,
    },
    /// Reserved bits of the standard are set, which some adapters do.
    ReservedBits {
        /// The value of the BTH's resv6.
        resv6: u8,
    },
    /// A congestion notification with BECN = 0.
    CnpWithoutBecn,
    /// A request was refused.
    Nak(NakCode),
    /// The receiver was not ready.
    RnrNak {
        /// Timer code, 5 bits.
        timer_code: u8,
    },
    /// A congestion notification.
    Cnp,
    /// The frame has experienced congestion: its ECN codepoint is CE, or in native InfiniBand FECN is set.
    CongestionExperienced,
    /// The frame ends with an FCS that the file does not declare.
    UndeclaredFcs,
    /// More bytes follow the packet than Ethernet's padding needs.
    TrailingBytes {
        /// Number of these bytes.
        count: usize,
    },
    /// Only the beginning of the frame was captured: checksums and pad cannot be checked.
    Cut,
    /// The frame may have a RoCE packet in it, but was not looked into.
    NotLookedInto(NotLookedInto),
}

impl Observation {
    /// The name for programs, such as `retransmission`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Retransmission { .. } => "retransmission",
            Self::Duplicate { .. } => "duplicate",
            Self::Gap { .. } => "gap",
            Self::FillsGap { .. } => "fills_gap",
            Self::NewSequence { .. } => "new_sequence",
            Self::UnseenRequest { .. } => "unseen_request",
            Self::AcknowledgesElsewhere { .. } => "acknowledges_elsewhere",
            Self::ReservedBits { .. } => "reserved_bits",
            Self::CnpWithoutBecn => "cnp_without_becn",
            Self::Nak(_) => "nak",
            Self::RnrNak { .. } => "rnr_nak",
            Self::Cnp => "cnp",
            Self::CongestionExperienced => "congestion_experienced",
            Self::UndeclaredFcs => "undeclared_fcs",
            Self::TrailingBytes { .. } => "trailing_bytes",
            Self::Cut => "cut",
            Self::NotLookedInto(_) => "not_looked_into",
        }
    }
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Retransmission { psn }
            | Self::Duplicate { psn }
            | Self::FillsGap { psn }
            | Self::NewSequence { psn }
            | Self::UnseenRequest { psn } => write!(f, ": psn {psn}"),
            Self::Gap { first, count } => write!(f, ": {count} missing from psn {first}"),
            Self::AcknowledgesElsewhere { first, count } => {
                write!(f, ": {count} packets from psn {first} that did not pass here")
            }
            Self::ReservedBits { resv6 } => write!(f, ": BTH resv6 is {resv6:#x}"),
            Self::Nak(code) => write!(f, ": {code}"),
            Self::RnrNak { timer_code } => {
                write!(f, ": timer {} us", rnr_timer_ns(*timer_code) / 1_000)
            }
            Self::NotLookedInto(reason) => write!(f, ": {reason}"),
            Self::TrailingBytes { count } => write!(f, ": {count}"),
            Self::Cnp
            | Self::CnpWithoutBecn
            | Self::CongestionExperienced
            | Self::UndeclaredFcs
            | Self::Cut => Ok(()),
        }
    }
}

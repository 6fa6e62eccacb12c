//! What is worth telling of a frame that is not wrong.

use std::fmt;

use rocelab_wire::{NakCode, Psn, rnr_timer_ns};

/// Something that happens in a sound network: no [`Fault`](crate::Fault).
///
/// `Display` is one line: a name for programs, and, where there are particulars, a colon and these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Observation {
    /// The request's PSN was sent before.
    Retransmission {
        /// It.
        psn: Psn,
    },
    /// The same PSN as that of the packet before.
    Duplicate {
        /// It.
        psn: Psn,
    },
    /// PSNs are missing before this packet: lost, late, or not captured.
    Gap {
        /// The first of them.
        first: Psn,
        /// How many follow each other.
        count: u32,
    },
    /// The packet has a PSN that was missing.
    FillsGap {
        /// It.
        psn: Psn,
    },
    /// PSNs start anew, far away from those before: the queue pair's number is used again.
    NewSequence {
        /// The first.
        psn: Psn,
    },
    /// The capture does not hold the request that this answers.
    UnseenRequest {
        /// Its PSN.
        psn: Psn,
    },
    /// The response acknowledges packets that are missing, where not all packets of the flow need pass: this
    /// is not the port of one host alone.
    AcknowledgesElsewhere {
        /// The first of them.
        first: Psn,
        /// How many follow each other.
        count: u32,
    },
    /// Bits are set that the standard reserves, and that adapters use all the same.
    ReservedBits {
        /// The BTH's resv6.
        resv6: u8,
    },
    /// A congestion notification whose BECN is clear.
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
    /// The frame met congestion: ECN says CE.
    CongestionExperienced,
    /// The frame ends with an FCS that the file does not declare.
    UndeclaredFcs,
    /// Bytes follow the packet that Ethernet does not ask for.
    TrailingBytes {
        /// How many.
        count: usize,
    },
    /// The capture holds only the frame's beginning: checksums and pad cannot be checked.
    Cut,
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
            Self::TrailingBytes { count } => write!(f, ": {count}"),
            Self::Cnp
            | Self::CnpWithoutBecn
            | Self::CongestionExperienced
            | Self::UndeclaredFcs
            | Self::Cut => Ok(()),
        }
    }
}

//! The faults that a frame can have.

use std::fmt;

use rocelab_wire::{Layer, LocalRouteRule, ParseError, Psn};

use crate::dissection::OpcodeName;

/// Something that makes a frame wrong, by itself or in the sequence of frames.
///
/// `Display` is one line: a name for programs, a colon, and details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The frame ends too early, or its length fields contradict each other.
    Malformed(ParseError),
    /// The invariant CRC does not match the packet.
    Icrc {
        /// The value in the packet.
        found: u32,
        /// The right value.
        computed: u32,
    },
    /// The frame check sequence does not match the frame.
    Fcs {
        /// The value in the frame.
        found: u32,
        /// The right value.
        computed: u32,
    },
    /// The variant CRC of an InfiniBand packet does not match the packet.
    Vcrc {
        /// The value in the packet.
        found: u16,
        /// The right value.
        computed: u16,
    },
    /// The link packet CRC of an InfiniBand link packet does not match the packet.
    Lpcrc {
        /// The value in the packet.
        found: u16,
        /// The right value.
        computed: u16,
    },
    /// The packet of InfiniBand does not end where its LRH says.
    PktLen {
        /// PktLen of the LRH, in words of four bytes: without the VCRC.
        pkt_len: u16,
        /// Length of what was captured, with a VCRC, in bytes.
        found: usize,
    },
    /// The headers of an InfiniBand packet do not fit each other.
    LocalRoute(LocalRouteRule),
    /// A flow control packet is about VL 15, which has no credits.
    CreditsOfManagementLane,
    /// The IPv4 header checksum does not match the header.
    Ipv4Checksum {
        /// The value in the header.
        found: u16,
        /// The right value.
        computed: u16,
    },
    /// Reserved bits are set, or a field that must be constant has another value.
    Reserved {
        /// The header.
        layer: Layer,
        /// Name of the field.
        field: &'static str,
        /// The value of the field.
        value: u32,
    },
    /// No version of the standard defines the opcode.
    UndefinedOpcode(u8),
    /// Payload and pad together are not a multiple of four bytes, or there is more pad than needed.
    PadCount {
        /// Length of the payload, in bytes.
        payload_len: usize,
        /// The BTH's pad count.
        pad_count: u8,
    },
    /// Pad bytes are not zero.
    PadNotZero,
    /// The payload is longer or shorter than the opcode allows.
    PayloadLength {
        /// The opcode.
        opcode: OpcodeName,
        /// Length of the payload, in bytes.
        found: usize,
        /// The lengths that are allowed.
        expected: PayloadRule,
    },
    /// The message is not as long as its RETH says.
    DmaLength {
        /// The length in the RETH of the message or of the read request, in bytes.
        announced: u32,
        /// Payload of its packets together, in bytes.
        found: u64,
    },
    /// The partition key differs from that of the queue pair's other packets.
    PKey {
        /// The value in the packet.
        found: u16,
        /// The value in the packets before.
        expected: u16,
    },
    /// The packet continues the message of another queue pair: it has the PSN that is next there.
    DestQp {
        /// The queue pair in the packet.
        found: u32,
        /// The queue pair whose message it continues.
        expected: u32,
    },
    /// This opcode is not allowed after the packet with the PSN before it.
    OpcodeSequence {
        /// The opcode.
        opcode: OpcodeName,
        /// Whether a message of several packets had begun.
        within_message: bool,
    },
    /// No read request has the PSN of this read response.
    AnswersNothing {
        /// The PSN of the response.
        psn: Psn,
    },
    /// The request was answered before it was sent.
    AnsweredEarly {
        /// The PSN of the request.
        psn: Psn,
        /// Number of the frame with the answer.
        number: u64,
    },
    /// The response acknowledges packets that are not in the capture, although the packets before
    /// and after them are.
    AcknowledgesUnseen {
        /// The first missing PSN.
        first: Psn,
        /// Number of consecutive missing PSNs.
        count: u32,
    },
    /// A MAC control frame has a wrong destination address, or is tagged.
    MacControl {
        /// What is wrong with it.
        what: &'static str,
    },
}

/// The allowed length of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadRule {
    /// No payload.
    Empty,
    /// No payload, or exactly this many bytes.
    EmptyOr(usize),
    /// Not empty, and at most this many bytes.
    UpTo(u16),
    /// A path MTU: 256, 512, 1024, 2048 or 4096 bytes.
    AnyPathMtu,
    /// Exactly the path MTU of the packets before, in bytes.
    PathMtu(u16),
}

impl Fault {
    /// The name for programs, such as `icrc`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Icrc { .. } => "icrc",
            Self::Fcs { .. } => "fcs",
            Self::Vcrc { .. } => "vcrc",
            Self::Lpcrc { .. } => "lpcrc",
            Self::PktLen { .. } => "pkt_len",
            Self::LocalRoute(_) | Self::CreditsOfManagementLane => "local_route",
            Self::Ipv4Checksum { .. } => "ipv4_checksum",
            Self::Reserved { .. } => "reserved",
            Self::UndefinedOpcode(_) => "undefined_opcode",
            Self::PadCount { .. } => "pad_count",
            Self::PadNotZero => "pad_not_zero",
            Self::PayloadLength { .. } => "payload_length",
            Self::DmaLength { .. } => "dma_length",
            Self::PKey { .. } => "p_key",
            Self::DestQp { .. } => "dest_qp",
            Self::OpcodeSequence { .. } => "opcode_sequence",
            Self::AnswersNothing { .. } => "answers_nothing",
            Self::AnsweredEarly { .. } => "answered_early",
            Self::AcknowledgesUnseen { .. } => "psn_gap",
            Self::MacControl { .. } => "mac_control",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match self {
            Self::Malformed(error) => error.fmt(f),
            Self::Icrc { found, computed } | Self::Fcs { found, computed } => {
                write!(f, "found {found:#010x}, computed {computed:#010x}")
            }
            Self::Vcrc { found, computed }
            | Self::Lpcrc { found, computed }
            | Self::Ipv4Checksum { found, computed } => {
                write!(f, "found {found:#06x}, computed {computed:#06x}")
            }
            Self::PktLen { pkt_len, found } => {
                let len = 4 * usize::from(*pkt_len) + 2;
                write!(f, "{pkt_len} words and the VCRC are {len} bytes, but there are {found}")
            }
            Self::LocalRoute(rule) => rule.fmt(f),
            Self::CreditsOfManagementLane => f.write_str("VL 15 has no credits"),
            Self::Reserved { layer, field, value } => write!(f, "{layer} {field} is {value:#x}"),
            Self::UndefinedOpcode(opcode) => write!(f, "{opcode:#04x}"),
            Self::PadCount { payload_len, pad_count } => {
                write!(f, "{pad_count} after a payload of {payload_len} bytes")
            }
            Self::PadNotZero => f.write_str("pad bytes are not zero"),
            Self::PayloadLength { opcode, found, expected } => {
                write!(f, "{opcode} with {found} bytes, not {expected}")
            }
            Self::DmaLength { announced, found } => {
                write!(f, "{found} bytes in a message of {announced}")
            }
            Self::PKey { found, expected } => write!(f, "{found:#06x} after {expected:#06x}"),
            Self::DestQp { found, expected } => {
                write!(f, "{found:#08x}, but the packet continues a message to {expected:#08x}")
            }
            Self::OpcodeSequence { opcode, within_message: true } => {
                write!(f, "{opcode} within a message that goes on differently")
            }
            Self::OpcodeSequence { opcode, within_message: false } => {
                write!(f, "{opcode} although no message has begun")
            }
            Self::AnswersNothing { psn } => write!(f, "no read request has psn {psn}"),
            Self::AnsweredEarly { psn, number } => {
                write!(f, "psn {psn} is sent only now, but frame {number} answered it")
            }
            Self::AcknowledgesUnseen { first, count } => write!(
                f,
                "acknowledges {count} packets from psn {first} that are missing from the capture"
            ),
            Self::MacControl { what } => f.write_str(what),
        }
    }
}

impl fmt::Display for PayloadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("0"),
            Self::EmptyOr(len) => write!(f, "0 or {len}"),
            Self::UpTo(limit) => write!(f, "1 to {limit}"),
            Self::AnyPathMtu => f.write_str("256, 512, 1024, 2048 or 4096"),
            Self::PathMtu(mtu) => write!(f, "the path MTU of {mtu}"),
        }
    }
}

//! Bytes to typed headers and back: RoCE v1 and v2, native InfiniBand, 802.1Qbb, 802.3x, 802.1Qau, and
//! their CRCs.
//!
//! The crate does no I/O, allocates nothing, and needs no standard library. Three layers, each
//! usable without the next:
//!
//! 1. **Headers** are plain values with public fields: [`Bth`], [`Reth`], [`Aeth`], [`Grh`],
//!    [`Ipv4`] and so on. Each has a `LEN`, a `parse` that reads the first `LEN` bytes of a
//!    slice, a `to_bytes` that gives `[u8; LEN]`, and a [`Display`](core::fmt::Display) of one
//!    line. [`Opcode`] knows which [`Extensions`] follow a BTH.
//! 2. **Frames**: [`Frame::parse`] parses a whole Ethernet frame, [`Frame::emit`] writes the same
//!    bytes again, including reserved bits and padding. [`RoceFrame`] builds an outgoing frame from
//!    the values that its sender chooses. [`icrc`] and [`fcs`] are the two CRCs.
//!    [`InfiniBandPacket`] and [`FlowControlPacket`] do this for native InfiniBand, [`cm`] for the
//!    datagrams that set up connections.
//! 3. **Sizes**, for callers that do not need the bytes: [`frame_len`], [`encapsulation_len`],
//!    [`infiniband_packet_len`].
//!
//! # Frame stacks
//!
//! ```text
//! RoCE v1        Ethernet(14) [802.1Q(4)] GRH(40)          BTH(12) ext payload pad ICRC(4) FCS(4)
//! RoCE v2, IPv4  Ethernet(14) [802.1Q(4)] IPv4(20) UDP(8)  BTH(12) ext payload pad ICRC(4) FCS(4)
//! RoCE v2, IPv6  Ethernet(14) [802.1Q(4)] IPv6(40) UDP(8)  BTH(12) ext payload pad ICRC(4) FCS(4)
//! PFC            Ethernet(14) opcode(2) vector(2) times(16) zeros(26)                      FCS(4)
//! PAUSE          Ethernet(14) opcode(2) time(2) zeros(42)                                  FCS(4)
//! QCN            Ethernet(14) [802.1Q(4)] [CN-TAG(4)] CNM(24) MSDU(0..64)                  FCS(4)
//! InfiniBand     LRH(8) [GRH(40)] BTH(12) ext payload pad ICRC(4)                          VCRC(2)
//! its credits    OP(4 bit) FCTBS(12) VL(4) FCCL(12)                                       LPCRC(2)
//! ```
//!
//! "ext" are the extension headers, in this order: `[telemetry] [DETH | XRCETH] [FETH] [RETH |
//! AtomicETH | AETH] [SACK | AtomicAckETH] [ImmDt | IETH]`; telemetry and [`Sack`] are [forms of our
//! own](TelemetryKind). All numbers are big-endian except the two
//! CRCs. Frames shorter than 64 bytes are padded between ICRC and FCS.
//!
//! # Example
//!
//! An RDMA WRITE of five bytes, built and read back:
//!
//! ```
//! use rocelab_wire::{
//!     Bth, Ecn, Encapsulation, Extensions, Frame, Gid, MacAddress, Opcode, Reth, RoceFrame,
//!     frame_len, udp_source_port,
//! };
//!
//! let reth = Reth { virtual_address: 0x1000, r_key: 7, dma_length: 5 };
//! let write = RoceFrame {
//!     destination: MacAddress([2, 0, 0, 0, 0, 2]),
//!     source: MacAddress([2, 0, 0, 0, 0, 1]),
//!     sgid: Gid::from_ipv4([10, 0, 0, 1]),
//!     dgid: Gid::from_ipv4([10, 0, 0, 2]),
//!     dscp: 26,
//!     ecn: Ecn::Ect0,
//!     udp_source_port: udp_source_port(0x12345),
//!     extensions: Extensions { reth: Some(reth), ..Extensions::NONE },
//!     payload: b"hello",
//!     ..RoceFrame::new(Encapsulation::V2Ipv4, Bth::new(Opcode::RcRdmaWriteOnly, 0x11, 100))
//! };
//!
//! let mut buffer = [0; 128];
//! let len = write.to_frame()?.with_fcs().emit(&mut buffer)?;
//! assert_eq!(len, frame_len(Encapsulation::V2Ipv4, false, Opcode::RcRdmaWriteOnly, 5));
//!
//! let frame = Frame::parse_with_fcs(&buffer[..len])?;
//! assert!(frame.icrc_ok());
//! assert_eq!(frame.fcs_ok(), Some(true));
//! let packet = frame.roce().expect("it was built as one");
//! assert_eq!(packet.payload, b"hello");
//! assert_eq!(packet.pad, [0; 3]);
//! assert_eq!(packet.extensions.reth, Some(reth));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! `std`, off by default: CRCs use the best instructions of the machine on which the program runs.
//! Without it, they use only those for which it was compiled. Nothing else changes.
//!
//! `serde`, off by default: headers, [`Frame`], [`InfiniBandPacket`] and [`FlowControlPacket`] are
//! `serde::Serialize`, mainly for JSON. A frame is one flat object: `proto`, then its headers in lower case, each an
//! object with the fields' names of this crate; numbers of 64 bits, addresses and opcodes are strings;
//! `payload_len` is in place of the payload; `icrc`, `fcs`, `vcrc` and `lpcrc` are `"ok"`,
//! `"bad"` or `"absent"`. It does not need the standard library either.
//!
//! ```
//! # #[cfg(feature = "serde")] {
//! use rocelab_wire::{Bth, Opcode};
//!
//! let json = serde_json::to_value(Bth::new(Opcode::RcSendOnly, 0x11, 100))?;
//! assert_eq!(json["opcode"], "RC_SEND_ONLY");
//! assert_eq!(json["dest_qp"], 17);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `state`, off by default: the types that a simulator saves in checkpoints are
//! `borsh::BorshSerialize` and `borsh::BorshDeserialize`. This needs an allocator.
//!
//! # Sources
//!
//! Rules of the IBTA and IEEE standards are cited by clause; layouts were checked against the Linux
//! sources named at each header, and against frames of real adapters and of Soft-RoCE. The table
//! that follows has every field.
//!
#![doc = include_str!("../docs/fields.md")]
#![cfg_attr(not(test), no_std)]

mod arp;
mod bits;
mod bth;
mod checksum;
pub mod cm;
mod cn_tag;
mod cnm;
mod ecn;
mod emit;
mod error;
mod ethernet;
mod ext;
mod fcs;
mod fixed_length;
mod flow_control_packet;
mod flow_label;
mod frame;
mod gid;
mod grh;
mod header;
mod icrc;
mod infiniband;
mod ipv4;
mod ipv6;
mod lid;
mod local_route_rule;
mod lrh;
mod mac_address;
mod mac_control;
mod multicast;
mod neighbour_discovery;
mod opcode;
mod pause;
mod pfc;
mod psn;
mod reader;
mod roce_frame;
#[cfg(feature = "serde")]
mod serialize;
mod size;
#[cfg(feature = "state")]
mod state;
mod tcp;
#[cfg(test)]
mod testing;
mod transport_packet;
mod udp;
mod vcrc;
mod vlan;
mod zeros;

pub use arp::{Arp, ArpOperation};
pub use bth::Bth;
pub use cn_tag::CnTag;
pub use cnm::Cnm;
pub use ecn::{Ecn, traffic_class};
pub use error::{BuildError, EmitError, Layer, ParseError};
pub use ethernet::{EtherType, Ethernet, MIN_FRAME_LEN};
pub use ext::{
    Aeth, AtomicAckEth, AtomicEth, Cnp, Deth, EgressPort, EndpointReport, Extensions, Feth, Ieth,
    ImmDt, IntHeader, IntHop, IntUnits, NakCode, PintUnits, Reth, Sack, Syndrome, TelemetryHeader,
    TelemetryKind, TelemetryUnits, TelemetryWriter, Xrceth, credit_code, credits, pint_utilization,
    rnr_timer_ns,
};
pub use fcs::{CRC_LEN, crc_from_wire, crc_to_wire, fcs};
pub use flow_control_packet::FlowControlPacket;
pub use flow_label::{MIN_UDP_SOURCE_PORT, default_flow_label, udp_source_port};
pub use frame::{Body, Frame, Network, Roce, explain_icrc, icrc, icrc_of_frame};
pub use gid::Gid;
pub use grh::Grh;
pub use icrc::IcrcPart;
pub use infiniband::{InfiniBandBody, InfiniBandPacket};
pub use ipv4::{Ipv4, PROTOCOL_UDP};
pub use ipv6::{Ipv6, MAX_FLOW_LABEL};
pub use lid::LidKind;
pub use local_route_rule::LocalRouteRule;
pub use lrh::Lrh;
pub use mac_address::MacAddress;
pub use mac_control::{MAC_CONTROL_FRAME_LEN, QUANTUM_BITS};
pub use multicast::{MULTICAST_QPN, group_mac, ipv4_group_gid, ipv4_group_mac};
pub use neighbour_discovery::{NeighbourMessage, PROTOCOL_ICMPV6, ipv6_group_mac, solicited_node};
pub use opcode::{Opcode, Transport, UnknownOpcode};
pub use pause::Pause;
pub use pfc::Pfc;
pub use psn::Psn;
pub use roce_frame::RoceFrame;
pub use size::{
    CREDIT_BLOCK_LEN, DELIMITERS_LEN, Encapsulation, MAX_PATH_MTU, credit_blocks,
    encapsulation_len, frame_len, infiniband_frame_len, infiniband_packet_len, least_frame_len,
    packet_len, pad_len,
};
pub use tcp::{PROTOCOL_TCP, Tcp, TcpOptions};
pub use transport_packet::TransportPacket;
pub use udp::{ROCE_V2_PORT, Udp};
pub use vcrc::vcrc;
pub use vlan::VlanTag;
pub use zeros::ZEROS;

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Lengths of frames, without building them.

use crate::ethernet::MIN_FRAME_LEN;
use crate::fcs::CRC_LEN;
use crate::vcrc::VCRC_LEN;
use crate::{Bth, Ethernet, Grh, Ipv4, Ipv6, Lrh, Opcode, TelemetryKind, Udp, VlanTag};

/// Largest RoCE path MTU, in bytes.
pub const MAX_PATH_MTU: usize = 4096;

/// The unit in which credits of native InfiniBand count, in bytes (IBTA 7.9.4).
pub const CREDIT_BLOCK_LEN: usize = 64;

/// Shortest Ethernet frame, FCS not included, in bytes.
pub(crate) const MIN_UNCHECKED_FRAME_LEN: usize = MIN_FRAME_LEN - CRC_LEN;

/// The headers between Ethernet and BTH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encapsulation {
    /// RoCE v1: GRH.
    V1,
    /// RoCE v2: IPv4 and UDP.
    V2Ipv4,
    /// RoCE v2: IPv6 and UDP.
    V2Ipv6,
}

impl Encapsulation {
    /// Length of the headers between Ethernet and BTH, in bytes.
    #[must_use]
    pub const fn network_len(self) -> usize {
        match self {
            Self::V1 => Grh::LEN,
            Self::V2Ipv4 => Ipv4::LEN + Udp::LEN,
            Self::V2Ipv6 => Ipv6::LEN + Udp::LEN,
        }
    }
}

/// Length of everything before the BTH, in bytes.
#[must_use]
pub const fn encapsulation_len(encapsulation: Encapsulation, vlan: bool) -> usize {
    let tag = if vlan { VlanTag::LEN } else { 0 };
    Ethernet::LEN + tag + encapsulation.network_len()
}

/// Number of pad bytes after a payload: they fill it up to a multiple of four bytes.
#[must_use]
pub const fn pad_len(payload_len: usize) -> usize {
    payload_len.wrapping_neg() & 0b11
}

/// Length from BTH to ICRC, in bytes.
#[must_use]
pub const fn packet_len(opcode: Opcode, payload_len: usize) -> usize {
    Bth::LEN + opcode.extension_len() + payload_len + pad_len(payload_len) + CRC_LEN
}

/// Length of a whole frame as it occupies a link: with its FCS, and at least 64 bytes. Preamble
/// and gap come on top, and telemetry: [`TelemetryKind::frame_len`].
///
/// ```
/// # use rocelab_wire::{Encapsulation, Opcode, frame_len};
/// let len = frame_len(Encapsulation::V2Ipv4, false, Opcode::RcRdmaWriteMiddle, 1024);
/// assert_eq!(len, 1082 + 4);
/// assert_eq!(frame_len(Encapsulation::V2Ipv4, false, Opcode::RcSendOnly, 0), 64);
/// ```
#[must_use]
pub const fn frame_len(
    encapsulation: Encapsulation,
    vlan: bool,
    opcode: Opcode,
    payload_len: usize,
) -> usize {
    whole_frame_len(encapsulation, vlan, packet_len(opcode, payload_len))
}

/// Length of a whole packet of native InfiniBand, from its LRH to its VCRC, both included. Delimiters
/// come on top.
///
/// ```
/// # use rocelab_wire::{Opcode, infiniband_packet_len};
/// assert_eq!(infiniband_packet_len(false, Opcode::RcRdmaWriteMiddle, 4096), 4122);
/// assert_eq!(infiniband_packet_len(true, Opcode::RcAcknowledge, 0), 70);
/// ```
#[must_use]
pub const fn infiniband_packet_len(grh: bool, opcode: Opcode, payload_len: usize) -> usize {
    let grh_len = if grh { Grh::LEN } else { 0 };
    Lrh::LEN + grh_len + packet_len(opcode, payload_len) + VCRC_LEN
}

/// The delimiters at the start and the end of a packet of native InfiniBand, in byte times (IBTA 5.2). Nothing else
/// comes between two packets.
pub const DELIMITERS_LEN: usize = 2;

// They take the place that the FCS has behind the ICRC of a frame of RoCE.
const _: () = assert!(VCRC_LEN + DELIMITERS_LEN == CRC_LEN);

/// Time that a packet of native InfiniBand occupies a link, in byte times: from its first delimiter to its last.
///
/// ```
/// # use rocelab_wire::{Opcode, infiniband_frame_len};
/// assert_eq!(infiniband_frame_len(Opcode::RcRdmaWriteMiddle, 4096), 4124);
/// ```
#[must_use]
pub const fn infiniband_frame_len(opcode: Opcode, payload_len: usize) -> usize {
    infiniband_packet_len(false, opcode, payload_len) + DELIMITERS_LEN
}

/// The shortest frame, FCS included, with `encapsulation_len` bytes before its BTH: only Ethernet has one.
#[must_use]
pub const fn least_frame_len(encapsulation_len: usize) -> usize {
    if encapsulation_len < Ethernet::LEN { 0 } else { MIN_FRAME_LEN }
}

/// Number of credit blocks that a packet of this length takes, from LRH to VCRC: a block that is not
/// full counts whole.
#[must_use]
pub const fn credit_blocks(infiniband_packet_len: usize) -> usize {
    infiniband_packet_len.div_ceil(CREDIT_BLOCK_LEN)
}

impl TelemetryKind {
    /// Length of a whole frame that carries this, as [`frame_len`] counts it.
    ///
    /// ```
    /// # use rocelab_wire::{Encapsulation, Opcode, TelemetryKind};
    /// let (v2, write) = (Encapsulation::V2Ipv4, Opcode::RcRdmaWriteMiddle);
    /// assert_eq!(TelemetryKind::Int.frame_len(v2, false, write, 1024), 1086 + 44);
    /// assert_eq!(TelemetryKind::Pint.frame_len(v2, false, write, 1024), 1086 + 4);
    /// ```
    #[must_use]
    pub const fn frame_len(
        self,
        encapsulation: Encapsulation,
        vlan: bool,
        opcode: Opcode,
        payload_len: usize,
    ) -> usize {
        let packet_len = packet_len(opcode, payload_len) + self.len_in(opcode);
        whole_frame_len(encapsulation, vlan, packet_len)
    }
}

/// Length of a frame with `packet_len` bytes from BTH to ICRC.
const fn whole_frame_len(encapsulation: Encapsulation, vlan: bool, packet_len: usize) -> usize {
    let len = encapsulation_len(encapsulation, vlan) + packet_len + CRC_LEN;
    if len < MIN_FRAME_LEN { MIN_FRAME_LEN } else { len }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Path MTU, then the length of the frame without FCS for v1, v2 over IPv4 and v2 over IPv6,
    /// each with no extension header, with a RETH, and with RETH and ImmDt.
    const LARGEST_FRAMES: [(usize, [usize; 9]); 5] = [
        (256, [326, 342, 346, 314, 330, 334, 334, 350, 354]),
        (512, [582, 598, 602, 570, 586, 590, 590, 606, 610]),
        (1024, [1094, 1110, 1114, 1082, 1098, 1102, 1102, 1118, 1122]),
        (2048, [2118, 2134, 2138, 2106, 2122, 2126, 2126, 2142, 2146]),
        (4096, [4166, 4182, 4186, 4154, 4170, 4174, 4174, 4190, 4194]),
    ];

    #[test]
    fn largest_frames() {
        let encapsulations = [Encapsulation::V1, Encapsulation::V2Ipv4, Encapsulation::V2Ipv6];
        let opcodes = [
            Opcode::RcRdmaWriteMiddle,
            Opcode::RcRdmaWriteFirst,
            Opcode::RcRdmaWriteOnlyWithImmediate,
        ];
        for (mtu, lens) in LARGEST_FRAMES {
            let mut lens = lens.into_iter();
            for encapsulation in encapsulations {
                for opcode in opcodes {
                    let expected = lens.next().unwrap() + CRC_LEN;
                    assert_eq!(frame_len(encapsulation, false, opcode, mtu), expected);
                    assert_eq!(frame_len(encapsulation, true, opcode, mtu), expected + 4);
                }
            }
        }
    }

    /// Path MTU, length and blocks of a WRITE's middle packet, and of its only one.
    const INFINIBAND: [(usize, [usize; 2], [usize; 2]); 5] = [
        (256, [282, 5], [298, 5]),
        (512, [538, 9], [554, 9]),
        (1024, [1050, 17], [1066, 17]),
        (2048, [2074, 33], [2090, 33]),
        (4096, [4122, 65], [4138, 65]),
    ];

    #[test]
    fn packets_of_infiniband() {
        for (mtu, middle, only) in INFINIBAND {
            let expected = [(Opcode::RcRdmaWriteMiddle, middle), (Opcode::RcRdmaWriteOnly, only)];
            for (opcode, [len, blocks]) in expected {
                assert_eq!(infiniband_packet_len(false, opcode, mtu), len);
                assert_eq!(infiniband_packet_len(true, opcode, mtu), len + 40);
                assert_eq!(credit_blocks(len), blocks);
            }
        }
        let short = |opcode| infiniband_packet_len(false, opcode, 0);
        let opcodes = [Opcode::RcAcknowledge, Opcode::RcRdmaReadRequest, Opcode::Cn];
        assert_eq!(opcodes.map(short), [30, 42, 26]);
        assert_eq!(infiniband_packet_len(false, Opcode::UdSendOnly, 256), 290);
        assert_eq!([0, 1, 64, 65].map(credit_blocks), [0, 1, 1, 2]);
    }

    #[test]
    fn short_frames() {
        let v4 = Encapsulation::V2Ipv4;
        assert_eq!(frame_len(v4, false, Opcode::RcAcknowledge, 0), 62 + 4);
        assert_eq!(frame_len(v4, false, Opcode::Cnp, 0), 74 + 4);
        assert_eq!(frame_len(Encapsulation::V2Ipv6, false, Opcode::Cnp, 0), 94 + 4);
        assert_eq!(frame_len(v4, false, Opcode::RcSendOnly, 0), 64);
        assert_eq!(frame_len(v4, true, Opcode::RcSendOnly, 0), 66);
        assert_eq!([0, 1, 2, 3, 4, 5].map(pad_len), [0, 3, 2, 1, 0, 3]);
    }

    #[test]
    fn it_lengthens_short_frames_only_beyond_the_minimum() {
        let v4 = Encapsulation::V2Ipv4;
        // 14 + 28 + 12 + 4 (PINT) + 4 + 4 = 66; without PINT, the frame is padded to 64.
        assert_eq!(TelemetryKind::Pint.frame_len(v4, false, Opcode::RcSendOnly, 0), 66);
        assert_eq!(TelemetryKind::Int.frame_len(v4, false, Opcode::RcAcknowledge, 0), 66 + 44);
        assert_eq!(TelemetryKind::Int.frame_len(v4, true, Opcode::RcAcknowledge, 0), 70 + 44);
    }
}

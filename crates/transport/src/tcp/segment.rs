//! The header of one segment, as the simulator keeps it.

use core::fmt;

use rocelab_wire::{CRC_LEN, Ecn, MIN_FRAME_LEN, Tcp};

use super::SackBlocks;

/// Bytes of a TCP header without options (RFC 9293).
pub const TCP_HEADER_LEN: u16 = 20;

/// The control bits of a TCP header, where they stand on the wire (RFC 9293; ECE and CWR: RFC
/// 3168). SYN, FIN and RST are never sent: connections exist from the start.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// The acknowledgement number counts.
    pub const ACK: u8 = Tcp::ACK;
    /// The end of what the application has to send.
    pub const PSH: u8 = Tcp::PSH;
    /// The receiver met "congestion experienced".
    pub const ECE: u8 = Tcp::ECE;
    /// The sender reduced its window.
    pub const CWR: u8 = Tcp::CWR;

    /// Whether all bits of `mask` are set.
    #[inline]
    #[must_use]
    pub const fn has(self, mask: u8) -> bool {
        self.0 & mask == mask
    }
}

/// One TCP segment without its payload bytes: 20 bytes, aligned to 4, so that an `enum` of this
/// and an RDMA [`Packet`](crate::Packet) needs no more room than the latter.
#[derive(Clone, Copy, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct TcpSegment {
    /// Which connection of the receiving host it is for. In place of the ports, of which a capture
    /// makes what [`TcpConnectionConfig`](super::TcpConnectionConfig) says.
    pub connection: u32,
    /// Sequence number of the first payload byte.
    pub seq: u32,
    /// Acknowledgement number: the byte that is awaited next.
    pub ack: u32,
    /// Receive window (bytes). On the wire it is shifted by [`window_shift`].
    pub window: u32,
    /// Payload (bytes).
    pub payload_len: u16,
    /// Control bits.
    pub flags: TcpFlags,
    /// Bits 0 and 1: ECN codepoint; bits 2 to 4: priority; bits 5 to 7: number of SACK blocks.
    bits: u8,
}

impl TcpSegment {
    /// A segment that carries nothing yet.
    #[inline]
    #[must_use]
    pub const fn new(connection: u32, seq: u32, ack: u32, window: u32) -> Self {
        let flags = TcpFlags(TcpFlags::ACK);
        Self { connection, seq, ack, window, payload_len: 0, flags, bits: 0 }
    }

    /// The segment with `len` bytes of payload.
    #[inline]
    #[must_use]
    pub const fn with_payload_len(mut self, len: u16) -> Self {
        self.payload_len = len;
        self
    }

    /// The segment with these control bits set, if `on`.
    #[inline]
    #[must_use]
    pub const fn with_flags(mut self, mask: u8, on: bool) -> Self {
        if on {
            self.flags.0 |= mask;
        }
        self
    }

    /// The segment in a priority (0 to 7) and with an ECN codepoint.
    #[inline]
    #[must_use]
    pub const fn with_class(mut self, priority: u8, ecn: Ecn) -> Self {
        self.bits = self.bits & 0b1110_0000 | (priority & 0b111) << 2 | ecn as u8;
        self
    }

    /// The segment with `count` (0 to 4) blocks of selective acknowledgement beside it.
    #[inline]
    #[must_use]
    pub const fn with_sack_count(mut self, count: u8) -> Self {
        self.bits = self.bits & 0b0001_1111 | count << 5;
        self
    }

    /// Number of [`SackBlocks`] beside it.
    #[inline]
    #[must_use]
    pub const fn sack_count(&self) -> u8 {
        self.bits >> 5
    }

    /// Priority, 0 to 7.
    #[inline]
    #[must_use]
    pub const fn priority(&self) -> u8 {
        self.bits >> 2 & 0b111
    }

    /// The ECN codepoint of its IP header.
    #[inline]
    #[must_use]
    pub const fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.bits)
    }

    /// Marks "congestion experienced". Only ECN-capable segments may be marked.
    #[inline]
    pub const fn set_ce(&mut self) {
        debug_assert!(self.ecn().is_capable(), "a segment that is not ECN-capable was marked");
        self.bits |= Ecn::Ce as u8;
    }

    /// Whether it met congestion.
    #[inline]
    #[must_use]
    pub const fn is_ce(&self) -> bool {
        self.bits & 0b11 == Ecn::Ce as u8
    }

    /// Bytes of its TCP header with options.
    #[inline]
    #[must_use]
    pub const fn header_len(&self) -> u16 {
        TCP_HEADER_LEN + SackBlocks::option_len(self.sack_count())
    }

    /// The Ethernet frame's length with its FCS, at least 64 (bytes); `encapsulation_len` counts
    /// what precedes the TCP header: Ethernet (14), an 802.1Q tag (4), IPv4 (20) or IPv6 (40).
    #[inline]
    #[must_use]
    pub const fn frame_len(&self, encapsulation_len: u16) -> u16 {
        const FCS: u16 = 4;
        const MIN: u16 = 64;
        const _: () = assert!(FCS as usize == CRC_LEN && MIN as usize == MIN_FRAME_LEN);
        const _: () = assert!(TCP_HEADER_LEN as usize == Tcp::LEN);
        let len = encapsulation_len + self.header_len() + self.payload_len + FCS;
        if len < MIN { MIN } else { len }
    }
}

/// By how many bits a receive window of `bytes` is shifted right on the wire, where the field has
/// 16 bits (RFC 7323: at most 14).
#[must_use]
pub const fn window_shift(bytes: u32) -> u8 {
    let mut shift = 0;
    while bytes >> shift > 0xffff && shift < 14 {
        shift += 1;
    }
    shift
}

impl fmt::Display for TcpSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connection, seq, ack, payload_len, .. } = self;
        write!(f, "TCP connection {connection} seq {seq} ack {ack} len {payload_len}")?;
        let names = [(TcpFlags::PSH, "PSH"), (TcpFlags::ECE, "ECE"), (TcpFlags::CWR, "CWR")];
        for (flag, name) in names {
            if self.flags.has(flag) {
                write!(f, " {name}")?;
            }
        }
        if self.sack_count() > 0 {
            write!(f, " sack {}", self.sack_count())?;
        }
        write!(f, ", prio {}, {}", self.priority(), self.ecn())
    }
}

impl fmt::Debug for TcpSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;

    /// What a network that carries both has in its packets.
    #[derive(Clone, Copy)]
    #[expect(dead_code, reason = "only its size counts")]
    enum Either {
        Rdma(Packet),
        Tcp(TcpSegment),
    }

    #[test]
    fn layout() {
        assert_eq!(size_of::<TcpSegment>(), 20);
        assert_eq!(align_of::<TcpSegment>(), 4);
        assert_eq!(size_of::<Either>(), size_of::<Packet>(), "it fits beside the niche");
    }

    #[test]
    fn frames() {
        // Ethernet, IPv4; a full segment of an MTU of 1500 is 1518 bytes with its FCS.
        let full = TcpSegment::new(0, 0, 0, 0).with_payload_len(1460);
        assert_eq!(full.frame_len(34), 1518);
        assert_eq!(full.with_payload_len(0).frame_len(34), 64);
        assert_eq!(full.with_payload_len(0).with_sack_count(4).frame_len(34), 34 + 56 + 4);
        assert_eq!(full.with_payload_len(0).frame_len(14 + 4 + 40), 82);
    }

    #[test]
    fn bits_keep_apart() {
        let mut segment = TcpSegment::new(1, 2, 3, 4)
            .with_sack_count(3)
            .with_class(6, Ecn::Ect0)
            .with_flags(TcpFlags::ECE, true)
            .with_flags(TcpFlags::CWR, false);
        segment.set_ce();
        assert_eq!((segment.priority(), segment.sack_count()), (6, 3));
        assert!(segment.is_ce() && segment.flags.has(TcpFlags::ECE | TcpFlags::ACK));
        assert_eq!(
            segment.to_string(),
            "TCP connection 1 seq 2 ack 3 len 0 ECE sack 3, prio 6, CE"
        );
    }

    #[test]
    fn windows_fit_16_bits() {
        assert_eq!([0, 65_535, 65_536, 6_291_456, u32::MAX].map(window_shift), [0, 0, 1, 7, 14]);
    }
}

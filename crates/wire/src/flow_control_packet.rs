//! Flow control packets of native InfiniBand.

use core::fmt;

use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};
use crate::vcrc;

/// A flow control packet, the link packet of native InfiniBand: it tells the neighbour how much it
/// may send on one virtual lane (IBTA 7.9.4).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-----------------------+-------+-----------------------+
/// |  OP   |         FCTBS         |  VL   |         FCCL          |
/// +-------+-----------------------+-------+-----------------------+
/// |             LPCRC             |
/// +-------------------------------+
/// ```
///
/// It has no LRH, and the neighbour does not forward it. Both counters are in blocks of
/// [`CREDIT_BLOCK_LEN`](crate::CREDIT_BLOCK_LEN) bytes, modulo 4096. The layout is that of
/// Wireshark's dissector.
///
/// ```
/// # use rocelab_wire::FlowControlPacket;
/// let packet = FlowControlPacket::new(FlowControlPacket::OP_NORMAL, 0, 100, 228);
/// assert_eq!(packet.to_bytes(), [0x00, 0x64, 0x00, 0xe4, 0xd1, 0x1b]);
/// assert!(packet.lpcrc_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct FlowControlPacket {
    /// Operation, 4 bits: see [`Self::OP_NORMAL`] and [`Self::OP_INIT`]. The others are reserved,
    /// and receivers ignore such packets.
    pub op: u8,
    /// Flow control total blocks sent, 12 bits: the blocks that the sender of this packet has sent on
    /// the lane since the link was initialised.
    pub fctbs: u16,
    /// The virtual lane, 4 bits. Never 15, which has no credits.
    pub vl: u8,
    /// Flow control credit limit, 12 bits: the count of blocks up to which the receiver of this
    /// packet may send on the lane.
    pub fccl: u16,
    /// Link packet CRC as found.
    pub lpcrc: u16,
}

impl FlowControlPacket {
    /// Length on the wire, with the LPCRC, in bytes.
    pub const LEN: usize = 6;

    /// The operation of a link that works.
    pub const OP_NORMAL: u8 = 0;

    /// The operation of a link that is being initialised.
    pub const OP_INIT: u8 = 1;

    /// The number of different values of [`Self::fctbs`] and [`Self::fccl`]: they count modulo this.
    pub const COUNTER_VALUES: u16 = 1 << 12;

    /// Most blocks that a packet may let the neighbour send at once: half of
    /// [`Self::COUNTER_VALUES`], so that a limit ahead differs from one that was passed.
    pub const MAX_CREDITS: u16 = Self::COUNTER_VALUES / 2;

    /// Length of what the LPCRC covers, in bytes.
    const COVERED_LEN: usize = 4;

    /// A packet with the right LPCRC. Values are truncated to the width of their field, as the
    /// counters do by themselves.
    #[must_use]
    pub fn new(op: u8, vl: u8, fctbs: u16, fccl: u16) -> Self {
        let op = op & 0x0f;
        let vl = vl & 0x0f;
        let [fctbs, fccl] = [fctbs, fccl].map(|blocks| blocks % Self::COUNTER_VALUES);
        Self { op, fctbs, vl, fccl, lpcrc: 0 }.with_lpcrc()
    }

    /// Reads the packet at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let packet = prefix::<{ Self::LEN }>(bytes, Layer::FlowControl)?;
        let [sent, limit] =
            [get::<0, 2, _>(packet), get::<2, 2, _>(packet)].map(u16::from_be_bytes);
        let [op, _, vl, ..] = *packet;
        Ok(Self {
            op: op >> 4,
            fctbs: sent % Self::COUNTER_VALUES,
            vl: vl >> 4,
            fccl: limit % Self::COUNTER_VALUES,
            lpcrc: u16::from_le_bytes(get::<4, _, _>(packet)),
        })
    }

    /// The packet as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut packet = [0; Self::LEN];
        put::<0, _, _>(&mut packet, self.covered());
        put::<4, _, _>(&mut packet, self.lpcrc.to_le_bytes());
        packet
    }

    /// The right LPCRC of the packet: the CRC of [`vcrc`] over OP to FCCL, low byte first on the
    /// wire, too.
    #[must_use]
    pub fn computed_lpcrc(&self) -> u16 {
        vcrc(&self.covered())
    }

    /// Whether the LPCRC is right. A receiver discards the packet if it is not.
    #[must_use]
    pub fn lpcrc_ok(&self) -> bool {
        self.lpcrc == self.computed_lpcrc()
    }

    /// The same packet with the right LPCRC.
    #[must_use]
    pub fn with_lpcrc(self) -> Self {
        Self { lpcrc: self.computed_lpcrc(), ..self }
    }

    /// The name of the protocol, as in this project's reports: `infiniband_link`.
    #[must_use]
    pub const fn proto(&self) -> &'static str {
        "infiniband_link"
    }

    fn covered(&self) -> [u8; Self::COVERED_LEN] {
        let word = |high: u8, low: u16| (u16::from(high) << 12) | (low % Self::COUNTER_VALUES);
        let mut covered = [0; Self::COVERED_LEN];
        put::<0, _, _>(&mut covered, word(self.op, self.fctbs).to_be_bytes());
        put::<2, _, _>(&mut covered, word(self.vl, self.fccl).to_be_bytes());
        covered
    }
}

impl fmt::Display for FlowControlPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, fctbs, vl, fccl, .. } = self;
        f.write_str("flow control")?;
        match *op {
            Self::OP_NORMAL => {}
            Self::OP_INIT => f.write_str(" init")?,
            op => write!(f, " op {op}")?,
        }
        write!(f, ", vl {vl}, fctbs {fctbs}, fccl {fccl}")?;
        f.write_str(if self.lpcrc_ok() { "" } else { ", bad LPCRC" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        FlowControlPacket,
        bytes: [0x2f, 0xfe, 0x30, 0x1f, 0x12, 0x34],
        value: FlowControlPacket { op: 2, fctbs: 0xffe, vl: 3, fccl: 0x01f, lpcrc: 0x3412 },
        display: "flow control op 2, vl 3, fctbs 4094, fccl 31, bad LPCRC",
    }

    /// Bytes that an independent program computed.
    #[test]
    fn packets_have_the_bytes_of_the_vectors() {
        let vectors = [
            ([0x00, 0x64, 0x00, 0xe4, 0xd1, 0x1b], (FlowControlPacket::OP_NORMAL, 0, 100, 228)),
            ([0x0f, 0xff, 0x10, 0x1f, 0xd0, 0x89], (FlowControlPacket::OP_NORMAL, 1, 4095, 31)),
            ([0x10, 0x00, 0x00, 0x80, 0x50, 0xd5], (FlowControlPacket::OP_INIT, 0, 0, 128)),
        ];
        for (bytes, (op, vl, fctbs, fccl)) in vectors {
            let packet = FlowControlPacket::new(op, vl, fctbs, fccl);
            assert_eq!(packet.to_bytes(), bytes);
            assert_eq!(FlowControlPacket::parse(&bytes), Ok(packet));
            assert!(packet.lpcrc_ok());
        }
    }

    #[test]
    fn every_bit_counts_for_the_lpcrc() {
        let bytes = FlowControlPacket::new(1, 7, 0x123, 0x923).to_bytes();
        for bit in 0..8 * FlowControlPacket::LEN {
            let mut wrong = bytes;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!FlowControlPacket::parse(&wrong).unwrap().lpcrc_ok(), "{bit}");
        }
    }

    #[test]
    fn counters_go_on_at_zero_after_4095() {
        let packet = FlowControlPacket::new(0x10, 0x11, 4096 + 5, 8192);
        assert_eq!((packet.op, packet.vl, packet.fctbs, packet.fccl), (0, 1, 5, 0));
        assert_eq!(packet.to_string(), "flow control, vl 1, fctbs 5, fccl 0");
        let init = FlowControlPacket::new(FlowControlPacket::OP_INIT, 0, 0, 128);
        assert_eq!(init.to_string(), "flow control init, vl 0, fctbs 0, fccl 128");
    }

    #[test]
    fn oversized_fields_are_cut() {
        let packet =
            FlowControlPacket { op: 0x21, fctbs: 0x1fff, vl: 0x12, fccl: 0x2000, lpcrc: 0 };
        let back = FlowControlPacket::parse(&packet.to_bytes()).unwrap();
        assert_eq!((back.op, back.fctbs, back.vl, back.fccl), (1, 0xfff, 2, 0));
        assert!(FlowControlPacket::parse(&packet.with_lpcrc().to_bytes()).unwrap().lpcrc_ok());
    }
}

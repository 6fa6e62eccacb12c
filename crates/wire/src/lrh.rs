//! Local Route Header.

use core::fmt;

use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};

/// Local Route Header (LRH), the link header of native InfiniBand.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+-------+---+---+-------------------------------+
/// |  VL   | LVer  |  SL   |rs2|LNH|             DLID              |
/// +-------+-------+-------+---+---+-------------------------------+
/// |  resv5  |       PktLen        |             SLID              |
/// +---------+---------------------+-------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/core/ud_header.c` (`lrh_table`). The ICRC of a packet without
/// GRH covers everything but VL, that of a packet with one nothing; RoCE has no LRH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Lrh {
    /// Virtual lane, 4 bits. 15 is that of subnet management, [`Self::MANAGEMENT_VL`].
    pub vl: u8,
    /// Link version, 4 bits: 0.
    pub lver: u8,
    /// Service level, 4 bits.
    pub sl: u8,
    /// Reserved, 2 bits.
    pub resv2: u8,
    /// Link next header, 2 bits: what follows, see [`Self::LNH_BTH`] and [`Self::LNH_GRH`].
    pub lnh: u8,
    /// Destination local identifier; [`LidKind`](crate::LidKind) says what it names.
    pub dlid: u16,
    /// Reserved, 5 bits.
    pub resv5: u8,
    /// Length from the LRH to the ICRC, both included and the VCRC not, in words of four bytes, 11
    /// bits.
    pub pkt_len: u16,
    /// Source local identifier.
    pub slid: u16,
}

impl Lrh {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 8;

    /// The virtual lane of subnet management. It has no credits.
    pub const MANAGEMENT_VL: u8 = 15;

    /// The link next header of a raw packet, that has no transport header.
    pub const LNH_RAW: u8 = 0;

    /// The link next header of an IPv6 packet, that has no transport header.
    pub const LNH_IPV6: u8 = 1;

    /// The link next header "IBA local": a BTH follows.
    pub const LNH_BTH: u8 = 2;

    /// The link next header "IBA global": a GRH follows.
    pub const LNH_GRH: u8 = 3;

    /// Largest [`Self::pkt_len`] (words of four bytes).
    pub const MAX_PKT_LEN: u16 = 0x7ff;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Lrh)?;
        let [lane, level, ..] = *header;
        let len = u16::from_be_bytes(get::<4, _, _>(header));
        Ok(Self {
            vl: lane >> 4,
            lver: lane & 0x0f,
            sl: level >> 4,
            resv2: level >> 2 & 0b11,
            lnh: level & 0b11,
            dlid: u16::from_be_bytes(get::<2, _, _>(header)),
            resv5: header[4] >> 3,
            pkt_len: len & Self::MAX_PKT_LEN,
            slid: u16::from_be_bytes(get::<6, _, _>(header)),
        })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let lane = self.vl << 4 | self.lver & 0x0f;
        let level = self.sl << 4 | (self.resv2 & 0b11) << 2 | self.lnh & 0b11;
        let len = u16::from(self.resv5) << 11 | self.pkt_len & Self::MAX_PKT_LEN;
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, [lane, level]);
        put::<2, _, _>(&mut header, self.dlid.to_be_bytes());
        put::<4, _, _>(&mut header, len.to_be_bytes());
        put::<6, _, _>(&mut header, self.slid.to_be_bytes());
        header
    }
}

impl fmt::Display for Lrh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slid, dlid, vl, sl, pkt_len, .. } = self;
        write!(f, "LID {slid} > {dlid}, vl {vl}, sl {sl}, length {}", usize::from(*pkt_len) * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Lrh,
        bytes: [0xf1, 0x27, 0xff, 0xfe, 0x08, 0x48, 0x00, 0x04],
        value: Lrh {
            vl: 15,
            lver: 1,
            sl: 2,
            resv2: 1,
            lnh: Lrh::LNH_GRH,
            dlid: 0xfffe,
            resv5: 1,
            pkt_len: 72,
            slid: 4,
        },
        display: "LID 4 > 65534, vl 15, sl 2, length 288",
    }
}

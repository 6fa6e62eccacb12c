//! Global Route Header.

use core::fmt;

use crate::Gid;
use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};
use crate::ipv6::MAX_FLOW_LABEL;

/// Global Route Header (GRH), the network header of RoCE v1.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+---------------+---------------------------------------+
/// | ver 6 |    TClass     |              flow label               |
/// +-------+---------------+-------+---------------+---------------+
/// |            PayLen             |    NxtHdr     |    HopLmt     |
/// +-------------------------------+---------------+---------------+
/// |                        SGID (128 bits)                        |
/// +---------------------------------------------------------------+
/// |                        DGID (128 bits)                        |
/// +---------------------------------------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/core/ud_header.c`. The ICRC covers everything but traffic
/// class, flow label and hop limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grh {
    /// IP version, 4 bits: 6.
    pub ip_version: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Length of what follows the GRH, up to and including the ICRC, in bytes.
    pub pay_len: u16,
    /// What follows: [`Self::NEXT_HEADER_IBA`].
    pub next_header: u8,
    /// Routers that the packet may still cross.
    pub hop_limit: u8,
    /// GID of the sender.
    pub sgid: Gid,
    /// GID of the receiver.
    pub dgid: Gid,
}

impl Grh {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 40;

    /// The next header that means "InfiniBand transport": a BTH follows.
    pub const NEXT_HEADER_IBA: u8 = 0x1b;

    /// The IP version of every GRH.
    pub const IP_VERSION: u8 = 6;

    /// Reads the header at the start of `bytes`.
    ///
    /// Version and next header are not checked: a receiver checks them, a dissector displays them.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Grh)?;
        let word = u32::from_be_bytes(get::<0, _, _>(header));
        let [_, traffic_class, ..] = (word >> 4).to_be_bytes();
        let [next_header, hop_limit] = get::<6, _, _>(header);
        Ok(Self {
            ip_version: header[0] >> 4,
            traffic_class,
            flow_label: word & MAX_FLOW_LABEL,
            pay_len: u16::from_be_bytes(get::<4, _, _>(header)),
            next_header,
            hop_limit,
            sgid: Gid(get::<8, _, _>(header)),
            dgid: Gid(get::<24, _, _>(header)),
        })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let word = u32::from(self.ip_version) << 28
            | u32::from(self.traffic_class) << 20
            | self.flow_label & MAX_FLOW_LABEL;
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, word.to_be_bytes());
        put::<4, _, _>(&mut header, self.pay_len.to_be_bytes());
        put::<6, _, _>(&mut header, [self.next_header, self.hop_limit]);
        put::<8, _, _>(&mut header, self.sgid.0);
        put::<24, _, _>(&mut header, self.dgid.0);
        header
    }
}

impl fmt::Display for Grh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GRH {} > {}, tclass {}, flowlabel {:#07x}, hlim {}, length {}",
            self.sgid, self.dgid, self.traffic_class, self.flow_label, self.hop_limit, self.pay_len
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Grh,
        bytes: [
            0x66, 0xa1, 0x23, 0x45, 0x00, 0x28, 0x1b, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
            0xff, 15, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 15, 0, 0, 1,
        ],
        value: Grh {
            ip_version: 6,
            traffic_class: 106,
            flow_label: 0x12345,
            pay_len: 40,
            next_header: Grh::NEXT_HEADER_IBA,
            hop_limit: 64,
            sgid: Gid::from_ipv4([15, 0, 0, 2]),
            dgid: Gid::from_ipv4([15, 0, 0, 1]),
        },
        display: "GRH ::ffff:15.0.0.2 > ::ffff:15.0.0.1, tclass 106, flowlabel 0x12345, \
                  hlim 64, length 40",
    }
}

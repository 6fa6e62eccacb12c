//! UDP header.

use core::fmt;
use core::net::IpAddr;

use crate::bits::prefix;
use crate::checksum::Sum;
use crate::error::{Layer, ParseError};
use crate::ipv4::PROTOCOL_UDP;

/// UDP destination port of RoCE v2.
pub const ROCE_V2_PORT: u16 = 4791;

/// UDP header (RFC 768).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          source port          |       destination port        |
/// +-------------------------------+-------------------------------+
/// |            length             |           checksum            |
/// +-------------------------------+-------------------------------+
/// ```
///
/// RoCE v2 packets go to port [`ROCE_V2_PORT`] with a checksum of 0 ("none"): the ICRC protects
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Udp {
    /// Source port: the path entropy, see [`udp_source_port`](crate::udp_source_port).
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Length of header and data, in bytes, for RoCE up to and including the ICRC.
    pub length: u16,
    /// Checksum as found, 0 for "none".
    pub checksum: u16,
}

impl Udp {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 8;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let [s0, s1, d0, d1, l0, l1, c0, c1] = *prefix(bytes, Layer::Udp)?;
        Ok(Self {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
            length: u16::from_be_bytes([l0, l1]),
            checksum: u16::from_be_bytes([c0, c1]),
        })
    }

    /// The right checksum of the datagram with these addresses and this data: see RFC 768, and for the
    /// addresses of IPv6 RFC 8200 section 8.1. Both addresses must be of the same version of IP.
    #[must_use]
    pub fn computed_checksum(&self, source: IpAddr, destination: IpAddr, data: &[u8]) -> u16 {
        let mut sum =
            Sum::of_pseudo_header(source, destination, PROTOCOL_UDP, Self::LEN + data.len());
        sum.add(&Self { checksum: 0, ..*self }.to_bytes());
        sum.add(data);
        match !sum.folded() {
            0 => 0xffff, // A checksum of 0 says that there is none.
            checksum => checksum,
        }
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [s0, s1] = self.source_port.to_be_bytes();
        let [d0, d1] = self.destination_port.to_be_bytes();
        let [l0, l1] = self.length.to_be_bytes();
        let [c0, c1] = self.checksum.to_be_bytes();
        [s0, s1, d0, d1, l0, l1, c0, c1]
    }
}

impl fmt::Display for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UDP {} > {}, length {}", self.source_port, self.destination_port, self.length)
    }
}

#[cfg(test)]
mod tests {
    use core::net::{Ipv4Addr, Ipv6Addr};

    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Udp,
        bytes: [0xe3, 0x41, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00],
        value: Udp {
            source_port: 0xe341,
            destination_port: ROCE_V2_PORT,
            length: 28,
            checksum: 0,
        },
        display: "UDP 58177 > 4791, length 28",
    }

    /// Whoever checks a datagram sums its words and those of the pseudo header: the sum is all ones.
    #[test]
    fn a_checksum_makes_the_sum_all_ones() {
        let data = [0x12, 0x34, 0x56];
        let v4 = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        let v6 = |last| IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last));
        for (from, to, addresses) in
            [(v4(1), v4(2), 2 * 0x0a00 + 1 + 2), (v6(1), v6(2), 2 * 0xfd00 + 1 + 2)]
        {
            let header = Udp { source_port: 49_152, destination_port: 9, length: 11, checksum: 0 };
            let checksum = header.computed_checksum(from, to, &data);
            let words = [49_152, 9, 11, u64::from(checksum), 0x1234, 0x5600, addresses, 17, 11];
            let mut sum: u64 = words.iter().sum();
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            assert_eq!(sum, 0xffff);
        }
    }
}

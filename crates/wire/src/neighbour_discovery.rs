//! Neighbour Discovery of IPv6: who has which MAC address.

use core::fmt;
use core::net::{IpAddr, Ipv6Addr};

use crate::MacAddress;
use crate::bits::prefix;
use crate::checksum::Sum;
use crate::error::{Layer, ParseError};

/// The number of ICMPv6 in IPv6.
pub const PROTOCOL_ICMPV6: u8 = 58;

/// A Neighbour Solicitation or Advertisement (RFC 4861, sections 4.3 and 4.4) with the option that has the MAC address of who
/// sends it. Its IPv6 header has the hop limit 255.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type 135/136 |    code 0     |           checksum            |
/// +-+-+-+---------+---------------+-------------------------------+
/// |R|S|O|                        reserved                         |
/// +-+-+-+---------------------------------------------------------+
/// |                                                               |
/// |                        target address                         |
/// |                                                               |
/// |                                                               |
/// +---------------+---------------+-------------------------------+
/// |  option 1/2   |   length 1    |          MAC address          |
/// +---------------+---------------+-------------------------------+
/// |                          MAC address                          |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NeighbourMessage {
    /// Solicitation (135) or advertisement (136).
    pub message_type: u8,
    /// Checksum as found.
    pub checksum: u16,
    /// R, S and O in the high bits, the others reserved; all zero in a solicitation.
    pub flags: u32,
    /// The address that is asked for, or told of.
    pub target: Ipv6Addr,
    /// Type of the option: source (1) in solicitations, target (2) in advertisements.
    pub option: u8,
    /// MAC address of who sends it.
    pub mac: MacAddress,
}

impl NeighbourMessage {
    /// Length on the wire with its option, in bytes.
    pub const LEN: usize = 32;
    /// Type of a solicitation.
    pub const SOLICITATION: u8 = 135;
    /// Type of an advertisement.
    pub const ADVERTISEMENT: u8 = 136;
    /// R: who advertises is a router.
    pub const ROUTER: u32 = 1 << 31;
    /// S: it answers a solicitation.
    pub const SOLICITED: u32 = 1 << 30;
    /// O: what was known before is to be replaced.
    pub const OVERRIDE: u32 = 1 << 29;

    /// A solicitation for `target`, without its checksum.
    #[must_use]
    pub const fn solicitation(target: Ipv6Addr, mac: MacAddress) -> Self {
        let message_type = Self::SOLICITATION;
        Self { message_type, checksum: 0, flags: 0, target, option: 1, mac }
    }

    /// A solicited advertisement of `target`, without its checksum.
    #[must_use]
    pub const fn advertisement(target: Ipv6Addr, mac: MacAddress, router: bool) -> Self {
        let router = if router { Self::ROUTER } else { 0 };
        let flags = router | Self::SOLICITED | Self::OVERRIDE;
        Self { message_type: Self::ADVERTISEMENT, checksum: 0, flags, target, option: 2, mac }
    }

    /// Reads the message at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes, [`ParseError::Field`] if its code or the length
    /// of its option is another.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let bytes: &[u8; Self::LEN] = prefix(bytes, Layer::NeighbourDiscovery)?;
        let [message_type, code, c0, c1, f0, f1, f2, f3, rest @ ..] = *bytes;
        let [target @ .., option, length, a, b, c, d, e, f] = rest;
        for (field, value, expected) in [("code", code, 0), ("option length", length, 1)] {
            if value != expected {
                let layer = Layer::NeighbourDiscovery;
                return Err(ParseError::Field { layer, field, value: value.into(), offset: 0 });
            }
        }
        Ok(Self {
            message_type,
            checksum: u16::from_be_bytes([c0, c1]),
            flags: u32::from_be_bytes([f0, f1, f2, f3]),
            target: Ipv6Addr::from(target),
            option,
            mac: MacAddress([a, b, c, d, e, f]),
        })
    }

    /// The message as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0] = self.message_type;
        bytes[2..4].copy_from_slice(&self.checksum.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.flags.to_be_bytes());
        bytes[8..24].copy_from_slice(&self.target.octets());
        bytes[24] = self.option;
        bytes[25] = 1; // In units of 8 bytes.
        bytes[26..].copy_from_slice(&self.mac.0);
        bytes
    }

    /// The same with the right checksum between these addresses (RFC 4443, section 2.3).
    #[must_use]
    pub fn with_checksum(self, source: Ipv6Addr, destination: Ipv6Addr) -> Self {
        let (source, destination) = (IpAddr::V6(source), IpAddr::V6(destination));
        let mut sum = Sum::of_pseudo_header(source, destination, PROTOCOL_ICMPV6, Self::LEN);
        sum.add(&Self { checksum: 0, ..self }.to_bytes());
        Self { checksum: !sum.folded(), ..self }
    }
}

/// The group of the hosts whose addresses end with the same 24 bits (RFC 4291, section 2.7.1): `ff02::1:ffXX:XXXX`.
#[must_use]
pub const fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    let high = 0xff00 | a as u16;
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, high, u16::from_be_bytes([b, c]))
}

/// The MAC address of an IPv6 group (RFC 2464, section 7): `33:33` and the last 32 bits.
#[must_use]
pub const fn ipv6_group_mac(group: Ipv6Addr) -> MacAddress {
    let [.., a, b, c, d] = group.octets();
    MacAddress([0x33, 0x33, a, b, c, d])
}

impl fmt::Display for NeighbourMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message_type {
            Self::SOLICITATION => write!(f, "neighbour solicitation for {}", self.target),
            Self::ADVERTISEMENT => {
                write!(f, "neighbour advertisement: {} is at {}", self.target, self.mac)
            }
            other => write!(f, "ICMPv6 type {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    const TARGET: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0x12, 0x3456);

    header_tests! {
        NeighbourMessage,
        bytes: [
            136, 0, 0xab, 0xcd, 0xe0, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34,
            0x56, 2, 1, 2, 0, 0, 0, 0, 9,
        ],
        value: NeighbourMessage {
            checksum: 0xabcd,
            ..NeighbourMessage::advertisement(TARGET, MacAddress([2, 0, 0, 0, 0, 9]), true)
        },
        display: "neighbour advertisement: fd00::12:3456 is at 02:00:00:00:00:09",
        arbitrary: |mut bytes| {
            (bytes[1], bytes[25]) = (0, 1);
            bytes
        },
    }

    #[test]
    fn groups_are_those_of_the_standards() {
        let group = solicited_node(TARGET);
        assert_eq!(group, "ff02::1:ff12:3456".parse::<Ipv6Addr>().unwrap());
        assert_eq!(ipv6_group_mac(group), MacAddress([0x33, 0x33, 0xff, 0x12, 0x34, 0x56]));
    }

    /// Whoever checks a message sums its words and those of the pseudo header: the sum is all ones.
    #[test]
    fn a_checksum_makes_the_sum_all_ones() {
        let source = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
        let destination = solicited_node(TARGET);
        let message = NeighbourMessage::solicitation(TARGET, MacAddress([2, 0, 0, 0, 0, 1]));
        let bytes = message.with_checksum(source, destination).to_bytes();
        let words = source.octets().into_iter().chain(destination.octets()).chain(bytes);
        let mut sum: u64 = 58 + 32;
        for (place, byte) in words.enumerate() {
            sum += if place % 2 == 0 { u64::from(byte) << 8 } else { byte.into() };
        }
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        assert_eq!(sum, 0xffff);
    }
}

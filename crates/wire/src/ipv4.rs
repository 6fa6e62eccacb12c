//! IPv4 header without options.

use core::fmt;
use core::net::Ipv4Addr;

use crate::Ecn;
use crate::bits::{get, prefix, put};
use crate::ecn::traffic_class;
use crate::error::{Layer, ParseError};

/// The IP protocol number of UDP.
pub const PROTOCOL_UDP: u8 = 17;

/// IPv4 header without options (RFC 791 section 3.1, RFC 2474, RFC 3168).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+-----------+---+-------------------------------+
/// | ver 4 | IHL 5 |   DSCP    |ECN|         total length          |
/// +-------+-------+-----------+---+-+-+-+-------------------------+
/// |        identification         |R|D|M|    fragment offset      |
/// +---------------+---------------+-+-+-+-------------------------+
/// |      TTL      |   protocol    |        header checksum        |
/// +---------------+---------------+-------------------------------+
/// |                        source address                         |
/// +---------------------------------------------------------------+
/// |                      destination address                      |
/// +---------------------------------------------------------------+
/// ```
///
/// RoCE v2 packets have no options, do not allow fragmentation, and hold UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ipv4 {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Length of header and data, in bytes, for RoCE up to and including the ICRC.
    pub total_len: u16,
    /// Identification.
    pub identification: u16,
    /// The reserved flag (R), 0.
    pub reserved_flag: bool,
    /// The packet may not be fragmented (D).
    pub dont_fragment: bool,
    /// Another fragment follows (M).
    pub more_fragments: bool,
    /// Position of this fragment, 13 bits, in units of 8 bytes.
    pub fragment_offset: u16,
    /// Routers that the packet may still cross.
    pub time_to_live: u8,
    /// The protocol of the data: 17 for UDP.
    pub protocol: u8,
    /// Checksum of the header, as found; [`Self::computed_checksum`] is the right one.
    pub header_checksum: u16,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
}

impl Ipv4 {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 20;

    /// Version 4 and a header length of five 32-bit words.
    pub(crate) const VERSION_AND_IHL: u8 = 0x45;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes,
    /// [`ParseError::Field`] if this is another version or has options.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Ipv4)?;
        let [version, tos, ..] = *header;
        if version != Self::VERSION_AND_IHL {
            return Err(ParseError::Field {
                layer: Layer::Ipv4,
                field: "version and IHL",
                value: version.into(),
                offset: 0,
            });
        }
        let fragment = u16::from_be_bytes(get::<6, _, _>(header));
        let [time_to_live, protocol] = get::<8, _, _>(header);
        Ok(Self {
            dscp: tos >> 2,
            ecn: Ecn::from_bits(tos),
            total_len: u16::from_be_bytes(get::<2, _, _>(header)),
            identification: u16::from_be_bytes(get::<4, _, _>(header)),
            reserved_flag: fragment & 0x8000 != 0,
            dont_fragment: fragment & 0x4000 != 0,
            more_fragments: fragment & 0x2000 != 0,
            fragment_offset: fragment & 0x1fff,
            time_to_live,
            protocol,
            header_checksum: u16::from_be_bytes(get::<10, _, _>(header)),
            source: get::<12, 4, _>(header).into(),
            destination: get::<16, 4, _>(header).into(),
        })
    }

    /// The header as bytes, with [`Self::header_checksum`] as it is. Values are truncated to the
    /// width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let fragment = u16::from(self.reserved_flag) << 15
            | u16::from(self.dont_fragment) << 14
            | u16::from(self.more_fragments) << 13
            | self.fragment_offset & 0x1fff;
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, [Self::VERSION_AND_IHL, traffic_class(self.dscp, self.ecn)]);
        put::<2, _, _>(&mut header, self.total_len.to_be_bytes());
        put::<4, _, _>(&mut header, self.identification.to_be_bytes());
        put::<6, _, _>(&mut header, fragment.to_be_bytes());
        put::<8, _, _>(&mut header, [self.time_to_live, self.protocol]);
        put::<10, _, _>(&mut header, self.header_checksum.to_be_bytes());
        put::<12, _, _>(&mut header, self.source.octets());
        put::<16, _, _>(&mut header, self.destination.octets());
        header
    }

    /// The right checksum of the header (RFC 1071).
    #[must_use]
    pub fn computed_checksum(&self) -> u16 {
        let header = Self { header_checksum: 0, ..*self }.to_bytes();
        let (words, _) = header.as_chunks::<2>();
        words.iter().map(|word| u16::from_be_bytes(*word)).fold(0xffff, ones_complement_subtract)
    }

    /// Whether the packet is a fragment of a larger one.
    #[must_use]
    pub const fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment_offset != 0
    }
}

/// `sum - word` in ones' complement arithmetic: folding this over the words from "all ones"
/// gives the complement of their sum.
const fn ones_complement_subtract(sum: u16, word: u16) -> u16 {
    let (difference, borrow) = sum.overflowing_sub(word);
    if borrow { difference.wrapping_sub(1) } else { difference }
}

impl fmt::Display for Ipv4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "IP {} > {}, dscp {}, {}, ttl {}, id {}, length {}",
            self.source,
            self.destination,
            self.dscp,
            self.ecn,
            self.time_to_live,
            self.identification,
            self.total_len
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::header_tests;

    const VALUE: Ipv4 = Ipv4 {
        dscp: 26,
        ecn: Ecn::Ect0,
        total_len: 48,
        identification: 0x1234,
        reserved_flag: false,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        time_to_live: 64,
        protocol: PROTOCOL_UDP,
        header_checksum: 0x141d,
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
    };

    header_tests! {
        Ipv4,
        bytes: [
            0x45, 0x6a, 0x00, 0x30, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x14, 0x1d, 10, 0, 0, 1,
            10, 0, 0, 2,
        ],
        value: VALUE,
        display: "IP 10.0.0.1 > 10.0.0.2, dscp 26, ECT(0), ttl 64, id 4660, length 48",
        arbitrary: |mut bytes| {
            bytes[0] = Ipv4::VERSION_AND_IHL;
            bytes
        },
    }

    #[test]
    fn options_and_other_versions_are_refused() {
        for first in (0..=u8::MAX).filter(|first| *first != Ipv4::VERSION_AND_IHL) {
            let mut bytes = VALUE.to_bytes();
            bytes[0] = first;
            let error = Ipv4::parse(&bytes).expect_err("not a plain IPv4 header");
            assert!(matches!(error, ParseError::Field { layer: Layer::Ipv4, .. }));
        }
    }

    #[test]
    fn checksum_of_the_example() {
        assert_eq!(VALUE.computed_checksum(), VALUE.header_checksum);
    }

    proptest! {
        #[test]
        fn etherparse_agrees(mut bytes: [u8; 20]) {
            bytes[0] = Ipv4::VERSION_AND_IHL;
            bytes[6] &= 0x7f;
            let ours = Ipv4::parse(&bytes).unwrap();
            let theirs = etherparse::Ipv4HeaderSlice::from_slice(&bytes).unwrap().to_header();
            prop_assert_eq!(ours.dscp, theirs.dscp.value());
            prop_assert_eq!(ours.fragment_offset, theirs.fragment_offset.value());
            prop_assert_eq!(ours.source.octets(), theirs.source);
            prop_assert_eq!(ours.computed_checksum(), theirs.calc_header_checksum());
        }
    }
}

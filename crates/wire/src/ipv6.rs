//! IPv6 header.

use core::fmt;
use core::net::Ipv6Addr;

use crate::Ecn;
use crate::bits::{get, prefix, put};
use crate::ecn::traffic_class;
use crate::error::{Layer, ParseError};

/// Largest flow label: 20 bits, in IPv6 and in the GRH.
pub const MAX_FLOW_LABEL: u32 = 0xf_ffff;

/// IPv6 header (RFC 8200 section 3).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-----------+---+---------------------------------------+
/// | ver 6 |   DSCP    |ECN|              flow label               |
/// +-------+-----------+---+-------+---------------+---------------+
/// |        payload length         |  next header  |   hop limit   |
/// +-------------------------------+---------------+---------------+
/// |                   source address (128 bits)                   |
/// +---------------------------------------------------------------+
/// |                 destination address (128 bits)                |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ipv6 {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Length of what follows the header, in bytes, for RoCE up to and including the ICRC.
    pub payload_len: u16,
    /// The protocol of the data: 17 for UDP.
    pub next_header: u8,
    /// Routers that the packet may still cross.
    pub hop_limit: u8,
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
}

impl Ipv6 {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 40;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes,
    /// [`ParseError::Field`] if this is another version.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Ipv6)?;
        let word = u32::from_be_bytes(get::<0, _, _>(header));
        if word >> 28 != 6 {
            return Err(ParseError::Field {
                layer: Layer::Ipv6,
                field: "version",
                value: word >> 28,
                offset: 0,
            });
        }
        let [_, octet, ..] = (word >> 4).to_be_bytes();
        let [next_header, hop_limit] = get::<6, _, _>(header);
        Ok(Self {
            dscp: octet >> 2,
            ecn: Ecn::from_bits(octet),
            flow_label: word & MAX_FLOW_LABEL,
            payload_len: u16::from_be_bytes(get::<4, _, _>(header)),
            next_header,
            hop_limit,
            source: get::<8, 16, _>(header).into(),
            destination: get::<24, 16, _>(header).into(),
        })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let octet = traffic_class(self.dscp, self.ecn);
        let word = 6 << 28 | u32::from(octet) << 20 | self.flow_label & MAX_FLOW_LABEL;
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, word.to_be_bytes());
        put::<4, _, _>(&mut header, self.payload_len.to_be_bytes());
        put::<6, _, _>(&mut header, [self.next_header, self.hop_limit]);
        put::<8, _, _>(&mut header, self.source.octets());
        put::<24, _, _>(&mut header, self.destination.octets());
        header
    }
}

impl fmt::Display for Ipv6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "IP6 {} > {}, dscp {}, {}, flowlabel {:#07x}, hlim {}, length {}",
            self.source,
            self.destination,
            self.dscp,
            self.ecn,
            self.flow_label,
            self.hop_limit,
            self.payload_len
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::header_tests;

    const BYTES: [u8; 40] = [
        0x66, 0xa1, 0x23, 0x45, 0x00, 0x1c, 0x11, 0x40, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 1, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
    ];

    header_tests! {
        Ipv6,
        bytes: BYTES,
        value: Ipv6 {
            dscp: 26,
            ecn: Ecn::Ect0,
            flow_label: 0x12345,
            payload_len: 28,
            next_header: 17,
            hop_limit: 64,
            source: "fe80::1".parse().unwrap(),
            destination: "fe80::2".parse().unwrap(),
        },
        display: "IP6 fe80::1 > fe80::2, dscp 26, ECT(0), flowlabel 0x12345, hlim 64, length 28",
        arbitrary: |mut bytes| {
            bytes[0] = bytes[0] & 0x0f | 0x60;
            bytes
        },
    }

    #[test]
    fn other_versions_are_refused() {
        let mut bytes = BYTES;
        bytes[0] = 0x46;
        let expected =
            ParseError::Field { layer: Layer::Ipv6, field: "version", value: 4, offset: 0 };
        assert_eq!(Ipv6::parse(&bytes), Err(expected));
    }

    proptest! {
        #[test]
        fn etherparse_agrees(mut bytes: [u8; 40]) {
            bytes[0] = bytes[0] & 0x0f | 0x60;
            let ours = Ipv6::parse(&bytes).unwrap();
            let (theirs, _) = etherparse::Ipv6Header::from_slice(&bytes).unwrap();
            prop_assert_eq!(traffic_class(ours.dscp, ours.ecn), theirs.traffic_class);
            prop_assert_eq!(ours.flow_label, theirs.flow_label.value());
            prop_assert_eq!(ours.payload_len, theirs.payload_length);
            prop_assert_eq!(ours.hop_limit, theirs.hop_limit);
            prop_assert_eq!(ours.destination.octets(), theirs.destination);
        }
    }
}

//! TCP header.

use core::fmt;
use core::net::IpAddr;

use crate::bits::{get, prefix, put};
use crate::checksum::Sum;
use crate::error::{EmitError, Layer, ParseError};

/// The IP protocol number of TCP.
pub const PROTOCOL_TCP: u8 = 6;

/// Kinds of options.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;

/// TCP header with its options: see RFC 9293.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          source port          |       destination port        |
/// +-------------------------------+-------------------------------+
/// |                        sequence number                        |
/// +---------------------------------------------------------------+
/// |                     acknowledgement number                    |
/// +-------+-------+-+-+-+-+-+-+-+-+-------------------------------+
/// | data  |  re-  |C|E|U|A|P|R|S|F|                               |
/// | offset| served|W|C|R|C|S|S|Y|I|            window             |
/// |       |       |R|E|G|K|H|T|N|N|                               |
/// +-------+-------+-+-+-+-+-+-+-+-+-------------------------------+
/// |           checksum            |        urgent pointer         |
/// +-------------------------------+-------------------------------+
/// |                 options, 0 to 40 bytes                        |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tcp {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first byte of the data.
    pub sequence_number: u32,
    /// Sequence number of the next expected byte, valid if [`Self::ACK`] is set.
    pub acknowledgement_number: u32,
    /// Reserved bits, 4 bits, 0.
    pub reserved: u8,
    /// Control bits: [`Self::CWR`] to [`Self::FIN`].
    pub flags: u8,
    /// Receive window, shifted right by the scale that both ends negotiated (RFC 7323).
    pub window: u16,
    /// Checksum as found; [`Self::computed_checksum`] is the right one.
    pub checksum: u16,
    /// Urgent pointer, valid if [`Self::URG`] is set.
    pub urgent_pointer: u16,
    /// The options.
    pub options: TcpOptions,
}

impl Tcp {
    /// Length without options, in bytes.
    pub const LEN: usize = 20;
    /// Length with the most options, in bytes.
    pub const MAX_LEN: usize = Self::LEN + TcpOptions::MAX_LEN;

    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 0x80;
    /// ECN echo (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// The urgent pointer is valid.
    pub const URG: u8 = 0x20;
    /// The acknowledgement number is valid.
    pub const ACK: u8 = 0x10;
    /// The receiver must pass the data on immediately.
    pub const PSH: u8 = 0x08;
    /// Reset the connection.
    pub const RST: u8 = 0x04;
    /// Open the connection.
    pub const SYN: u8 = 0x02;
    /// The sender has no more data.
    pub const FIN: u8 = 0x01;

    /// Reads the header at the start of `bytes`, with its options.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer bytes than the header's length,
    /// [`ParseError::Field`] if that length is less than [`Self::LEN`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Tcp)?;
        let [offset, flags] = get::<12, _, _>(header);
        let len = usize::from(offset >> 4) * 4;
        let Some(options_len) = len.checked_sub(Self::LEN) else {
            let value = u32::from(offset >> 4);
            let (layer, field) = (Layer::Tcp, "data offset");
            return Err(ParseError::Field { layer, field, value, offset: 0 });
        };
        let truncated =
            ParseError::Truncated { layer: Layer::Tcp, needed: len, had: bytes.len(), offset: 0 };
        let options = bytes.get(Self::LEN..).and_then(|rest| rest.get(..options_len));
        Ok(Self {
            source_port: u16::from_be_bytes(get::<0, _, _>(header)),
            destination_port: u16::from_be_bytes(get::<2, _, _>(header)),
            sequence_number: u32::from_be_bytes(get::<4, _, _>(header)),
            acknowledgement_number: u32::from_be_bytes(get::<8, _, _>(header)),
            reserved: offset & 0x0f,
            flags,
            window: u16::from_be_bytes(get::<14, _, _>(header)),
            checksum: u16::from_be_bytes(get::<16, _, _>(header)),
            urgent_pointer: u16::from_be_bytes(get::<18, _, _>(header)),
            options: TcpOptions::copied(options.ok_or(truncated)?),
        })
    }

    /// Length with options, in bytes: the data offset times 4.
    #[must_use]
    pub const fn header_len(&self) -> usize {
        Self::LEN + self.options.len as usize
    }

    /// Writes the header with its options to the start of `out`, with [`Self::checksum`] as it is.
    /// Values are truncated to the width of their field. Returns the length in bytes.
    ///
    /// # Errors
    ///
    /// If `out` is shorter than [`Self::header_len`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let (needed, had) = (self.header_len(), out.len());
        let place = out.get_mut(..needed).ok_or(EmitError { needed, had })?;
        let (fixed, options) = place.split_at_mut(Self::LEN);
        fixed.copy_from_slice(&self.fixed_part());
        options.copy_from_slice(self.options.as_bytes());
        Ok(needed)
    }

    /// The right checksum of the segment with these addresses and this data: see RFC 9293, and for
    /// the addresses of IPv6 RFC 8200 section 8.1. Both addresses must be of the same version of
    /// IP.
    #[must_use]
    pub fn computed_checksum(&self, source: IpAddr, destination: IpAddr, data: &[u8]) -> u16 {
        let len = self.header_len() + data.len();
        let mut sum = Sum::of_pseudo_header(source, destination, PROTOCOL_TCP, len);
        sum.add(&Self { checksum: 0, ..*self }.fixed_part());
        sum.add(self.options.as_bytes());
        sum.add(data);
        !sum.folded()
    }

    fn fixed_part(&self) -> [u8; Self::LEN] {
        let [.., words] = (self.header_len() / 4).to_be_bytes();
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, self.source_port.to_be_bytes());
        put::<2, _, _>(&mut header, self.destination_port.to_be_bytes());
        put::<4, _, _>(&mut header, self.sequence_number.to_be_bytes());
        put::<8, _, _>(&mut header, self.acknowledgement_number.to_be_bytes());
        put::<12, _, _>(&mut header, [words << 4 | self.reserved & 0x0f, self.flags]);
        put::<14, _, _>(&mut header, self.window.to_be_bytes());
        put::<16, _, _>(&mut header, self.checksum.to_be_bytes());
        put::<18, _, _>(&mut header, self.urgent_pointer.to_be_bytes());
        header
    }
}

/// The options of a TCP header, as bytes of the wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TcpOptions {
    bytes: [u8; Self::MAX_LEN],
    len: u8,
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self { bytes: [0; Self::MAX_LEN], len: 0 }
    }
}

impl TcpOptions {
    /// The largest length of all options, in bytes.
    pub const MAX_LEN: usize = 40;
    /// The largest number of SACK blocks that fit.
    pub const MAX_SACK_BLOCKS: usize = 4;

    /// The SACK option with these blocks (RFC 2018), aligned by two no-operation options; no option
    /// if there are no blocks. Blocks after the fourth are left out.
    #[must_use]
    pub fn sack(blocks: &[(u32, u32)]) -> Self {
        let mut options = Self::default();
        let blocks = &blocks[..blocks.len().min(Self::MAX_SACK_BLOCKS)];
        if blocks.is_empty() {
            return options;
        }
        let [.., len] = (2 + 8 * blocks.len()).to_be_bytes();
        options.extend(&[NO_OPERATION, NO_OPERATION, SACK, len]);
        for &(left, right) in blocks {
            options.extend(&left.to_be_bytes());
            options.extend(&right.to_be_bytes());
        }
        options
    }

    /// The bytes of all options; their number is a multiple of 4.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The blocks of the SACK option, each its left and right edge; none without it.
    pub fn sack_blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (blocks, _) = self.find(SACK).unwrap_or_default().as_chunks::<8>();
        blocks.iter().map(|&[a, b, c, d, e, f, g, h]| {
            (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
        })
    }

    /// The content of the first option of a kind. The search ends at an option that is incomplete.
    fn find(&self, wanted: u8) -> Option<&[u8]> {
        let mut rest = self.as_bytes();
        loop {
            rest = match *rest {
                [] | [END, ..] => return None,
                [NO_OPERATION, ..] => &rest[1..],
                [kind, len, ..] => {
                    let content = rest.get(2..usize::from(len))?;
                    if kind == wanted {
                        return Some(content);
                    }
                    &rest[usize::from(len)..]
                }
                [_] => return None,
            };
        }
    }

    /// The options of a header, at most [`Self::MAX_LEN`] bytes.
    fn copied(bytes: &[u8]) -> Self {
        let mut options = Self::default();
        options.extend(bytes);
        options
    }

    /// Appends bytes, which must fit.
    fn extend(&mut self, bytes: &[u8]) {
        let start = usize::from(self.len);
        let [.., len] = (start + bytes.len()).to_be_bytes();
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        self.len = len;
    }
}

impl fmt::Display for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source_port, destination_port, sequence_number, window, .. } = self;
        write!(f, "TCP {source_port} > {destination_port}, seq {sequence_number}")?;
        if self.flags & Self::ACK != 0 {
            write!(f, ", ack {}", self.acknowledgement_number)?;
        }
        let names = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
        for (bit, name) in names.iter().enumerate().filter(|&(bit, _)| bit != 4) {
            if self.flags >> bit & 1 == 1 {
                write!(f, ", {name}")?;
            }
        }
        write!(f, ", win {window}")?;
        for (left, right) in self.options.sack_blocks() {
            write!(f, ", sack {left}-{right}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::vec::Vec;

    use etherparse::{TcpHeader, TcpOptionElement};
    use proptest::prelude::*;

    use super::*;

    fn any_tcp() -> impl Strategy<Value = Tcp> {
        let blocks = prop::collection::vec(any::<(u32, u32)>(), 0..=4);
        (any::<[u16; 5]>(), any::<[u32; 2]>(), any::<u8>(), blocks).prop_map(
            |(
                [source_port, destination_port, window, checksum, urgent_pointer],
                [seq, ack],
                flags,
                blocks,
            )| {
                Tcp {
                    source_port,
                    destination_port,
                    sequence_number: seq,
                    acknowledgement_number: ack,
                    reserved: 0,
                    flags,
                    window,
                    checksum,
                    urgent_pointer,
                    options: TcpOptions::sack(&blocks),
                }
            },
        )
    }

    fn emitted(tcp: &Tcp) -> Vec<u8> {
        let mut bytes = [0; Tcp::MAX_LEN];
        let len = tcp.emit(&mut bytes).unwrap();
        bytes[..len].to_vec()
    }

    proptest! {
        /// Compares with etherparse: fields, SACK blocks and both checksums.
        #[test]
        fn as_others_see_it(tcp in any_tcp(), v4: [[u8; 4]; 2], v6: [[u8; 16]; 2],
            data in prop::collection::vec(any::<u8>(), 0..100)) {
            let bytes = emitted(&tcp);
            prop_assert_eq!(Tcp::parse(&bytes).unwrap(), tcp);
            let (other, rest) = TcpHeader::from_slice(&bytes).unwrap();
            prop_assert!(rest.is_empty());
            prop_assert_eq!((other.source_port, other.destination_port), (tcp.source_port, tcp.destination_port));
            prop_assert_eq!(other.sequence_number, tcp.sequence_number);
            prop_assert_eq!(other.acknowledgment_number, tcp.acknowledgement_number);
            prop_assert_eq!((other.window_size, other.urgent_pointer), (tcp.window, tcp.urgent_pointer));
            let bits = [other.fin, other.syn, other.rst, other.psh, other.ack, other.urg, other.ece, other.cwr];
            let flags = bits.iter().enumerate().fold(0, |flags, (bit, &on)| flags | u8::from(on) << bit);
            prop_assert_eq!(flags, tcp.flags);
            let mut blocks = Vec::new();
            for element in other.options_iterator() {
                if let TcpOptionElement::SelectiveAcknowledgement(first, others) = element.unwrap() {
                    blocks.push(first);
                    blocks.extend(others.into_iter().flatten());
                }
            }
            prop_assert_eq!(blocks, tcp.options.sack_blocks().collect::<Vec<_>>());
            let [from, to] = v4;
            prop_assert_eq!(
                tcp.computed_checksum(IpAddr::from(from), IpAddr::from(to), &data),
                other.calc_checksum_ipv4_raw(from, to, &data).unwrap());
            let [from, to] = v6;
            prop_assert_eq!(
                tcp.computed_checksum(IpAddr::from(from), IpAddr::from(to), &data),
                other.calc_checksum_ipv6_raw(from, to, &data).unwrap());
        }

        /// Any bytes that can be parsed are emitted unchanged, and invalid options do no harm.
        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(tcp) = Tcp::parse(&bytes) {
                prop_assert_eq!(&emitted(&tcp), &bytes[..tcp.header_len()]);
                prop_assert!(tcp.options.sack_blocks().count() <= 4);
                _ = format!("{tcp}");
            }
        }
    }

    #[test]
    fn impossible_lengths() {
        let tcp = Tcp { options: TcpOptions::sack(&[(1, 2)]), ..Tcp::default() };
        let mut bytes = emitted(&tcp);
        for had in 0..bytes.len() {
            let needed = if had < Tcp::LEN { Tcp::LEN } else { 32 };
            let expected = ParseError::Truncated { layer: Layer::Tcp, needed, had, offset: 0 };
            assert_eq!(Tcp::parse(&bytes[..had]), Err(expected));
            assert_eq!(tcp.emit(&mut [0; 60][..had]), Err(EmitError { needed: 32, had }));
        }
        for offset in 0..5 {
            bytes[12] = offset << 4;
            assert!(matches!(
                Tcp::parse(&bytes),
                Err(ParseError::Field { field: "data offset", .. })
            ));
        }
    }

    #[test]
    fn display() {
        let tcp = Tcp {
            source_port: 40_000,
            destination_port: 5_001,
            sequence_number: 1,
            acknowledgement_number: 7,
            flags: Tcp::ACK | Tcp::ECE,
            window: 512,
            options: TcpOptions::sack(&[(10, 20)]),
            ..Tcp::default()
        };
        let text = "TCP 40000 > 5001, seq 1, ack 7, ECE, win 512, sack 10-20";
        assert_eq!(format!("{tcp}"), text);
    }
}

//! Records of the Extensible Record Format (ERF, link type 197), in which packets of native InfiniBand
//! are written.
//!
//! Wireshark 4.0 reads native InfiniBand in these records only, and not with its own link type, 247.

use std::io;

use rocelab_units::SimTime;
use rocelab_wire::{FlowControlPacket, Grh, Layer, Lrh, ParseError};

/// LINKTYPE_ERF of the tcpdump.org link-layer type registry.
pub(crate) const ERF: u16 = 197;

/// Record type of a packet that begins with its LRH.
const TYPE_INFINIBAND: u8 = 21;
/// Record type of a link packet.
const TYPE_INFINIBAND_LINK: u8 = 25;
/// Bit of the type: an extension header follows. The first byte of that has the bit for the next.
const MORE_HEADERS: u8 = 0x80;
/// Flag: records have the length of their packet, and not one for all.
const FLAG_VARIABLE_LENGTH: u8 = 0x04;
/// Bits of the flags with the number of the interface.
const FLAGS_INTERFACE: usize = 0b11;

/// Length of the header of a record, in bytes.
pub(crate) const HEADER_LEN: usize = 16;
/// Length of an extension header, in bytes.
const EXTENSION_LEN: usize = 8;
/// Records are filled up to a multiple of so many bytes.
const ALIGNMENT: usize = 8;

/// Most bytes of a record that are not those of its packet: header, and what fills it up. A link packet
/// is filled up most.
pub(crate) const MOST_AROUND_A_PACKET: u32 = 64 - 6;

/// Length to which zeros fill up a link packet, in bytes. Wireshark 4.0 summarises every packet as if it
/// had an LRH, and takes a link packet for malformed that ends before what it looks for. That depends on
/// the bits that would be the LNH, which are the lowest of FCTBS.
fn link_packet_len(packet: &[u8]) -> usize {
    match packet.get(1).map_or(0, |fctbs| fctbs & 0b11) {
        Lrh::LNH_GRH => Lrh::LEN + Grh::LEN,
        Lrh::LNH_BTH => Lrh::LEN + 2,
        _ => Lrh::LEN,
    }
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A packet from its LRH on.
    Packet,
    /// A link packet.
    LinkPacket,
    /// Something that is not native InfiniBand.
    Other,
}

/// A record that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) content: Content,
    /// Where the packet begins in the record.
    pub(crate) offset: usize,
    /// The packet as captured.
    pub(crate) packet: &'a [u8],
    /// Whether its end was not captured.
    pub(crate) cut: bool,
}

impl<'a> Record<'a> {
    /// Reads a record.
    ///
    /// # Errors
    /// The header or extension header that is not complete.
    pub(crate) fn parse(record: &'a [u8]) -> Result<Self, ParseError> {
        let Some(header) = record.first_chunk::<HEADER_LEN>() else {
            return Err(incomplete(record, 0, HEADER_LEN));
        };
        let mut offset = HEADER_LEN;
        let mut more = header[8];
        while more & MORE_HEADERS != 0 {
            let extension = record.get(offset..offset + EXTENSION_LEN);
            let extension = extension.ok_or_else(|| incomplete(record, offset, EXTENSION_LEN))?;
            more = extension[0];
            offset += EXTENSION_LEN;
        }
        let content = match header[8] & !MORE_HEADERS {
            TYPE_INFINIBAND => Content::Packet,
            TYPE_INFINIBAND_LINK => Content::LinkPacket,
            _ => Content::Other,
        };
        let len = usize::from(u16::from_be_bytes([header[14], header[15]]));
        let rest = record.get(offset..).unwrap_or_default();
        let packet = &rest[..len.min(rest.len())];
        Ok(Self { content, offset, packet, cut: packet.len() < len })
    }
}

/// The error that a record ends inside of a header that begins at `offset`.
fn incomplete(record: &[u8], offset: usize, needed: usize) -> ParseError {
    ParseError::Truncated { layer: Layer::Erf, needed, had: record.len() - offset, offset }
}

/// A record with the first bytes of a packet whose whole length is `packet_len`, and the length that
/// the record would have with all of it. `interface` is the number of the captured port: of these, a
/// record can tell four.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) if the packet is longer than a record can be.
pub(crate) fn record(
    time: SimTime,
    interface: usize,
    packet: &[u8],
    packet_len: usize,
) -> io::Result<(Vec<u8>, u32)> {
    let is_link_packet = packet_len == FlowControlPacket::LEN;
    let whole_len = if is_link_packet { link_packet_len(packet) } else { packet_len };
    let is_cut = packet.len() < packet_len;
    let record_len = match is_cut {
        true => HEADER_LEN + packet.len(),
        false => (HEADER_LEN + whole_len).next_multiple_of(ALIGNMENT),
    };
    let field = |len: usize| {
        let too_long = || format!("a packet of {packet_len} bytes is longer than a record of ERF");
        u16::try_from(len).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, too_long()))
    };
    let kind = if is_link_packet { TYPE_INFINIBAND_LINK } else { TYPE_INFINIBAND };
    let [port, ..] = (interface & FLAGS_INTERFACE).to_le_bytes();
    let mut record = Vec::with_capacity(record_len);
    record.extend(timestamp(time).to_le_bytes());
    record.extend([kind, FLAG_VARIABLE_LENGTH | port]);
    record.extend(field(record_len)?.to_be_bytes());
    record.extend([0; 2]); // No packet was lost.
    record.extend(field(whole_len)?.to_be_bytes());
    record.extend_from_slice(packet);
    record.resize(record_len, 0);
    let original_len = if is_cut { HEADER_LEN + whole_len } else { record_len };
    Ok((record, u32::from(field(original_len)?)))
}

/// Seconds with 32 bits of fraction. As in the rest of a capture the time is in whole nanoseconds,
/// rounded down; the fraction is rounded up, so that readers get the same nanosecond back.
fn timestamp(time: SimTime) -> u64 {
    const NS_PER_SECOND: u64 = 1_000_000_000;
    let ns = time.ps() / 1_000;
    let (seconds, rest) = (ns / NS_PER_SECOND, ns % NS_PER_SECOND);
    seconds << 32 | (rest << 32).div_ceil(NS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(packet: &[u8], packet_len: usize) -> (Vec<u8>, u32) {
        record(SimTime::from_ps(1_500_000_000_999), 6, packet, packet_len).unwrap()
    }

    #[test]
    fn a_record_has_its_header_its_packet_and_zeros() {
        let (bytes, original) = written(&[7; 30], 30);
        let header = [0, 0, 0, 0x80, 1, 0, 0, 0, 21, 6, 0, 48, 0, 0, 0, 30];
        assert_eq!(bytes, [header.as_slice(), &[7; 30], &[0; 2]].concat());
        assert_eq!(original, 48);
        let record = Record::parse(&bytes).unwrap();
        assert_eq!((record.content, record.offset, record.cut), (Content::Packet, 16, false));
        assert_eq!(record.packet, [7; 30]);
    }

    /// The least lengths that tshark 4.0.17 does not take for malformed.
    #[test]
    fn a_link_packet_is_filled_up_to_what_wireshark_looks_for() {
        for (fctbs, len) in [(4, 8), (5, 8), (6, 10), (7, 48)] {
            let (bytes, original) = written(&[0, fctbs, 0, 0, 0, 0], 6);
            let record_len = (16 + usize::from(len)).next_multiple_of(8);
            assert_eq!((bytes.len(), original as usize), (record_len, record_len));
            assert_eq!((bytes[8], bytes[15]), (25, len));
            assert!(bytes.len() - 6 <= MOST_AROUND_A_PACKET as usize);
        }
        let (bytes, _) = written(&[8; 6], 6);
        let record = Record::parse(&bytes).unwrap();
        assert_eq!(
            (record.content, record.packet),
            (Content::LinkPacket, &[8, 8, 8, 8, 8, 8, 0, 0][..])
        );
    }

    #[test]
    fn a_cut_packet_has_its_whole_length_and_no_zeros() {
        let (bytes, original) = written(&[7; 10], 30);
        assert_eq!((bytes.len(), original, bytes[11], bytes[15]), (26, 46, 26, 30));
        let record = Record::parse(&bytes).unwrap();
        assert!(record.cut && record.packet == [7; 10]);
    }

    #[test]
    fn extension_headers_are_passed_over() {
        let mut bytes = written(&[7; 30], 30).0;
        bytes[8] |= 0x80;
        bytes.splice(16..16, [0x83, 0, 0, 0, 0, 0, 0, 0, 0x03, 0, 0, 0, 0, 0, 0, 0]);
        let record = Record::parse(&bytes).unwrap();
        assert_eq!(
            (record.content, record.offset, record.packet),
            (Content::Packet, 32, &[7; 30][..])
        );
        for len in 0..32 {
            let offset = if len < 16 { 0 } else { len / 8 * 8 };
            let needed = if len < 16 { 16 } else { 8 };
            let error =
                ParseError::Truncated { layer: Layer::Erf, needed, had: len - offset, offset };
            assert_eq!(Record::parse(&bytes[..len]).err(), Some(error), "{len}");
        }
    }

    #[test]
    fn nothing_is_written_that_a_record_cannot_hold() {
        let longest = vec![0; 65_512];
        assert_eq!(written(&longest, longest.len()).0.len(), 65_528);
        let error = record(SimTime::ZERO, 0, &[0; 65_520], 65_520).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn times_come_back_to_the_nanosecond() {
        for ns in [0, 1, 84, 999_999_999, 1_000_000_001, 123_456_789_012_345] {
            let stamp = timestamp(SimTime::from_ps(ns * 1_000));
            let down = ((stamp & 0xffff_ffff) * 1_000_000_000) >> 32;
            assert_eq!((stamp >> 32) * 1_000_000_000 + down, ns);
        }
    }
}

//! Generic routing encapsulation, and ERSPAN in it.

use rocelab_wire::EtherType;
use serde::Serialize;

/// The IP protocol number of GRE.
pub(in crate::dissection) const PROTOCOL_GRE: u8 = 47;

/// Generic routing encapsulation (RFC 2784, RFC 2890), version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gre {
    /// What follows: an EtherType.
    pub protocol: u16,
    /// Checksum, if there is one; it is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<u16>,
    /// Key, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<u32>,
    /// Sequence number, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u32>,
}

impl Gre {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const VERSION: u16 = 0x0007;
    /// An Ethernet frame follows (transparent Ethernet bridging).
    pub(super) const ETHERNET: u16 = 0x6558;
    /// ERSPAN of type I or II follows.
    pub(super) const ERSPAN: u16 = 0x88be;
    /// ERSPAN of type III follows.
    pub(super) const ERSPAN_III: u16 = 0x22eb;

    /// Reads the header at the start of `bytes`, and returns its length; `None` if it is incomplete, of another version, or has
    /// source routes, which nobody uses any more.
    pub(in crate::dissection) fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut at = 0;
        let mut word = || {
            let word = bytes.get(at..)?.first_chunk::<4>()?;
            at += word.len();
            Some(u32::from_be_bytes(*word))
        };
        let first = word()?;
        let [flags, protocol] = [first >> 16, first & 0xffff].map(half);
        if flags & (Self::ROUTING | Self::VERSION) != 0 {
            return None;
        }
        let mut optional = |flag| if flags & flag == 0 { Some(None) } else { word().map(Some) };
        let checksum = optional(Self::CHECKSUM)?.map(|word| half(word >> 16));
        let key = optional(Self::KEY)?;
        let sequence = optional(Self::SEQUENCE)?;
        Some((Self { protocol, checksum, key, sequence }, at))
    }

    /// Whether a mirrored frame follows.
    pub(super) const fn is_erspan(&self) -> bool {
        matches!(self.protocol, Self::ERSPAN | Self::ERSPAN_III)
    }

    /// Whether a frame or packet follows that can be looked into.
    pub(in crate::dissection) fn has_frame(&self) -> bool {
        self.is_erspan() || self.protocol == Self::ETHERNET || self.ip().is_some()
    }

    /// The EtherType of an IP packet that follows.
    pub(super) fn ip(&self) -> Option<EtherType> {
        let protocol = EtherType(self.protocol);
        matches!(protocol, EtherType::IPV4 | EtherType::IPV6).then_some(protocol)
    }
}

/// The lower half of a word.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
const fn half(word: u32) -> u16 {
    word as u16
}

/// ERSPAN type II (draft-foschiano-erspan): the header between GRE and a frame that a switch mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ErspanII {
    /// VLAN of the mirrored frame.
    pub vlan: u16,
    /// Class of service of the mirrored frame.
    pub cos: u8,
    /// Whether the frame was truncated.
    pub truncated: bool,
    /// Number of the mirroring session.
    pub session_id: u16,
    /// The port of the switch, in its own numbering, 20 bits.
    pub index: u32,
}

impl ErspanII {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 8;
    const VERSION: u32 = 1;

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [first, second] = words(bytes)?;
        (first >> 28 == Self::VERSION).then(|| Self {
            vlan: half(first >> 16 & 0xfff),
            cos: (first >> 13 & 0b111) as u8,
            truncated: first >> 10 & 1 == 1,
            session_id: half(first & 0x3ff),
            index: second & 0xf_ffff,
        })
    }
}

/// ERSPAN type III (draft-foschiano-erspan), with a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ErspanIII {
    /// VLAN of the mirrored frame.
    pub vlan: u16,
    /// Class of service of the mirrored frame.
    pub cos: u8,
    /// Whether the frame was truncated.
    pub truncated: bool,
    /// Number of the mirroring session.
    pub session_id: u16,
    /// The lower half of a time stamp, in units that `granularity` says.
    pub timestamp: u32,
    /// Kind of content, 5 bits: 0 is an Ethernet frame, 2 an IP packet.
    pub frame_type: u8,
    /// Number of the mirroring hardware.
    pub hardware_id: u8,
    /// Direction at the mirrored port: true for egress.
    pub egress: bool,
    /// Unit of the time stamp: 0 is 100 us, 1 is 100 ns, 2 is that of IEEE 1588.
    pub granularity: u8,
    /// Whether 8 bytes of the platform follow.
    pub has_platform_header: bool,
}

impl ErspanIII {
    /// Length on the wire without the platform's header, in bytes.
    pub const LEN: usize = 12;
    /// Length of the platform's header, in bytes.
    pub(super) const PLATFORM_LEN: usize = 8;
    const VERSION: u32 = 2;
    /// The frame type of an Ethernet frame.
    pub(super) const ETHERNET: u8 = 0;
    /// The frame type of an IP packet.
    pub(super) const IP: u8 = 2;

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [first, timestamp, third] = words(bytes)?;
        (first >> 28 == Self::VERSION).then(|| Self {
            vlan: half(first >> 16 & 0xfff),
            cos: (first >> 13 & 0b111) as u8,
            truncated: first >> 10 & 1 == 1,
            session_id: half(first & 0x3ff),
            timestamp,
            frame_type: (third >> 10 & 0x1f) as u8,
            hardware_id: (third >> 4 & 0x3f) as u8,
            egress: third >> 3 & 1 == 1,
            granularity: (third >> 1 & 0b11) as u8,
            has_platform_header: third & 1 == 1,
        })
    }
}

/// The first `N` words of `bytes`.
fn words<const N: usize>(bytes: &[u8]) -> Option<[u32; N]> {
    let mut words = [0; N];
    for (number, word) in words.iter_mut().enumerate() {
        *word = u32::from_be_bytes(*bytes.get(4 * number..)?.first_chunk()?);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_fields_of_gre_are_there_if_their_flags_are() {
        let plain = [0, 0, 0x65, 0x58, 9];
        let (gre, len) = Gre::parse(&plain).unwrap();
        assert_eq!((gre.protocol, gre.key, gre.sequence, len), (Gre::ETHERNET, None, None, 4));
        let all = [0xb0, 0, 8, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9];
        let (gre, len) = Gre::parse(&all).unwrap();
        assert_eq!((gre.checksum, gre.key, gre.sequence), (Some(0x1234), Some(7), Some(9)));
        assert_eq!((gre.ip(), len), (Some(EtherType::IPV4), 16));
        assert_eq!(Gre::parse(&all[..15]), None);
        assert_eq!(Gre::parse(&[0x40, 0, 8, 0]), None, "source routes");
        assert_eq!(Gre::parse(&[0, 1, 8, 0]), None, "version 1 is of PPTP");
    }

    #[test]
    fn fields_of_erspan_are_at_their_places() {
        let second = ErspanII::parse(&[0x10, 0x64, 0x64, 0x2a, 0x00, 0x01, 0x02, 0x03]).unwrap();
        let expected =
            ErspanII { vlan: 100, cos: 3, truncated: true, session_id: 42, index: 0x1_0203 };
        assert_eq!(second, expected);
        let third = [0x20, 0x05, 0, 7, 0, 0, 0, 9, 0, 0, 0x0b, 0xbd];
        let third = ErspanIII::parse(&third).unwrap();
        assert_eq!((third.vlan, third.session_id, third.timestamp), (5, 7, 9));
        assert_eq!((third.frame_type, third.hardware_id, third.granularity), (2, 0x3b, 2));
        assert!(third.egress && third.has_platform_header);
        assert_eq!(ErspanII::parse(&[0x20; 12]), None, "another version");
    }
}

//! The two file formats, and the classic one's network field.

use std::path::Path;

/// LINKTYPE_ETHERNET of the tcpdump.org link-layer type registry.
pub(crate) const ETHERNET: u16 = 1;

/// Bytes of an Ethernet frame check sequence.
pub(crate) const FCS_LENGTH: u8 = 4;

/// Bit of the network field that says that its FCS length is valid.
const FCS_LENGTH_PRESENT: u32 = 0x0400_0000;
const FCS_LENGTH_SHIFT: u32 = 28;

/// A capture file's format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// pcapng: several interfaces with names and speeds, and each frame's direction.
    #[default]
    PcapNg,
    /// Classic pcap with nanosecond time stamps: one interface, no names, no directions.
    Pcap,
}

impl Format {
    /// The format for a file name: `.pcap` is classic pcap, everything else is pcapng.
    pub fn from_path(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension == "pcap" => Self::Pcap,
            _ => Self::PcapNg,
        }
    }

    /// The usual file name extension of the format, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::PcapNg => "pcapng",
            Self::Pcap => "pcap",
        }
    }
}

/// The network field of a classic pcap header: the link type in the low 16 bits, and in bits 31 to
/// 28 the FCS length in 16-bit words, valid if bit 26 is set. Wireshark supports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NetworkField {
    pub(crate) link_type: u16,
    /// FCS length in bytes; zero if frames have none.
    pub(crate) fcs_length: u8,
}

impl NetworkField {
    pub(crate) fn to_bits(self) -> u32 {
        let fcs = match self.fcs_length {
            0 => 0,
            bytes => FCS_LENGTH_PRESENT | (u32::from(bytes / 2) << FCS_LENGTH_SHIFT),
        };
        u32::from(self.link_type) | fcs
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low 16 bits are the link type")]
    pub(crate) fn from_bits(bits: u32) -> Self {
        let fcs_length = match bits & FCS_LENGTH_PRESENT {
            0 => 0,
            _ => (bits >> FCS_LENGTH_SHIFT) as u8 * 2,
        };
        Self { link_type: bits as u16, fcs_length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_field_declares_the_fcs_in_16_bit_words() {
        let with_fcs = NetworkField { link_type: ETHERNET, fcs_length: FCS_LENGTH };
        assert_eq!(with_fcs.to_bits(), 0x2400_0001);
        assert_eq!(NetworkField::from_bits(0x2400_0001), with_fcs);

        let without = NetworkField { link_type: ETHERNET, fcs_length: 0 };
        assert_eq!(without.to_bits(), 1);
        assert_eq!(NetworkField::from_bits(1), without);
    }

    #[test]
    fn fcs_bits_count_only_when_marked_valid() {
        assert_eq!(NetworkField::from_bits(0x2000_0001).fcs_length, 0);
    }

    #[test]
    fn extension_chooses_the_format() {
        assert_eq!(Format::from_path(Path::new("a/host-0.pcap")), Format::Pcap);
        assert_eq!(Format::from_path(Path::new("a/host-0.pcapng")), Format::PcapNg);
        assert_eq!(Format::from_path(Path::new("capture")), Format::PcapNg);
    }
}

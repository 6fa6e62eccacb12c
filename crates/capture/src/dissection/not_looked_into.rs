//! Why a frame that may carry RoCE was not looked into.

use std::fmt;

use pcap_file::DataLink;
use rocelab_wire::{EtherType, Ipv4, Ipv6, PROTOCOL_UDP};

use super::outer::{DEEPEST, Gre, OuterHeader, OuterLayer, PROTOCOL_GRE, Vxlan};

/// Why a frame was not looked into, although it may have a RoCE packet in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NotLookedInto {
    /// The link type is not read here: its number in tcpdump.org's registry.
    LinkType(u16),
    /// It is a fragment of an IP packet.
    Fragment,
    /// IPv4 with options.
    Ipv4Options,
    /// IPv6 with extension headers.
    Ipv6ExtensionHeaders,
    /// More than two 802.1Q tags.
    Tags,
    /// More tunnels in each other than are looked into.
    TunnelDepth,
    /// VXLAN whose header is incomplete, or has no valid VNI.
    Vxlan,
    /// GRE of another version, with source routes, or with another content.
    Gre,
}

/// IPv6 next headers that are extension headers: hop-by-hop options, routing, authentication, destination options, mobility.
const EXTENSION_HEADERS: [u8; 5] = [0, 43, 51, 60, 135];
/// The IPv6 next header of a fragment.
const FRAGMENT_HEADER: u8 = 44;

impl NotLookedInto {
    /// The name for programs, such as `fragment`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::LinkType(number) => return format!("link_type_{number}"),
            Self::Fragment => "fragment",
            Self::Ipv4Options => "ipv4_options",
            Self::Ipv6ExtensionHeaders => "ipv6_extension_headers",
            Self::Tags => "tags",
            Self::TunnelDepth => "tunnel_depth",
            Self::Vxlan => "vxlan",
            Self::Gre => "gre",
        }
        .to_owned()
    }

    /// In words that follow a number of frames: `of link type 147 (USER0)`, `with IP fragmentation`.
    #[must_use]
    pub fn phrase(self) -> String {
        match self {
            Self::LinkType(_) => format!("of {self}"),
            _ => format!("with {self}"),
        }
    }

    /// The reason for a packet of a protocol that was not recognised: what follows its EtherType, and what is around it.
    pub(super) fn of_packet(
        ether_type: EtherType,
        bytes: &[u8],
        outer: &[OuterLayer],
    ) -> Option<Self> {
        match ether_type {
            EtherType::IPV4 => Self::of_ipv4(bytes, outer),
            EtherType::IPV6 => Self::of_ipv6(bytes, outer),
            tag if tag.is_vlan() => Some(Self::Tags),
            _ => None,
        }
    }

    fn of_ipv4(bytes: &[u8], outer: &[OuterLayer]) -> Option<Self> {
        let header = bytes.first_chunk::<{ Ipv4::LEN }>()?;
        let may_be_roce = matches!(header[9], PROTOCOL_UDP | PROTOCOL_GRE);
        let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
        match header[0] {
            0x45..=0x4f if may_be_roce && fragment != 0 => Some(Self::Fragment),
            0x46..=0x4f if may_be_roce => Some(Self::Ipv4Options),
            0x45 => Self::of_tunnel(header[9], &bytes[Ipv4::LEN..], outer),
            _ => None,
        }
    }

    fn of_ipv6(bytes: &[u8], outer: &[OuterLayer]) -> Option<Self> {
        let header = bytes.first_chunk::<{ Ipv6::LEN }>()?;
        match header[6] {
            _ if header[0] >> 4 != 6 => None,
            FRAGMENT_HEADER => Some(Self::Fragment),
            next if EXTENSION_HEADERS.contains(&next) => Some(Self::Ipv6ExtensionHeaders),
            next => Self::of_tunnel(next, &bytes[Ipv6::LEN..], outer),
        }
    }

    /// The reason for a tunnel: one that could be looked into was.
    fn of_tunnel(protocol: u8, bytes: &[u8], outer: &[OuterLayer]) -> Option<Self> {
        let is_tunnel = |layer: &&OuterLayer| {
            matches!(layer.header, OuterHeader::Vxlan(_) | OuterHeader::Gre(_))
        };
        let reason = match protocol {
            PROTOCOL_UDP if bytes.get(2..4) == Some(&Vxlan::PORT.to_be_bytes()) => Self::Vxlan,
            PROTOCOL_GRE => Self::Gre,
            _ => return None,
        };
        let is_whole = match reason {
            Self::Gre => Gre::parse(bytes).is_some_and(|(gre, _)| gre.has_frame()),
            _ => true,
        };
        let is_deepest = outer.iter().filter(is_tunnel).count() >= DEEPEST;
        Some(if is_deepest && is_whole { Self::TunnelDepth } else { reason })
    }
}

/// In words, whatever the number of frames: `IP fragmentation`.
impl fmt::Display for NotLookedInto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LinkType(number) => return link_type_named(*number).fmt(f),
            Self::Fragment => "IP fragmentation",
            Self::Ipv4Options => "IPv4 options",
            Self::Ipv6ExtensionHeaders => "IPv6 extension headers",
            Self::Tags => "more than two 802.1Q tags",
            Self::TunnelDepth => "more than four nested tunnels",
            Self::Vxlan => "VXLAN without a valid VNI",
            Self::Gre => "GRE of another version or with another content",
        })
    }
}

/// A link type with its name, if it has one: `link type 147 (USER0)`.
pub(crate) fn link_type_named(number: u16) -> String {
    match DataLink::from(u32::from(number)) {
        DataLink::Unknown(_) => format!("link type {number}"),
        named => format!("link type {number} ({named:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(version_and_ihl: u8, fragment: u8, protocol: u8) -> [u8; 24] {
        let mut bytes = [0; 24];
        (bytes[0], bytes[6], bytes[9]) = (version_and_ihl, fragment, protocol);
        bytes
    }

    #[test]
    fn only_what_may_carry_roce_has_a_reason() {
        let of = |bytes: &[u8]| NotLookedInto::of_packet(EtherType::IPV4, bytes, &[]);
        assert_eq!(of(&ipv4(0x45, 0x20, 17)), Some(NotLookedInto::Fragment));
        assert_eq!(of(&ipv4(0x46, 0x40, 17)), Some(NotLookedInto::Ipv4Options));
        assert_eq!(of(&ipv4(0x45, 0, 47)), Some(NotLookedInto::Gre));
        // TCP, and UDP to any other port.
        assert_eq!(of(&ipv4(0x45, 0x20, 6)), None);
        assert_eq!(of(&ipv4(0x45, 0x40, 17)), None);
        assert_eq!(of(&[]), None);
        let mut ipv6 = [0; 44];
        ipv6[0] = 0x60;
        let of = |bytes: &[u8]| NotLookedInto::of_packet(EtherType::IPV6, bytes, &[]);
        assert_eq!(of(&ipv6), Some(NotLookedInto::Ipv6ExtensionHeaders));
        ipv6[6] = FRAGMENT_HEADER;
        assert_eq!(of(&ipv6), Some(NotLookedInto::Fragment));
        ipv6[6] = 58;
        assert_eq!(of(&ipv6), None);
    }

    #[test]
    fn link_types_have_their_names() {
        assert_eq!(NotLookedInto::LinkType(147).to_string(), "link type 147 (USER0)");
        assert_eq!(NotLookedInto::LinkType(147).name(), "link_type_147");
        assert_eq!(NotLookedInto::LinkType(147).phrase(), "of link type 147 (USER0)");
        assert_eq!(NotLookedInto::Fragment.phrase(), "with IP fragmentation");
        assert_eq!(link_type_named(0xfff0), "link type 65520");
    }
}

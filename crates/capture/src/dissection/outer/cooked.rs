//! The pseudo-headers of Linux cooked captures.

use rocelab_wire::EtherType;
use serde::Serialize;

/// ARPHRD_ETHER: the interface is of Ethernet.
#[cfg(test)]
const ARPHRD_ETHER: u16 = 1;
/// ARPHRD_NETLINK, whose protocol field is no EtherType.
const ARPHRD_NETLINK: u16 = 824;
/// ARPHRD_IEEE80211_RADIOTAP, too.
const ARPHRD_IEEE80211_RADIOTAP: u16 = 803;

/// LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2 of tcpdump.org's registry: in place of the header of the link, what Linux knows
/// of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinuxCooked {
    /// Version: 1 (SLL) or 2 (SLL2).
    pub version: u8,
    /// The kind of packet: 0 to this host, 1 broadcast, 2 multicast, 3 between others, 4 from this host.
    pub packet_type: u16,
    /// Number of the interface; only version 2 has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface_index: Option<u32>,
    /// ARPHRD number of the kind of interface: 1 is Ethernet.
    pub arphrd_type: u16,
    /// EtherType of what follows.
    pub protocol: u16,
}

impl LinuxCooked {
    /// Length of version 1, in bytes.
    pub const LEN: usize = 16;
    /// Length of version 2, in bytes.
    pub const LEN_2: usize = 20;

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<{ Self::LEN }>()?;
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        Some(Self {
            version: 1,
            packet_type: word(0),
            interface_index: None,
            arphrd_type: word(2),
            protocol: word(14),
        })
    }

    pub(super) fn parse_2(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<{ Self::LEN_2 }>()?;
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let [.., a, b, c, d] = *bytes.first_chunk::<8>()?;
        Some(Self {
            version: 2,
            packet_type: bytes[10].into(),
            interface_index: Some(u32::from_be_bytes([a, b, c, d])),
            arphrd_type: word(8),
            protocol: word(0),
        })
    }

    /// What follows, if its protocol is an EtherType.
    pub(super) fn ether_type(&self) -> Option<EtherType> {
        let is_other = matches!(self.arphrd_type, ARPHRD_NETLINK | ARPHRD_IEEE80211_RADIOTAP);
        (!is_other && self.protocol >= 0x600).then_some(EtherType(self.protocol))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_at_their_places_in_both_versions() {
        let first = [0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
        let parsed = LinuxCooked::parse(&first).unwrap();
        assert_eq!((parsed.packet_type, parsed.arphrd_type), (4, ARPHRD_ETHER));
        assert_eq!(parsed.ether_type(), Some(EtherType::IPV4));
        assert_eq!(LinuxCooked::parse(&first[..15]), None);

        let second = [0x86, 0xdd, 0, 0, 0, 0, 1, 2, 0, 1, 3, 6, 2, 0, 0, 0, 0, 1, 0, 0];
        let parsed = LinuxCooked::parse_2(&second).unwrap();
        assert_eq!((parsed.packet_type, parsed.interface_index), (3, Some(258)));
        assert_eq!(parsed.ether_type(), Some(EtherType::IPV6));
        let netlink = LinuxCooked { arphrd_type: ARPHRD_NETLINK, ..parsed };
        assert_eq!(netlink.ether_type(), None);
    }
}

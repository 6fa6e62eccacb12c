//! The protocols of frames.

use std::fmt;

use rocelab_wire::{Body, EtherType, Frame, Network, PROTOCOL_UDP, ROCE_V2_PORT};

/// The protocol of a frame. The names are those of `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// RoCE v1.
    RoceV1,
    /// RoCE v2 over IPv4.
    RoceV2Ipv4,
    /// RoCE v2 over IPv6.
    RoceV2Ipv6,
    /// Native InfiniBand, from a capture of link type 247 or of ERF records.
    InfiniBand,
    /// A link packet of native InfiniBand, which carries credits.
    InfiniBandLink,
    /// Priority-based flow control (802.1Qbb).
    Pfc,
    /// PAUSE (802.3x).
    Pause,
    /// A congestion notification message (802.1Qau).
    Qcn,
    /// Something else.
    Other,
}

/// EtherType of 802.1Qau's congestion notification messages.
const ETHER_TYPE_CNM: EtherType = EtherType(0x22e7);
/// EtherType of 802.1Qau's CN-TAG.
const ETHER_TYPE_CN_TAG: EtherType = EtherType(0x22e9);

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::RoceV1,
        Self::RoceV2Ipv4,
        Self::RoceV2Ipv6,
        Self::InfiniBand,
        Self::InfiniBandLink,
        Self::Pfc,
        Self::Pause,
        Self::Qcn,
        Self::Other,
    ];

    /// The name, such as `roce_v2_ipv4`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoceV1 => "roce_v1",
            Self::RoceV2Ipv4 => "roce_v2_ipv4",
            Self::RoceV2Ipv6 => "roce_v2_ipv6",
            Self::InfiniBand => "infiniband",
            Self::InfiniBandLink => "infiniband_link",
            Self::Pfc => "pfc",
            Self::Pause => "pause",
            Self::Qcn => "qcn",
            Self::Other => "other",
        }
    }

    /// Whether its frames contain packets of the InfiniBand transport.
    #[must_use]
    pub const fn has_transport(self) -> bool {
        matches!(self, Self::RoceV1 | Self::RoceV2Ipv4 | Self::RoceV2Ipv6 | Self::InfiniBand)
    }

    pub(super) fn of_frame(frame: &Frame<'_>) -> Self {
        match &frame.body {
            Body::Roce(roce) => match roce.network {
                Network::V1 { .. } => Self::RoceV1,
                Network::V2Ipv4 { .. } => Self::RoceV2Ipv4,
                Network::V2Ipv6 { .. } => Self::RoceV2Ipv6,
            },
            Body::Pfc(_) => Self::Pfc,
            Body::Pause(_) => Self::Pause,
            _ if frame.ethernet.ether_type == ETHER_TYPE_CNM => Self::Qcn,
            _ => Self::Other,
        }
    }

    /// The protocol, from the beginning of a frame that cannot be parsed.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let mut rest = bytes.get(12..).unwrap_or_default();
        loop {
            let Some((ether_type, after)) = rest.split_first_chunk() else { return Self::Other };
            match EtherType(u16::from_be_bytes(*ether_type)) {
                tag if tag.is_vlan() || tag == ETHER_TYPE_CN_TAG => {
                    rest = after.get(2..).unwrap_or_default();
                }
                EtherType::ROCE_V1 => return Self::RoceV1,
                EtherType::IPV4 if is_roce_v2(after, 9, 20) => return Self::RoceV2Ipv4,
                EtherType::IPV6 if is_roce_v2(after, 6, 40) => return Self::RoceV2Ipv6,
                EtherType::MAC_CONTROL => return Self::of_mac_control(after),
                ETHER_TYPE_CNM => return Self::Qcn,
                _ => return Self::Other,
            }
        }
    }

    fn of_mac_control(body: &[u8]) -> Self {
        match body {
            [0x01, 0x01, ..] => Self::Pfc,
            [0x00, 0x01, ..] => Self::Pause,
            _ => Self::Other,
        }
    }
}

/// Whether an IP packet without options contains UDP to the port of RoCE v2. `protocol` is the
/// position of the header's protocol field, `len` the length of the header.
fn is_roce_v2(packet: &[u8], protocol: usize, len: usize) -> bool {
    let version_and_ihl = packet.first().copied();
    let no_options = len != 20 || version_and_ihl == Some(0x45);
    let port = packet.get(len + 2..len + 4).map(|port| u16::from_be_bytes([port[0], port[1]]));
    no_options && packet.get(protocol) == Some(&PROTOCOL_UDP) && port == Some(ROCE_V2_PORT)
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_frame_tells_what_it_is() {
        let tagged = [[0; 12].as_slice(), &[0x81, 0, 0, 5, 0x89, 0x15]].concat();
        assert_eq!(Protocol::of_bytes(&tagged), Protocol::RoceV1);
        assert_eq!(Protocol::of_bytes(&tagged[..17]), Protocol::Other);
        let pause = [[0; 12].as_slice(), &[0x88, 0x08, 0, 1]].concat();
        assert_eq!(Protocol::of_bytes(&pause), Protocol::Pause);
        let mut udp = vec![0; 60];
        (udp[12], udp[14], udp[23]) = (0x08, 0x45, 17);
        assert_eq!(Protocol::of_bytes(&udp), Protocol::Other);
        udp[36..38].copy_from_slice(&4791_u16.to_be_bytes());
        assert_eq!(Protocol::of_bytes(&udp), Protocol::RoceV2Ipv4);
    }
}

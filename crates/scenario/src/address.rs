//! The addresses of hosts and switch ports.
//!
//! They follow from the node's number alone, so that equal scenarios give equal frames:
//!
//! | what | address |
//! |---|---|
//! | MAC of host n | `02:00:00` and n in 24 bits |
//! | MAC of port p of switch n | `06`, p in 16 bits, n in 24 bits |
//! | GID of host n, v1 | `fe80::/64` with the modified EUI-64 of its MAC, or its IPv4 address mapped |
//! | IPv4 of host n, v2 | `10.0.0.1` + n |
//! | IPv6 of host n, v2 | `fd00::1` + n |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rocelab_fabric::{FiveTuple, LayerTwoFlow, NodeId};
use rocelab_wire::{Encapsulation, Gid, MacAddress, PROTOCOL_TCP, PROTOCOL_UDP, ROCE_V2_PORT};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The IP version under RoCE v2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IpVersion {
    /// 20 bytes of IPv4.
    #[default]
    Ipv4,
    /// 40 bytes of IPv6.
    Ipv6,
}

/// What a RoCE v1 host's GID is made of. The peer's MAC address is never asked for by ARP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GidKind {
    /// `fe80::/64` and the modified EUI-64 of the MAC, from which the peer's MAC follows.
    #[default]
    #[serde(rename = "eui-64")]
    Eui64,
    /// `::ffff:a.b.c.d`; the peer's MAC comes with the exchange at connection set-up.
    #[serde(rename = "ipv4-mapped")]
    Ipv4Mapped,
}

/// MAC address of a host's NIC.
pub fn host_mac(host: NodeId) -> MacAddress {
    let [_, a, b, c] = host.to_be_bytes();
    MacAddress([0x02, 0, 0, a, b, c])
}

/// MAC address of a switch's port.
pub fn switch_port_mac(switch: NodeId, port: u16) -> MacAddress {
    let [_, a, b, c] = switch.to_be_bytes();
    let [high, low] = port.to_be_bytes();
    MacAddress([0x06, high, low, a, b, c])
}

/// The GID that a host is known by; for v2 its IP address, whatever `kind` says.
pub fn host_gid(encapsulation: Encapsulation, kind: GidKind, host: NodeId) -> Gid {
    match encapsulation {
        Encapsulation::V1 if kind == GidKind::Eui64 => Gid::from_mac(host_mac(host)),
        Encapsulation::V1 | Encapsulation::V2Ipv4 => Gid::from(ipv4(host)),
        Encapsulation::V2Ipv6 => Gid(ipv6(host).octets()),
    }
}

/// The UDP source port (v2) or flow label (v1) so many after `first`, of those that RoCE has.
pub fn path_entropy(encapsulation: Encapsulation, first: u32, place: u32) -> u32 {
    /// Flow labels have 20 bits, and 0 means that there is none.
    const LABELS: u32 = (1 << 20) - 1;
    /// The ports of RoCE v2 are the upper quarter.
    const FIRST_PORT: u32 = 0xc000;
    const PORTS: u32 = 0x4000;
    match encapsulation {
        _ if place == 0 => first,
        Encapsulation::V1 => 1 + (first.saturating_sub(1) + place) % LABELS,
        Encapsulation::V2Ipv4 | Encapsulation::V2Ipv6 => FIRST_PORT | ((first + place) % PORTS),
    }
}

/// What equal-cost multipath goes by: the five-tuple of v2, or MACs and flow label of v1.
pub fn flow_hash(
    encapsulation: Encapsulation,
    source: NodeId,
    destination: NodeId,
    entropy: u32,
) -> u32 {
    let five_tuple = |source, destination| FiveTuple {
        source,
        destination,
        source_port: u16::try_from(entropy & 0xffff).unwrap_or_default(),
        destination_port: ROCE_V2_PORT,
        protocol: PROTOCOL_UDP,
    };
    match encapsulation {
        Encapsulation::V1 => LayerTwoFlow {
            source: host_mac(source).0,
            destination: host_mac(destination).0,
            flow_label: entropy,
        }
        .flow_hash(),
        Encapsulation::V2Ipv4 => {
            five_tuple(IpAddr::V4(ipv4(source)), IpAddr::V4(ipv4(destination))).flow_hash()
        }
        Encapsulation::V2Ipv6 => {
            five_tuple(IpAddr::V6(ipv6(source)), IpAddr::V6(ipv6(destination))).flow_hash()
        }
    }
}

/// The IP address of a host, which its TCP has whatever the version of RoCE.
pub fn host_ip(version: IpVersion, host: NodeId) -> IpAddr {
    match version {
        IpVersion::Ipv4 => IpAddr::V4(ipv4(host)),
        IpVersion::Ipv6 => IpAddr::V6(ipv6(host)),
    }
}

/// What equal-cost multipath goes by for a TCP segment from one address and port to another.
pub fn segment_hash(source: (IpAddr, u16), destination: (IpAddr, u16)) -> u32 {
    five_tuple_hash(PROTOCOL_TCP, source, destination)
}

/// What equal-cost multipath goes by for a packet of an IP protocol from one address and port to another.
pub fn five_tuple_hash(protocol: u8, source: (IpAddr, u16), destination: (IpAddr, u16)) -> u32 {
    FiveTuple {
        source: source.0,
        destination: destination.0,
        source_port: source.1,
        destination_port: destination.1,
        protocol,
    }
    .flow_hash()
}

fn ipv4(host: NodeId) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0001 + host)
}

fn ipv6(host: NodeId) -> Ipv6Addr {
    Ipv6Addr::from((0xfd00_u128 << 112) + 1 + u128::from(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_from_the_number() {
        assert_eq!(host_mac(0x01_02_03).to_string(), "02:00:00:01:02:03");
        assert_eq!(switch_port_mac(7, 0x0102).to_string(), "06:01:02:00:00:07");
        assert_eq!(ipv4(255).to_string(), "10.0.1.0");
        assert_eq!(ipv6(9).to_string(), "fd00::a");
        assert_eq!(host_gid(Encapsulation::V1, GidKind::Eui64, 5).to_mac(), Some(host_mac(5)));
        let mapped = host_gid(Encapsulation::V1, GidKind::Ipv4Mapped, 5);
        assert_eq!(mapped.to_ipv4(), Some(ipv4(5)));
    }
}

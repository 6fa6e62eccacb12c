//! The addresses of hosts and switch ports.
//!
//! If a scenario gives none, they follow from the node's number alone:
//!
//! | what | address |
//! |---|---|
//! | MAC of host n | `02:00:00` and n in 24 bits |
//! | MAC of port p of switch n | `06`, p in 16 bits, n in 24 bits |
//! | GID of host n, v1 | `fe80::/64` with the modified EUI-64 of its MAC, its IPv4 address mapped, or its IPv6 address |
//! | IPv4 of host n, v2 | `10.0.0.1` + n |
//! | IPv6 of host n, v2 | `fd00::1` + n |

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rocelab_fabric::{FiveTuple, LayerTwoFlow, NodeId};
use rocelab_wire::{Encapsulation, Gid, MacAddress, PROTOCOL_TCP, PROTOCOL_UDP, ROCE_V2_PORT};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RoceVersion;

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
    /// The IPv6 address; the peer's MAC comes with the exchange at connection set-up.
    #[serde(rename = "ipv6")]
    Ipv6,
}

/// The addresses of all hosts: what a scenario gives, and else what follows from their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    given: BTreeMap<NodeId, HostAddresses>,
}

/// What a scenario gives of a host's addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostAddresses {
    /// Of its NIC.
    pub mac: Option<MacAddress>,
    /// Its IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// Its IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
    /// The GID that its peers use for it in place of its own.
    pub stale_gid: Option<Gid>,
}

/// An entry of a host's GID table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GidEntry {
    /// Its place in the table.
    pub index: u8,
    /// The identifier.
    pub gid: Gid,
    /// Of which version of RoCE the frames of queue pairs are that use it.
    pub version: RoceVersion,
}

impl Addresses {
    /// The default addresses, but for what is given.
    pub fn new(given: BTreeMap<NodeId, HostAddresses>) -> Self {
        Self { given }
    }

    /// What is given of a host.
    pub fn given(&self, host: NodeId) -> HostAddresses {
        self.given.get(&host).copied().unwrap_or_default()
    }

    /// The hosts of which anything is given, with that.
    pub fn all_given(&self) -> impl Iterator<Item = (NodeId, &HostAddresses)> {
        self.given.iter().map(|(&host, given)| (host, given))
    }

    /// MAC address of a host's NIC.
    pub fn mac(&self, host: NodeId) -> MacAddress {
        self.given(host).mac.unwrap_or_else(|| host_mac(host))
    }

    /// The IPv4 address of a host.
    pub fn ipv4(&self, host: NodeId) -> Ipv4Addr {
        self.given(host).ipv4.unwrap_or_else(|| ipv4(host))
    }

    /// The IPv6 address of a host.
    pub fn ipv6(&self, host: NodeId) -> Ipv6Addr {
        self.given(host).ipv6.unwrap_or_else(|| ipv6(host))
    }

    /// The IP address of a host, which its TCP has whatever the version of RoCE.
    pub fn ip(&self, version: IpVersion, host: NodeId) -> IpAddr {
        match version {
            IpVersion::Ipv4 => IpAddr::V4(self.ipv4(host)),
            IpVersion::Ipv6 => IpAddr::V6(self.ipv6(host)),
        }
    }

    /// The GID that a host sends from; for v2 its IP address, whatever `kind` says.
    pub fn gid(&self, encapsulation: Encapsulation, kind: GidKind, host: NodeId) -> Gid {
        match (encapsulation, kind) {
            (Encapsulation::V1, GidKind::Eui64) => Gid::from_mac(self.mac(host)),
            (Encapsulation::V1, GidKind::Ipv4Mapped) | (Encapsulation::V2Ipv4, _) => {
                Gid::from(self.ipv4(host))
            }
            (Encapsulation::V1, GidKind::Ipv6) | (Encapsulation::V2Ipv6, _) => {
                Gid::from(self.ipv6(host))
            }
        }
    }

    /// The GID that others send to: its own, or what they take for that.
    pub fn gid_at_peers(&self, encapsulation: Encapsulation, kind: GidKind, host: NodeId) -> Gid {
        self.given(host).stale_gid.unwrap_or_else(|| self.gid(encapsulation, kind, host))
    }

    /// The GID table of a host, in the order in which Linux fills it: of its MAC address, of its IPv4 address, of its IPv6
    /// address, each for both versions of RoCE.
    pub fn gid_table(&self, host: NodeId) -> [GidEntry; 6] {
        let gids =
            [Gid::from_mac(self.mac(host)), Gid::from(self.ipv4(host)), Gid::from(self.ipv6(host))];
        let entry = |index: u8| GidEntry {
            index,
            gid: gids[usize::from(index / 2)],
            version: if index.is_multiple_of(2) { RoceVersion::V1 } else { RoceVersion::V2 },
        };
        [0, 1, 2, 3, 4, 5].map(entry)
    }

    /// What equal-cost multipath goes by: the five-tuple of v2, or MACs and flow label of v1.
    pub fn flow_hash(
        &self,
        encapsulation: Encapsulation,
        source: NodeId,
        destination: NodeId,
        entropy: u32,
    ) -> u32 {
        let of = |version| FiveTuple {
            source: self.ip(version, source),
            destination: self.ip(version, destination),
            source_port: u16::try_from(entropy & 0xffff).unwrap_or_default(),
            destination_port: ROCE_V2_PORT,
            protocol: PROTOCOL_UDP,
        };
        match encapsulation {
            Encapsulation::V1 => LayerTwoFlow {
                source: self.mac(source).0,
                destination: self.mac(destination).0,
                flow_label: entropy,
            }
            .flow_hash(),
            Encapsulation::V2Ipv4 => of(IpVersion::Ipv4).flow_hash(),
            Encapsulation::V2Ipv6 => of(IpVersion::Ipv6).flow_hash(),
        }
    }
}

/// The index of the GID, in the [table](Addresses::gid_table), that queue pairs use.
pub const fn gid_index(encapsulation: Encapsulation, kind: GidKind) -> u8 {
    match (encapsulation, kind) {
        (Encapsulation::V1, GidKind::Eui64) => 0,
        (Encapsulation::V1, GidKind::Ipv4Mapped) => 2,
        (Encapsulation::V1, GidKind::Ipv6) => 4,
        (Encapsulation::V2Ipv4, _) => 3,
        (Encapsulation::V2Ipv6, _) => 5,
    }
}

/// MAC address of a host's NIC, if none is given.
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
        let addresses = Addresses::default();
        let gid = |kind| addresses.gid(Encapsulation::V1, kind, 5);
        assert_eq!(gid(GidKind::Eui64).to_mac(), Some(host_mac(5)));
        assert_eq!(gid(GidKind::Ipv4Mapped).to_ipv4(), Some(ipv4(5)));
        assert_eq!(gid(GidKind::Ipv6).to_string(), "fd00::6");
    }

    /// As `show_gids` prints it of a NIC of Mellanox with both kinds of IP addresses.
    #[test]
    fn the_gid_table_has_both_versions_of_each_address() {
        let given = HostAddresses {
            mac: Some(MacAddress([0xb8, 0x59, 0x9f, 1, 2, 3])),
            ipv4: Some(Ipv4Addr::new(192, 168, 1, 5)),
            ..HostAddresses::default()
        };
        let addresses = Addresses::new([(9, given)].into());
        let table = addresses.gid_table(9).map(|entry| (entry.gid.to_string(), entry.version));
        let (v1, v2) = (RoceVersion::V1, RoceVersion::V2);
        let expected = [
            ("fe80::ba59:9fff:fe01:203", v1),
            ("fe80::ba59:9fff:fe01:203", v2),
            ("::ffff:192.168.1.5", v1),
            ("::ffff:192.168.1.5", v2),
            ("fd00::a", v1),
            ("fd00::a", v2),
        ];
        assert_eq!(table, expected.map(|(gid, version)| (gid.to_owned(), version)));
        for (encapsulation, kind) in [
            (Encapsulation::V1, GidKind::Eui64),
            (Encapsulation::V1, GidKind::Ipv4Mapped),
            (Encapsulation::V1, GidKind::Ipv6),
            (Encapsulation::V2Ipv4, GidKind::Eui64),
            (Encapsulation::V2Ipv6, GidKind::Eui64),
        ] {
            let used = addresses.gid_table(9)[usize::from(gid_index(encapsulation, kind))];
            assert_eq!(used.gid, addresses.gid(encapsulation, kind, 9));
            assert_eq!(used.version == v1, encapsulation == Encapsulation::V1);
        }
    }
}

//! Multicast groups: the queue pair number that means all members, and the addresses of frames for them.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::{Encapsulation, Gid, MacAddress, ipv6_group_mac};

/// The destination queue pair of a datagram for a multicast group (IBTA vol 1, section 10.5.2): the members are the queue
/// pairs that are attached to the group.
pub const MULTICAST_QPN: u32 = 0x00ff_ffff;

/// The MAC address of an IPv4 group (RFC 1112, section 6.4): `01:00:5e` and the last 23 bits.
#[must_use]
pub const fn ipv4_group_mac(group: Ipv4Addr) -> MacAddress {
    let [_, b, c, d] = group.octets();
    MacAddress([0x01, 0x00, 0x5e, b & 0x7f, c, d])
}

/// The MAC address of a group: of IPv4 if its GID is an IPv4 address, else of IPv6, also on RoCE v1.
#[must_use]
pub fn group_mac(group: Gid) -> MacAddress {
    match group.to_ipv4() {
        Some(group) => ipv4_group_mac(group),
        None => ipv6_group_mac(group.to_ipv6()),
    }
}

/// The GID of an IPv4 group (MGID), as Linux makes it: the address itself on RoCE v2, and `ff0e::ffff:a.b.c.d` on RoCE
/// v1, whose header has none but IPv6 addresses.
#[must_use]
pub fn ipv4_group_gid(encapsulation: Encapsulation, group: Ipv4Addr) -> Gid {
    if encapsulation != Encapsulation::V1 {
        return Gid::from(group);
    }
    let [a, b, c, d] = group.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Gid::from(Ipv6Addr::new(0xff0e, 0, 0, 0, 0, 0xffff, high, low))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 32 groups each: the highest 5 of the 28 bits of a group are in no MAC address.
    #[test]
    fn groups_of_ipv4_share_mac_addresses() {
        let mac = MacAddress([0x01, 0x00, 0x5e, 0x01, 0x01, 0x02]);
        for group in [Ipv4Addr::new(239, 1, 1, 2), Ipv4Addr::new(224, 129, 1, 2)] {
            assert_eq!(ipv4_group_mac(group), mac);
            assert_eq!(group_mac(ipv4_group_gid(Encapsulation::V2Ipv4, group)), mac);
        }
        assert!(mac.is_multicast());
    }

    #[test]
    fn groups_of_v1_have_addresses_of_ipv6() {
        let gid = ipv4_group_gid(Encapsulation::V1, Ipv4Addr::new(239, 1, 200, 3));
        assert_eq!(gid.to_ipv6().segments(), [0xff0e, 0, 0, 0, 0, 0xffff, 0xef01, 0xc803]);
        assert_eq!(group_mac(gid), MacAddress([0x33, 0x33, 0xef, 0x01, 0xc8, 0x03]));
    }
}

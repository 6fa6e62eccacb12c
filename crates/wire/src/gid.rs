//! Global identifiers: the addresses of the GRH, and of RoCE in general.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

use crate::MacAddress;

/// A 128-bit global identifier (GID). Its text form is that of an IPv6 address.
///
/// A RoCE port has a GID derived from its MAC address and one for every IP address: an IPv4
/// address is mapped (`::ffff:a.b.c.d`), an IPv6 address is its own GID (Linux
/// `drivers/infiniband/core/roce_gid_mgmt.c`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// The default GID of a port: `fe80::/64` and the modified EUI-64 of its MAC address.
    #[must_use]
    pub const fn from_mac(mac: MacAddress) -> Self {
        let [a, b, c, d, e, f] = mac.0;
        Self([0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 0x02, b, c, 0xff, 0xfe, d, e, f])
    }

    /// The GID of an IPv4 address: `::ffff:a.b.c.d`.
    #[must_use]
    pub const fn from_ipv4([a, b, c, d]: [u8; 4]) -> Self {
        Self([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d])
    }

    /// The MAC address inside a link-local GID made of an EUI-64.
    #[must_use]
    pub const fn to_mac(self) -> Option<MacAddress> {
        match self.0 {
            [0xfe, 0x80, 0, 0, 0, 0, 0, 0, a, b, c, 0xff, 0xfe, d, e, f] => {
                Some(MacAddress([a ^ 0x02, b, c, d, e, f]))
            }
            _ => None,
        }
    }

    /// The IPv4 address inside an IPv4-mapped GID.
    #[must_use]
    pub const fn to_ipv4(self) -> Option<Ipv4Addr> {
        Ipv6Addr::from_octets(self.0).to_ipv4_mapped()
    }

    /// The same 128 bits as an IPv6 address.
    #[must_use]
    pub const fn to_ipv6(self) -> Ipv6Addr {
        Ipv6Addr::from_octets(self.0)
    }
}

impl From<Ipv4Addr> for Gid {
    fn from(address: Ipv4Addr) -> Self {
        Self::from_ipv4(address.octets())
    }
}

impl From<Ipv6Addr> for Gid {
    fn from(address: Ipv6Addr) -> Self {
        Self(address.octets())
    }
}

impl From<MacAddress> for Gid {
    fn from(mac: MacAddress) -> Self {
        Self::from_mac(mac)
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_ipv6(), f)
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mac_becomes_modified_eui64() {
        let mac = MacAddress([0x52, 0x54, 0x00, 0x12, 0x34, 0x56]);
        let gid = Gid::from_mac(mac);
        assert_eq!(gid.to_string(), "fe80::5054:ff:fe12:3456");
        assert_eq!(gid.to_mac(), Some(mac));
        assert_eq!(gid.to_ipv4(), None);
    }

    #[test]
    fn ipv4_is_mapped() {
        let gid = Gid::from_ipv4([15, 0, 0, 2]);
        assert_eq!(gid.to_string(), "::ffff:15.0.0.2");
        assert_eq!(gid.to_ipv4(), Some(Ipv4Addr::new(15, 0, 0, 2)));
        assert_eq!(gid.to_mac(), None);
    }

    proptest! {
        #[test]
        fn addresses_come_back(mac: [u8; 6], v4: [u8; 4], v6: [u8; 16]) {
            prop_assert_eq!(Gid::from_mac(MacAddress(mac)).to_mac(), Some(MacAddress(mac)));
            prop_assert_eq!(Gid::from_ipv4(v4).to_ipv4(), Some(v4.into()));
            prop_assert_eq!(Gid::from(Ipv6Addr::from(v6)).to_ipv6().octets(), v6);
        }
    }
}

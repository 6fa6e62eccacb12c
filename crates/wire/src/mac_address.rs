//! 48-bit MAC addresses.

use core::fmt;

/// A 48-bit MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The address of all stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// The destination of MAC control frames (PAUSE and PFC), which never go farther than one link.
    pub const MAC_CONTROL: Self = Self([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

    /// Whether the address is of a group of stations.
    #[must_use]
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 0x01 != 0
    }
}

impl From<[u8; 6]> for MacAddress {
    fn from(octets: [u8; 6]) -> Self {
        Self(octets)
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_with_colons() {
        assert_eq!(MacAddress::MAC_CONTROL.to_string(), "01:80:c2:00:00:01");
        assert!(MacAddress::MAC_CONTROL.is_multicast());
        assert!(!MacAddress([0x02, 0, 0, 0, 0, 1]).is_multicast());
    }
}

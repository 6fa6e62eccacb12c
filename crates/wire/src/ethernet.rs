//! Ethernet II header.

use core::fmt;

use crate::MacAddress;
use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};

/// Shortest Ethernet frame, FCS included, in bytes.
pub const MIN_FRAME_LEN: usize = 64;

/// The protocol in an Ethernet frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: Self = Self(0x0800);
    /// ARP.
    pub const ARP: Self = Self(0x0806);
    /// 802.1Q customer tag.
    pub const VLAN: Self = Self(0x8100);
    /// 802.1Qau congestion notification message.
    pub const CNM: Self = Self(0x22e7);
    /// 802.1Qau congestion notification tag.
    pub const CN_TAG: Self = Self(0x22e9);
    /// IPv6.
    pub const IPV6: Self = Self(0x86dd);
    /// MAC control: PAUSE and PFC.
    pub const MAC_CONTROL: Self = Self(0x8808);
    /// 802.1Q service tag.
    pub const SERVICE_VLAN: Self = Self(0x88a8);
    /// RoCE v1.
    pub const ROCE_V1: Self = Self(0x8915);

    /// Whether the value introduces a [`VlanTag`](crate::VlanTag).
    #[must_use]
    pub const fn is_vlan(self) -> bool {
        matches!(self, Self::VLAN | Self::SERVICE_VLAN)
    }
}

impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

/// Ethernet II header, untagged.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                      destination address                      |
/// +-------------------------------+-------------------------------+
/// |     destination address       |        source address         |
/// +-------------------------------+-------------------------------+
/// |                        source address                         |
/// +-------------------------------+-------------------------------+
/// |           EtherType           |
/// +-------------------------------+
/// ```
///
/// Tags stand between source address and EtherType: [`Frame`](crate::Frame) takes them out, so
/// that its `ether_type` is the one after all tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ethernet {
    /// The receiver.
    pub destination: MacAddress,
    /// The sender.
    pub source: MacAddress,
    /// The protocol of the content.
    pub ether_type: EtherType,
}

impl Ethernet {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 14;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Ethernet)?;
        Ok(Self {
            destination: MacAddress(get::<0, _, _>(header)),
            source: MacAddress(get::<6, _, _>(header)),
            ether_type: EtherType(u16::from_be_bytes(get::<12, _, _>(header))),
        })
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, self.destination.0);
        put::<6, _, _>(&mut header, self.source.0);
        put::<12, _, _>(&mut header, self.ether_type.0.to_be_bytes());
        header
    }
}

impl fmt::Display for Ethernet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}, type {}", self.source, self.destination, self.ether_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Ethernet,
        bytes: [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x89, 0x15],
        value: Ethernet {
            destination: MacAddress([2, 0, 0, 0, 0, 1]),
            source: MacAddress([2, 0, 0, 0, 0, 2]),
            ether_type: EtherType::ROCE_V1,
        },
        display: "02:00:00:00:00:02 > 02:00:00:00:00:01, type 0x8915",
    }
}

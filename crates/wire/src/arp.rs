//! ARP for IPv4 over Ethernet.

use core::fmt;
use core::net::Ipv4Addr;

use crate::MacAddress;
use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// What an ARP packet is: the values of its operation field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ArpOperation(pub u16);

impl ArpOperation {
    /// Who has this address?
    pub const REQUEST: Self = Self(1);
    /// Here it is.
    pub const REPLY: Self = Self(2);
}

/// An ARP packet (RFC 826) that asks for, or tells, the MAC address of an IPv4 address.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |       hardware type 1         |     protocol type 0x0800      |
/// +---------------+---------------+-------------------------------+
/// |   length 6    |   length 4    |           operation           |
/// +---------------+---------------+-------------------------------+
/// |                      sender MAC address                       |
/// +-------------------------------+-------------------------------+
/// |      sender MAC address       |      sender IPv4 address      |
/// +-------------------------------+-------------------------------+
/// |      sender IPv4 address      |      target MAC address       |
/// +-------------------------------+-------------------------------+
/// |                      target MAC address                       |
/// +---------------------------------------------------------------+
/// |                      target IPv4 address                      |
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arp {
    /// Request or reply.
    pub operation: ArpOperation,
    /// MAC address of who sends it.
    pub sender_mac: MacAddress,
    /// IPv4 address of who sends it.
    pub sender: Ipv4Addr,
    /// MAC address of the target; zeros in a request.
    pub target_mac: MacAddress,
    /// IPv4 address of the target.
    pub target: Ipv4Addr,
}

impl Arp {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 28;

    /// Hardware type, protocol type, and the lengths of addresses.
    const TYPES: [u8; 6] = [0, 1, 0x08, 0x00, 6, 4];

    /// Reads the packet at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes, [`ParseError::Field`] if it is not of IPv4
    /// over Ethernet.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let bytes: &[u8; Self::LEN] = prefix(bytes, Layer::Arp)?;
        let [h0, h1, p0, p1, hl, pl, o0, o1, rest @ ..] = *bytes;
        if [h0, h1, p0, p1, hl, pl] != Self::TYPES {
            let value = u32::from_be_bytes([h0, h1, p0, p1]);
            let field = "hardware and protocol type";
            return Err(ParseError::Field { layer: Layer::Arp, field, value, offset: 0 });
        }
        let [a, b, c, d, e, f, s0, s1, s2, s3, g, h, i, j, k, l, t0, t1, t2, t3] = rest;
        Ok(Self {
            operation: ArpOperation(u16::from_be_bytes([o0, o1])),
            sender_mac: MacAddress([a, b, c, d, e, f]),
            sender: Ipv4Addr::from([s0, s1, s2, s3]),
            target_mac: MacAddress([g, h, i, j, k, l]),
            target: Ipv4Addr::from([t0, t1, t2, t3]),
        })
    }

    /// The packet as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [h0, h1, p0, p1, hl, pl] = Self::TYPES;
        let [o0, o1] = self.operation.0.to_be_bytes();
        let [a, b, c, d, e, f] = self.sender_mac.0;
        let [s0, s1, s2, s3] = self.sender.octets();
        let [g, h, i, j, k, l] = self.target_mac.0;
        let [t0, t1, t2, t3] = self.target.octets();
        [
            h0, h1, p0, p1, hl, pl, o0, o1, a, b, c, d, e, f, s0, s1, s2, s3, g, h, i, j, k, l, t0,
            t1, t2, t3,
        ]
    }
}

impl fmt::Display for Arp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            ArpOperation::REQUEST => write!(f, "ARP who has {}? tell {}", self.target, self.sender),
            ArpOperation::REPLY => write!(f, "ARP {} is at {}", self.sender, self.sender_mac),
            ArpOperation(other) => write!(f, "ARP operation {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Arp,
        bytes: [
            0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 254,
        ],
        value: Arp {
            operation: ArpOperation::REQUEST,
            sender_mac: MacAddress([2, 0, 0, 0, 0, 1]),
            sender: Ipv4Addr::new(10, 0, 0, 1),
            target_mac: MacAddress([0; 6]),
            target: Ipv4Addr::new(10, 0, 0, 254),
        },
        display: "ARP who has 10.0.0.254? tell 10.0.0.1",
        arbitrary: |mut bytes| {
            bytes[..6].copy_from_slice(&[0, 1, 8, 0, 6, 4]);
            bytes
        },
    }

    #[test]
    fn other_networks_are_refused() {
        let error = Arp::parse(&[0; 28]).expect_err("no Ethernet");
        assert_eq!(error.layer(), Layer::Arp);
    }
}

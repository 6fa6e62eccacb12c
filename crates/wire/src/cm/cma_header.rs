//! The header in private data with the IP addresses and ports of an RDMA connection.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Gid;
use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};

/// The RDMA connection manager's (CMA) header at the start of the private data of a REQ.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-------+-------+-------------------------------+
/// |    version    |  IPv  |  rsv  |          source port          |
/// +---------------+-------+-------+-------------------------------+
/// |                  source address (128 bits)                    |
/// +---------------------------------------------------------------+
/// |                destination address (128 bits)                 |
/// +---------------------------------------------------------------+
/// ```
///
/// An IPv4 address stands in the last four of its sixteen bytes. Layout: Linux
/// `drivers/infiniband/core/cma.c`, `struct cma_hdr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CmaHeader {
    /// Version of this header: 0.
    pub version: u8,
    /// 4 or 6; 4 bits.
    pub ip_version: u8,
    /// Reserved, 4 bits.
    pub resv4: u8,
    /// The active side's port.
    pub source_port: u16,
    /// The active side's address, see [`Self::source`].
    pub source_address: [u8; 16],
    /// The passive side's address, see [`Self::destination`].
    pub destination_address: [u8; 16],
}

impl CmaHeader {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 36;

    /// The header of a connection between two GIDs: with IPv4 addresses if both GIDs contain one,
    /// otherwise with IPv6 addresses.
    #[must_use]
    pub const fn between(source_port: u16, source: Gid, destination: Gid) -> Self {
        let (ip_version, source_address, destination_address) =
            match (source.to_ipv4(), destination.to_ipv4()) {
                (Some(source), Some(destination)) => (4, right(source), right(destination)),
                _ => (6, source.0, destination.0),
            };
        Self { version: 0, ip_version, resv4: 0, source_port, source_address, destination_address }
    }

    /// The active side's address; `None` if the IP version is neither 4 nor 6.
    #[must_use]
    pub const fn source(&self) -> Option<IpAddr> {
        self.address(self.source_address)
    }

    /// The passive side's address; `None` if the IP version is neither 4 nor 6.
    #[must_use]
    pub const fn destination(&self) -> Option<IpAddr> {
        self.address(self.destination_address)
    }

    const fn address(&self, bytes: [u8; 16]) -> Option<IpAddr> {
        let [.., a, b, c, d] = bytes;
        match self.ip_version {
            4 => Some(IpAddr::V4(Ipv4Addr::new(a, b, c, d))),
            6 => Some(IpAddr::V6(Ipv6Addr::from_octets(bytes))),
            _ => None,
        }
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::CmaHeader)?;
        Ok(Self {
            version: header[0],
            ip_version: header[1] >> 4,
            resv4: header[1] & 0x0f,
            source_port: u16::from_be_bytes(get::<2, _, _>(header)),
            source_address: get::<4, _, _>(header),
            destination_address: get::<20, _, _>(header),
        })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, [self.version, self.ip_version << 4 | self.resv4 & 0x0f]);
        put::<2, _, _>(&mut header, self.source_port.to_be_bytes());
        put::<4, _, _>(&mut header, self.source_address);
        put::<20, _, _>(&mut header, self.destination_address);
        header
    }
}

/// An IPv4 address at the end of sixteen bytes.
const fn right(address: Ipv4Addr) -> [u8; 16] {
    let [a, b, c, d] = address.octets();
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
}

impl fmt::Display for CmaHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.source(), self.destination()) {
            (Some(source), Some(destination)) => {
                write!(f, "CMA {source} port {} > {destination}", self.source_port)
            }
            _ => write!(f, "CMA IP version {} port {}", self.ip_version, self.source_port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        CmaHeader,
        bytes: [
            0, 0x40, 0xde, 0x64,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1,
        ],
        value: CmaHeader::between(
            0xde64,
            Gid::from_ipv4([10, 0, 0, 2]),
            Gid::from_ipv4([10, 0, 0, 1]),
        ),
        display: "CMA 10.0.0.2 port 56932 > 10.0.0.1",
    }

    #[test]
    fn ipv6_keeps_all_of_the_gid() {
        let gid = |last| Gid([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        let header = CmaHeader::between(1, gid(2), gid(1));
        assert_eq!(header.to_string(), "CMA fd00::2 port 1 > fd00::1");
        let mixed = CmaHeader::between(1, Gid::from_ipv4([10, 0, 0, 2]), gid(1));
        assert_eq!(mixed.ip_version, 6);
        assert_eq!(CmaHeader { ip_version: 5, ..header }.source(), None);
    }
}

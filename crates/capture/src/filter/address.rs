//! Addresses that are wanted.

use std::net::IpAddr;
use std::str::FromStr;

use rocelab_wire::{Ethernet, Gid, MacAddress};

use crate::dissection::{HeadersRead, OuterHeader, OuterLayer};

/// An address that a frame has as its source or destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressWanted {
    /// A GID, or an IP address: that of IPv4 is the GID that contains it.
    Gid(Gid),
    /// The address of an Ethernet port.
    Mac(MacAddress),
    /// A local identifier of native InfiniBand.
    Lid(u16),
}

impl AddressWanted {
    /// Whether the frame with these headers, or one of those around it, has the address.
    pub(super) fn is_in(&self, headers: &HeadersRead, outer: &[OuterLayer]) -> bool {
        let around = outer.iter().map(|layer| match layer.header {
            OuterHeader::Ethernet(ethernet) => {
                HeadersRead { ethernet: Some(ethernet), ..HeadersRead::default() }
            }
            OuterHeader::Ipv4(ip) => HeadersRead { ipv4: Some(ip), ..HeadersRead::default() },
            OuterHeader::Ipv6(ip) => HeadersRead { ipv6: Some(ip), ..HeadersRead::default() },
            _ => HeadersRead::default(),
        });
        std::iter::once(*headers).chain(around).any(|headers| match self {
            Self::Gid(gid) => gids(&headers).contains(&Some(*gid)),
            Self::Lid(lid) => headers.lrh.is_some_and(|lrh| [lrh.slid, lrh.dlid].contains(lid)),
            Self::Mac(mac) => {
                headers.ethernet.is_some_and(|Ethernet { source, destination, .. }| {
                    [source, destination].contains(mac)
                })
            }
        })
    }
}

/// Sources and destinations of IP and of the GRH.
fn gids(headers: &HeadersRead) -> [Option<Gid>; 6] {
    let HeadersRead { ipv4, ipv6, grh, .. } = headers;
    [
        ipv4.map(|ip| ip.source.into()),
        ipv4.map(|ip| ip.destination.into()),
        ipv6.map(|ip| ip.source.into()),
        ipv6.map(|ip| ip.destination.into()),
        grh.map(|grh| grh.sgid),
        grh.map(|grh| grh.dgid),
    ]
}

/// Reads `10.0.0.1`, `fe80::1`, `02:00:00:00:00:01`, also with hyphens, or `lid 4`, also in hexadecimal.
impl FromStr for AddressWanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(lid) = lid(text) {
            return Ok(Self::Lid(lid));
        }
        if let Some(mac) = mac(text) {
            return Ok(Self::Mac(mac));
        }
        let gid = text.parse().map(|address| match address {
            IpAddr::V4(address) => Gid::from(address),
            IpAddr::V6(address) => Gid::from(address),
        });
        gid.map(Self::Gid).map_err(|_| {
            "is no address; give one of IPv4 such as 10.0.0.1, of IPv6 or a GID such as fe80::1, a MAC address such as \
             02:00:00:00:00:01, or a LID of InfiniBand such as lid:4"
                .to_owned()
        })
    }
}

/// A number after `lid`, as `decode` prints it.
fn lid(text: &str) -> Option<u16> {
    let number = text.strip_prefix("lid")?.trim_start_matches([' ', ':']);
    match number.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    }
}

/// Six octets of two hexadecimal digits.
fn mac(text: &str) -> Option<MacAddress> {
    let separator = if text.contains('-') { '-' } else { ':' };
    let octet = |octet: &str| {
        let is_octet = octet.len() == 2 && octet.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_octet.then(|| u8::from_str_radix(octet, 16).ok()).flatten()
    };
    let octets: Option<Vec<u8>> = text.split(separator).map(octet).collect();
    octets?.try_into().ok().map(MacAddress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_kinds_are_read() {
        let mac = AddressWanted::Mac(MacAddress([2, 0, 0, 0, 0, 0xab]));
        assert_eq!("02:00:00:00:00:ab".parse(), Ok(mac));
        assert_eq!("02-00-00-00-00-AB".parse(), Ok(mac));
        let ipv4: AddressWanted = "10.0.0.1".parse().unwrap();
        assert_eq!("::ffff:10.0.0.1".parse(), Ok(ipv4));
        for text in ["lid 49153", "lid:49153", "lid49153", "lid:0xc001"] {
            assert_eq!(text.parse(), Ok(AddressWanted::Lid(0xc001)), "{text}");
        }
        assert!(matches!("fe80::1".parse(), Ok(AddressWanted::Gid(_))));
        for wrong in [
            "",
            "10.0.0",
            "10.0.0.256",
            "2:0:0:0:0:1",
            "02:00:00:00:00",
            "host-0",
            "lid",
            "lid:65536",
        ] {
            let error = wrong.parse::<AddressWanted>().unwrap_err();
            assert!(error.contains("10.0.0.1"), "{wrong}: {error}");
        }
    }
}

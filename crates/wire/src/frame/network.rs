//! The network headers, which differ between RoCE v1 and v2.

use core::fmt;

use crate::size::Encapsulation;
use crate::{Grh, Ipv4, Ipv6, Udp};

/// The headers between Ethernet and BTH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// RoCE v1.
    V1 {
        /// Global route header.
        grh: Grh,
    },
    /// RoCE v2 over IPv4.
    V2Ipv4 {
        /// IPv4 header.
        ip: Ipv4,
        /// UDP header.
        udp: Udp,
    },
    /// RoCE v2 over IPv6.
    V2Ipv6 {
        /// IPv6 header.
        ip: Ipv6,
        /// UDP header.
        udp: Udp,
    },
}

impl Network {
    /// The encapsulation with these headers.
    #[must_use]
    pub const fn encapsulation(&self) -> Encapsulation {
        match self {
            Self::V1 { .. } => Encapsulation::V1,
            Self::V2Ipv4 { .. } => Encapsulation::V2Ipv4,
            Self::V2Ipv6 { .. } => Encapsulation::V2Ipv6,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1 { grh } => fmt::Display::fmt(grh, f),
            Self::V2Ipv4 { ip, udp } => write!(f, "{ip}, {udp}"),
            Self::V2Ipv6 { ip, udp } => write!(f, "{ip}, {udp}"),
        }
    }
}

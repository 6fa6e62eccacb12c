//! What is around the frame that matters: pseudo-headers of captures, and tunnels.
//!
//! A frame of a capture is looked into from outside to inside. The last frame or packet that is found is parsed
//! as every other one; the headers before it are [`OuterLayer`]s.

mod cooked;
mod gre;
mod search;
mod vxlan;

use std::fmt;

use rocelab_wire::{Ethernet, Ipv4, Ipv6, Udp, VlanTag};
use serde::Serialize;

pub use cooked::LinuxCooked;
pub(super) use gre::PROTOCOL_GRE;
pub use gre::{ErspanII, ErspanIII, Gre};
pub(super) use search::{DEEPEST, find};
pub use vxlan::Vxlan;

/// A header that is around the frame: of the capture, or of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OuterLayer {
    /// Its place in the captured bytes.
    pub offset: usize,
    /// Its length in bytes.
    pub len: usize,
    /// What it says.
    #[serde(flatten)]
    pub header: OuterHeader,
}

/// Such a header. In JSON, the fields are below the name of the header.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OuterHeader {
    /// The pseudo-header of a Linux cooked capture, of either version.
    LinuxCooked(LinuxCooked),
    /// Ethernet around a tunnel.
    Ethernet(Ethernet),
    /// An 802.1Q tag around a tunnel.
    Vlan(VlanTag),
    /// IPv4 around a tunnel.
    Ipv4(Ipv4),
    /// IPv6 around a tunnel.
    Ipv6(Ipv6),
    /// UDP around a tunnel.
    Udp(Udp),
    /// VXLAN (RFC 7348).
    Vxlan(Vxlan),
    /// Generic routing encapsulation (RFC 2784, RFC 2890).
    Gre(Gre),
    /// ERSPAN type II: a switch mirrors a port to another network.
    #[serde(rename = "erspan_ii")]
    ErspanII(ErspanII),
    /// ERSPAN type III.
    #[serde(rename = "erspan_iii")]
    ErspanIII(ErspanIII),
}

impl OuterHeader {
    /// Its name, as in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::LinuxCooked(_) => "linux_cooked",
            Self::Ethernet(_) => "ethernet",
            Self::Vlan(_) => "vlan",
            Self::Ipv4(_) => "ipv4",
            Self::Ipv6(_) => "ipv6",
            Self::Udp(_) => "udp",
            Self::Vxlan(_) => "vxlan",
            Self::Gre(_) => "gre",
            Self::ErspanII(_) => "erspan_ii",
            Self::ErspanIII(_) => "erspan_iii",
        }
    }
}

/// In one line, what tells tunnels apart: ends, and numbers of networks and sessions. Empty for other headers.
impl fmt::Display for OuterHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinuxCooked(_) | Self::Ethernet(_) | Self::Vlan(_) | Self::Udp(_) => Ok(()),
            Self::Ipv4(ip) => write!(f, "{} > {} ", ip.source, ip.destination),
            Self::Ipv6(ip) => write!(f, "{} > {} ", ip.source, ip.destination),
            Self::Vxlan(vxlan) => write!(f, "vxlan {} | ", vxlan.vni),
            // The header of ERSPAN follows; type I has none.
            Self::Gre(gre) if gre.is_erspan() && gre.sequence.is_some() => Ok(()),
            Self::Gre(gre) if gre.is_erspan() => f.write_str("erspan | "),
            Self::Gre(_) => f.write_str("gre | "),
            Self::ErspanII(erspan) => write!(f, "erspan {} | ", erspan.session_id),
            Self::ErspanIII(erspan) => write!(f, "erspan {} | ", erspan.session_id),
        }
    }
}

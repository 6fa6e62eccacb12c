//! Whole Ethernet frames.

mod emit;
mod parse;

use core::fmt;

use crate::{
    Bth, CnTag, Cnm, Encapsulation, Ethernet, Extensions, Grh, Ipv4, Ipv6, Pause, Pfc,
    TransportPacket, Udp, VlanTag, icrc,
};

/// An Ethernet frame, taken apart down to the last byte: [`Frame::parse`] and [`Frame::emit`]
/// are inverse.
///
/// Payload and padding borrow the parsed bytes; nothing is copied or allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Addresses, and the EtherType after all tags.
    pub ethernet: Ethernet,
    /// 802.1Q tags, the outer one first.
    pub vlan: [Option<VlanTag>; 2],
    /// 802.1Qau congestion notification tag, which stands after the 802.1Q tags.
    pub cn_tag: Option<CnTag>,
    /// What the frame carries.
    pub body: Body<'a>,
    /// What the frame holds after the body, to be long enough for Ethernet.
    pub padding: &'a [u8],
    /// Frame check sequence as found, where there is one.
    pub fcs: Option<u32>,
}

/// What an Ethernet frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "frames live on the stack; there is no allocator")]
pub enum Body<'a> {
    /// A RoCE packet, v1 or v2.
    Roce(Roce<'a>),
    /// Priority-based flow control.
    Pfc(Pfc),
    /// PAUSE.
    Pause(Pause),
    /// 802.1Qau congestion notification.
    Cnm {
        /// The message.
        cnm: Cnm,
        /// The first bytes of the MSDU of the frame that it is about.
        msdu: &'a [u8],
    },
    /// Something else: all bytes after the EtherType.
    Other(&'a [u8]),
}

/// A RoCE packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roce<'a> {
    /// The headers that make it v1 or v2.
    pub network: Network,
    /// Base transport header.
    pub bth: Bth,
    /// The headers that the opcode announces; none if it is not defined, or a manufacturer's without
    /// our telemetry.
    pub extensions: Extensions,
    /// Payload, without pad.
    pub payload: &'a [u8],
    /// Pad bytes: as many as the BTH says.
    pub pad: &'a [u8],
    /// Invariant CRC as found.
    pub icrc: u32,
}

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

impl<'a> Frame<'a> {
    /// The RoCE packet, if it is one.
    #[must_use]
    pub const fn roce(&self) -> Option<&Roce<'a>> {
        match &self.body {
            Body::Roce(roce) => Some(roce),
            _ => None,
        }
    }

    /// Which protocol it is, in the words of this project's reports: `roce_v1`, `roce_v2_ipv4`,
    /// `roce_v2_ipv6`, `pfc`, `pause`, `qcn` or `other`.
    #[must_use]
    pub const fn proto(&self) -> &'static str {
        match &self.body {
            Body::Roce(roce) => match roce.network {
                Network::V1 { .. } => "roce_v1",
                Network::V2Ipv4 { .. } => "roce_v2_ipv4",
                Network::V2Ipv6 { .. } => "roce_v2_ipv6",
            },
            Body::Pfc(_) => "pfc",
            Body::Pause(_) => "pause",
            Body::Cnm { .. } => "qcn",
            Body::Other(_) => "other",
        }
    }

    /// Whether this is a RoCE frame with the right ICRC.
    #[must_use]
    pub fn icrc_ok(&self) -> bool {
        self.roce().is_some_and(Roce::icrc_ok)
    }

    /// Whether the FCS is right; `None` if there is none.
    #[must_use]
    pub fn fcs_ok(&self) -> Option<bool> {
        self.fcs.map(|fcs| fcs == self.computed_fcs())
    }

    /// The same frame with the right FCS.
    #[must_use]
    pub fn with_fcs(self) -> Self {
        Self { fcs: Some(self.computed_fcs()), ..self }
    }
}

impl<'a> Roce<'a> {
    /// What the packet has in common with one of native InfiniBand.
    #[must_use]
    pub const fn transport(&self) -> TransportPacket<'a> {
        let Self { bth, extensions, payload, pad, icrc, .. } = *self;
        TransportPacket { bth, extensions, payload, pad, icrc }
    }

    /// Whether the ICRC is right.
    #[must_use]
    pub fn icrc_ok(&self) -> bool {
        self.icrc == icrc(self)
    }
}

impl Network {
    /// Which headers these are.
    #[must_use]
    pub const fn encapsulation(&self) -> Encapsulation {
        match self {
            Self::V1 { .. } => Encapsulation::V1,
            Self::V2Ipv4 { .. } => Encapsulation::V2Ipv4,
            Self::V2Ipv6 { .. } => Encapsulation::V2Ipv6,
        }
    }
}

impl fmt::Display for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.ethernet)?;
        for tag in self.vlan.iter().flatten() {
            write!(f, "{tag}, ")?;
        }
        if let Some(tag) = &self.cn_tag {
            write!(f, "{tag}, ")?;
        }
        fmt::Display::fmt(&self.body, f)?;
        f.write_str(if self.fcs_ok() == Some(false) { ", bad FCS" } else { "" })
    }
}

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Roce(roce) => fmt::Display::fmt(roce, f),
            Self::Pfc(pfc) => fmt::Display::fmt(pfc, f),
            Self::Pause(pause) => fmt::Display::fmt(pause, f),
            Self::Cnm { cnm, .. } => fmt::Display::fmt(cnm, f),
            Self::Other(bytes) => write!(f, "length {}", bytes.len()),
        }
    }
}

impl fmt::Display for Roce<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.network, self.transport())?;
        f.write_str(if self.icrc_ok() { "" } else { ", bad ICRC" })
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

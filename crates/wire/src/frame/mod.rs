//! Whole Ethernet frames.

mod emit;
mod mac_control;
mod network;
mod parse;
mod roce;

use core::fmt;

pub use network::Network;
pub use parse::icrc_of_frame;
pub use roce::{Roce, explain_icrc, icrc};

use crate::{CnTag, Cnm, Ethernet, Pause, Pfc, VlanTag};

/// An Ethernet frame, parsed down to the last byte: [`Frame::parse`] and [`Frame::emit`] are
/// inverse.
///
/// Payload and padding borrow the parsed bytes; nothing is copied or allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Addresses, and the EtherType after all tags.
    pub ethernet: Ethernet,
    /// 802.1Q tags, the outer one first.
    pub vlan: [Option<VlanTag>; 2],
    /// 802.1Qau congestion notification tag, which follows the 802.1Q tags.
    pub cn_tag: Option<CnTag>,
    /// The content of the frame.
    pub body: Body<'a>,
    /// The bytes after the body that make the frame long enough for Ethernet.
    pub padding: &'a [u8],
    /// Frame check sequence as found, if there is one.
    pub fcs: Option<u32>,
}

/// The content of an Ethernet frame.
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
        /// The first bytes of the sampled frame's MSDU.
        msdu: &'a [u8],
    },
    /// Any other content: all bytes after the EtherType.
    Other(&'a [u8]),
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

    /// The name of the protocol, as in this project's reports: `roce_v1`, `roce_v2_ipv4`,
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

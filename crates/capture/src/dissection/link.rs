//! The link types of captures.

/// The link types that can be read, with their numbers in tcpdump.org's link-layer type registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// LINKTYPE_ETHERNET, 1.
    Ethernet,
    /// LINKTYPE_RAW, 101 (in some files 12 or 14, as systems number it); LINKTYPE_IPV4, 228, and LINKTYPE_IPV6, 229: packets
    /// that begin with the IP header.
    RawIp,
    /// LINKTYPE_LINUX_SLL, 113: the pseudo-header that Linux writes for the interface `any`.
    LinuxCooked,
    /// LINKTYPE_LINUX_SLL2, 276: its second version.
    LinuxCooked2,
    /// LINKTYPE_INFINIBAND, 247: packets that begin with the LRH, and link packets.
    InfiniBand,
    /// LINKTYPE_ERF, 197: records of a capture card. Of these only those of InfiniBand are read.
    Erf,
}

impl LinkLayer {
    /// What can be read, in the words of error messages.
    pub(crate) const READ: &str = "Ethernet (1), Linux cooked (113, 276), raw IP (101, 228, 229), or InfiniBand (247, ERF 197)";

    /// The link type with this number; `None` if it cannot be read.
    #[must_use]
    pub const fn of_type(link_type: u16) -> Option<Self> {
        match link_type {
            1 => Some(Self::Ethernet),
            12 | 14 | 101 | 228 | 229 => Some(Self::RawIp),
            113 => Some(Self::LinuxCooked),
            276 => Some(Self::LinuxCooked2),
            197 => Some(Self::Erf),
            247 => Some(Self::InfiniBand),
            _ => None,
        }
    }
}

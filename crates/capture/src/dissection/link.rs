//! The link types of captures.

/// Record type of an ERF card's record with an InfiniBand packet, as in Wireshark's sample
/// captures.
const ERF_INFINIBAND: u8 = 0x15;

/// Length of the header of such a record, in bytes.
const ERF_HEADER_LEN: usize = 16;

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
    /// LINKTYPE_INFINIBAND, 247: packets that begin with the LRH.
    InfiniBand,
    /// LINKTYPE_ERF, 197: records of a capture card. Of these only InfiniBand packets are read.
    Erf,
}

impl LinkLayer {
    /// What can be read, in the words of error messages.
    pub(crate) const READ: &str =
        "Ethernet (1), Linux cooked (113, 276), raw IP (101, 228, 229), or InfiniBand (247)";

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

    /// Length of the header that a capture card puts before each packet, in bytes.
    pub(super) const fn record_header_len(self) -> usize {
        match self {
            Self::Erf => ERF_HEADER_LEN,
            _ => 0,
        }
    }

    /// The packet of InfiniBand inside the captured bytes, if there is one.
    pub(super) fn infiniband(self, bytes: &[u8]) -> Option<&[u8]> {
        match self {
            Self::InfiniBand => Some(bytes),
            Self::Erf => {
                let (header, rest) = bytes.split_first_chunk::<ERF_HEADER_LEN>()?;
                let [.., high, low] = *header;
                let len = usize::from(u16::from_be_bytes([high, low]));
                (header[8] == ERF_INFINIBAND).then(|| rest.get(..len)).flatten()
            }
            _ => None,
        }
    }
}

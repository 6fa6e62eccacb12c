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
    /// LINKTYPE_INFINIBAND, 247: packets that begin with the LRH.
    InfiniBand,
    /// LINKTYPE_ERF, 197: records of a capture card. Of these only InfiniBand packets are read.
    Erf,
}

impl LinkLayer {
    /// The link type with this number; `None` if it cannot be read.
    #[must_use]
    pub const fn of_type(link_type: u16) -> Option<Self> {
        match link_type {
            1 => Some(Self::Ethernet),
            197 => Some(Self::Erf),
            247 => Some(Self::InfiniBand),
            _ => None,
        }
    }

    /// The packet inside the captured bytes, if there is one.
    pub(super) fn packet(self, bytes: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Ethernet | Self::InfiniBand => Some(bytes),
            Self::Erf => {
                let (header, rest) = bytes.split_first_chunk::<ERF_HEADER_LEN>()?;
                let [.., high, low] = *header;
                let len = usize::from(u16::from_be_bytes([high, low]));
                (header[8] == ERF_INFINIBAND).then(|| rest.get(..len)).flatten()
            }
        }
    }
}

//! What a capture's link type says of its frames.

/// Record type of an ERF card that holds an InfiniBand packet, as Wireshark's sample captures have
/// it.
const ERF_INFINIBAND: u8 = 0x15;

/// Length of the header of such a record, in bytes.
const ERF_HEADER_LEN: usize = 16;

/// The link types that are read, by the tcpdump.org link-layer type registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// LINKTYPE_ETHERNET, 1.
    Ethernet,
    /// LINKTYPE_INFINIBAND, 247: packets from the LRH on.
    InfiniBand,
    /// LINKTYPE_ERF, 197: records of a capture card, of which InfiniBand packets are read.
    Erf,
}

impl LinkLayer {
    /// What the number means, if such frames are read.
    #[must_use]
    pub const fn of_type(link_type: u16) -> Option<Self> {
        match link_type {
            1 => Some(Self::Ethernet),
            197 => Some(Self::Erf),
            247 => Some(Self::InfiniBand),
            _ => None,
        }
    }

    /// The packet inside what was captured, if there is one.
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

//! VXLAN.

use serde::Serialize;

/// Virtual eXtensible Local Area Network (RFC 7348 section 5): an Ethernet frame in UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Vxlan {
    /// Flags; bit 3 (0x08) says that the VNI is valid.
    pub flags: u8,
    /// VXLAN network identifier, 24 bits.
    pub vni: u32,
}

impl Vxlan {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 8;
    /// UDP destination port.
    pub const PORT: u16 = 4789;
    /// The flag I, which must be set.
    const VALID_VNI: u8 = 0x08;

    /// Reads the header at the start of `bytes`; `None` if it is incomplete, or its VNI is not valid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [flags, _, _, _, a, b, c, _] = *bytes.first_chunk::<{ Self::LEN }>()?;
        let is_valid = flags & Self::VALID_VNI != 0;
        is_valid.then(|| Self { flags, vni: u32::from_be_bytes([0, a, b, c]) })
    }
}

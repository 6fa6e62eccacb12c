//! 802.1Q tag.

use core::fmt;

use crate::EtherType;
use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// 802.1Q tag, between source address and EtherType.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-----+-+-----------------------+
/// |             TPID              | PCP |D|          VID          |
/// +-------------------------------+-----+-+-----------------------+
/// ```
///
/// The ICRC does not cover it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VlanTag {
    /// Tag protocol identifier: 0x8100, or 0x88a8 for a service tag.
    pub tpid: EtherType,
    /// Priority code point, 3 bits: the priority that PFC acts on.
    pub pcp: u8,
    /// Drop eligible indicator.
    pub dei: bool,
    /// VLAN identifier, 12 bits; 0 means "priority only".
    pub vid: u16,
}

impl VlanTag {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 4;

    /// A customer tag that is not drop eligible.
    #[must_use]
    pub const fn new(pcp: u8, vid: u16) -> Self {
        Self { tpid: EtherType::VLAN, pcp, dei: false, vid }
    }

    /// Reads the tag at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let [t0, t1, c0, c1] = *prefix(bytes, Layer::Vlan)?;
        Ok(Self {
            tpid: EtherType(u16::from_be_bytes([t0, t1])),
            pcp: c0 >> 5,
            dei: c0 & 0x10 != 0,
            vid: u16::from_be_bytes([c0 & 0x0f, c1]),
        })
    }

    /// The tag as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [t0, t1] = self.tpid.0.to_be_bytes();
        let [v0, v1] = self.vid.to_be_bytes();
        [t0, t1, self.pcp << 5 | u8::from(self.dei) << 4 | v0 & 0x0f, v1]
    }
}

impl fmt::Display for VlanTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vlan {}, p {}", self.vid, self.pcp)?;
        if self.dei { f.write_str(", DEI") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        VlanTag,
        bytes: [0x81, 0x00, 0x7a, 0xbc],
        value: VlanTag { tpid: EtherType::VLAN, pcp: 3, dei: true, vid: 0xabc },
        display: "vlan 2748, p 3, DEI",
    }
}

//! FLUSH Extended Transport Header.

use core::fmt;

use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// FLUSH Extended Transport Header (FETH): in a FLUSH request, before the RETH.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------+---+-------+
/// |                     reserved                      |SEL|  PLT  |
/// +---------------------------------------------------+---+-------+
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Feth {
    /// Reserved, 26 bits.
    pub reserved: u32,
    /// Selectivity level (SEL), 2 bits: the part of the memory region that is flushed.
    pub selectivity_level: u8,
    /// Placement type (PLT), 4 bits: whether the data must become globally visible or persistent.
    pub placement_type: u8,
}

impl Feth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 4;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header: [u8; Self::LEN] = *prefix(bytes, Layer::Feth)?;
        let [.., last] = header;
        Ok(Self {
            reserved: u32::from_be_bytes(header) >> 6,
            selectivity_level: last >> 4 & 0b11,
            placement_type: last & 0x0f,
        })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let low = (self.selectivity_level & 0b11) << 4 | self.placement_type & 0x0f;
        (self.reserved << 6 | u32::from(low)).to_be_bytes()
    }
}

impl fmt::Display for Feth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FETH sel {}, plt {}", self.selectivity_level, self.placement_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Feth,
        bytes: [0x00, 0x00, 0x00, 0x12],
        value: Feth { reserved: 0, selectivity_level: 1, placement_type: 2 },
        display: "FETH sel 1, plt 2",
    }
}

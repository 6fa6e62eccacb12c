//! Invalidate Extended Transport Header.

use core::fmt;

use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// Invalidate Extended Transport Header (IETH): the key that the receiver shall invalidate.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                             R_Key                             |
/// +---------------------------------------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ieth {
    /// Remote key to invalidate.
    pub r_key: u32,
}

impl Ieth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 4;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        Ok(Self { r_key: u32::from_be_bytes(*prefix(bytes, Layer::Ieth)?) })
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.r_key.to_be_bytes()
    }
}

impl fmt::Display for Ieth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IETH r_key {:#010x}", self.r_key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Ieth,
        bytes: [0x12, 0x5c, 0xdb, 0x49],
        value: Ieth { r_key: 0x125c_db49 },
        display: "IETH r_key 0x125cdb49",
    }
}

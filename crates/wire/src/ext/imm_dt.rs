//! Immediate Data Extended Transport Header.

use core::fmt;

use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// Immediate Data Extended Transport Header (ImmDt): 32 bits for the receiver's completion.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                        immediate data                         |
/// +---------------------------------------------------------------+
/// ```
///
/// The value is opaque; it is shown as a big-endian number. Layout: Linux
/// `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ImmDt(pub u32);

impl ImmDt {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 4;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        Ok(Self(u32::from_be_bytes(*prefix(bytes, Layer::ImmDt)?)))
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for ImmDt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImmDt {:#010x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        ImmDt,
        bytes: [0x12, 0x34, 0x56, 0x78],
        value: ImmDt(0x1234_5678),
        display: "ImmDt 0x12345678",
    }
}

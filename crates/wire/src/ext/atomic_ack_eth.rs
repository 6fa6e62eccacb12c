//! Atomic ACK Extended Transport Header.

use core::fmt;

use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// Atomic ACK Extended Transport Header (AtomicAckETH): the result of an atomic operation.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                original remote data (64 bits)                 |
/// +---------------------------------------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct AtomicAckEth {
    /// The value in the responder's memory before the operation.
    pub original_remote_data: u64,
}

impl AtomicAckEth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 8;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = *prefix(bytes, Layer::AtomicAckEth)?;
        Ok(Self { original_remote_data: u64::from_be_bytes(header) })
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.original_remote_data.to_be_bytes()
    }
}

impl fmt::Display for AtomicAckEth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AtomicAckETH original {:#x}", self.original_remote_data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        AtomicAckEth,
        bytes: [0x33, 0x90, 0x4a, 0x87, 0x7c, 0xe0, 0xaa, 0xb0],
        value: AtomicAckEth { original_remote_data: 0x3390_4a87_7ce0_aab0 },
        display: "AtomicAckETH original 0x33904a877ce0aab0",
    }
}

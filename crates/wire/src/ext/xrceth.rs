//! XRC Extended Transport Header.

use core::fmt;

use crate::bits::{prefix, u24, u24_to_be_bytes};
use crate::error::{Layer, ParseError};

/// XRC Extended Transport Header (XRCETH): in every XRC request, directly after the BTH.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-----------------------------------------------+
/// |     resv8     |                    XRCSRQ                     |
/// +---------------+-----------------------------------------------+
/// ```
///
/// Layout: datenlord/blue-rdma `src/Headers.bsv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Xrceth {
    /// Reserved.
    pub resv8: u8,
    /// Number of the receiver's XRC shared receive queue, 24 bits.
    pub xrc_srq: u32,
}

impl Xrceth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 4;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let [resv8, a, b, c] = *prefix(bytes, Layer::Xrceth)?;
        Ok(Self { resv8, xrc_srq: u24([a, b, c]) })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [a, b, c] = u24_to_be_bytes(self.xrc_srq);
        [self.resv8, a, b, c]
    }
}

impl fmt::Display for Xrceth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "XRCETH srq {:#08x}", self.xrc_srq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Xrceth,
        bytes: [0x00, 0x91, 0x77, 0x20],
        value: Xrceth { resv8: 0, xrc_srq: 0x91_7720 },
        display: "XRCETH srq 0x917720",
    }
}

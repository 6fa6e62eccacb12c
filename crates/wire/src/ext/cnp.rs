//! Body of a Congestion Notification Packet.

use core::fmt;

use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// The body of a Congestion Notification Packet (CNP), after its BTH: 16 reserved bytes, zero (IBTA
/// A17.9.3).
///
/// All information is in the BTH: see [`Bth::cnp`](crate::Bth::cnp).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Cnp {
    /// Reserved.
    pub reserved: [u8; 16],
}

impl Cnp {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 16;

    /// Reads the body at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        Ok(Self { reserved: *prefix(bytes, Layer::Cnp)? })
    }

    /// The body as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.reserved
    }
}

impl fmt::Display for Cnp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zero = self.reserved.iter().all(|byte| *byte == 0);
        f.write_str(if zero { "CNP body" } else { "CNP body, not zero" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Cnp,
        bytes: [0; 16],
        value: Cnp::default(),
        display: "CNP body",
    }
}

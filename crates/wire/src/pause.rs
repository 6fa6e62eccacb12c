//! 802.3x PAUSE.

use core::fmt;

use crate::bits::prefix;
use crate::error::{Layer, ParseError};
use crate::mac_control::check_opcode;

/// PAUSE (802.3 annex 31B): asks the neighbour to stop sending for a time.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |        opcode 0x0001          |          pause time           |
/// +-------------------------------+-------------------------------+
/// ```
///
/// Zeros fill the frame up to 60 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct Pause {
    /// The time in quanta of 512 bit times; 0 lets the neighbour go on.
    pub quanta: u16,
}

impl Pause {
    /// Length on the wire, with the opcode and without the zeros that follow, in bytes.
    pub const LEN: usize = 4;

    /// MAC control opcode.
    pub const OPCODE: u16 = 0x0001;

    /// Reads opcode and pause time at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes,
    /// [`ParseError::Field`] if the opcode is another.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let [o0, o1, q0, q1] = *prefix(bytes, Layer::Pause)?;
        check_opcode(Layer::Pause, [o0, o1], Self::OPCODE)?;
        Ok(Self { quanta: u16::from_be_bytes([q0, q1]) })
    }

    /// Opcode and pause time as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [o0, o1] = Self::OPCODE.to_be_bytes();
        let [q0, q1] = self.quanta.to_be_bytes();
        [o0, o1, q0, q1]
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PAUSE quanta {}", self.quanta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Pause,
        bytes: [0x00, 0x01, 0xab, 0xcd],
        value: Pause { quanta: 0xabcd },
        display: "PAUSE quanta 43981",
        arbitrary: |[_, _, q0, q1]| [0x00, 0x01, q0, q1],
    }

    #[test]
    fn other_opcodes_are_refused() {
        let error =
            ParseError::Field { layer: Layer::Pause, field: "opcode", value: 0x101, offset: 0 };
        assert_eq!(Pause::parse(&[1, 1, 0, 0]), Err(error));
    }
}

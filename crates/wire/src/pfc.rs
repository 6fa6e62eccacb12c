//! 802.1Qbb priority-based flow control.

use core::fmt;

use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};
use crate::mac_control::check_opcode;

/// Priority-based flow control (PFC, 802.1Q clause 36): the neighbour shall stop sending some
/// priorities for a while.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+---------------+---------------+
/// |        opcode 0x0101          |   reserved    | class enable  |
/// +-------------------------------+---------------+---------------+
/// |      time of priority 0       |      time of priority 1       |
/// +-------------------------------+-------------------------------+
/// |                              ...                              |
/// +-------------------------------+-------------------------------+
/// |      time of priority 6       |      time of priority 7       |
/// +-------------------------------+-------------------------------+
/// ```
///
/// Zeros fill the frame up to 60 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct Pfc {
    /// The high octet of the class enable vector, 0.
    pub reserved: u8,
    /// Bit n: whether the time of priority n is valid.
    pub class_enable_vector: u8,
    /// The time for each priority, in quanta of 512 bit times; 0 lets the neighbour go on.
    pub quanta: [u16; 8],
}

impl Pfc {
    /// Length on the wire, with the opcode and without the zeros that follow, in bytes.
    pub const LEN: usize = 20;

    /// MAC control opcode.
    pub const OPCODE: u16 = 0x0101;

    /// A frame that stops the priorities whose bits are set in `class_enable_vector` for `quanta`,
    /// or, with 0 quanta, lets them go on.
    #[must_use]
    pub fn uniform(class_enable_vector: u8, quanta: u16) -> Self {
        let mut times = [0; 8];
        for (priority, time) in times.iter_mut().enumerate() {
            if class_enable_vector >> priority & 1 != 0 {
                *time = quanta;
            }
        }
        Self { reserved: 0, class_enable_vector, quanta: times }
    }

    /// The time for a priority, if it is enabled.
    #[must_use]
    pub fn quanta_of(&self, priority: u8) -> Option<u16> {
        let quanta = *self.quanta.get(usize::from(priority))?;
        (self.class_enable_vector >> priority & 1 != 0).then_some(quanta)
    }

    /// Reads opcode, vector and times at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes,
    /// [`ParseError::Field`] if the opcode is another.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Pfc)?;
        check_opcode(Layer::Pfc, get::<0, _, _>(header), Self::OPCODE)?;
        let [_, _, reserved, class_enable_vector, times @ ..] = header;
        let (times, _) = times.as_chunks::<2>();
        let mut quanta = [0; 8];
        for (quanta, time) in quanta.iter_mut().zip(times) {
            *quanta = u16::from_be_bytes(*time);
        }
        Ok(Self { reserved: *reserved, class_enable_vector: *class_enable_vector, quanta })
    }

    /// Opcode, vector and times as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, Self::OPCODE.to_be_bytes());
        put::<2, _, _>(&mut header, [self.reserved, self.class_enable_vector]);
        for (time, quanta) in header[4..].as_chunks_mut::<2>().0.iter_mut().zip(self.quanta) {
            *time = quanta.to_be_bytes();
        }
        header
    }
}

impl fmt::Display for Pfc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PFC classes {:#010b}, quanta {:?}", self.class_enable_vector, self.quanta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Pfc,
        bytes: [1, 1, 0, 0x88, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 7],
        value: Pfc {
            reserved: 0,
            class_enable_vector: 0x88,
            quanta: [0, 0, 0, 0xffff, 0, 0, 0, 7],
        },
        display: "PFC classes 0b10001000, quanta [0, 0, 0, 65535, 0, 0, 0, 7]",
        arbitrary: |mut bytes| {
            bytes[..2].copy_from_slice(&[1, 1]);
            bytes
        },
    }

    #[test]
    fn uniform_sets_enabled_priorities_only() {
        let pfc = Pfc::uniform(0b0000_1001, 100);
        assert_eq!(pfc.quanta, [100, 0, 0, 100, 0, 0, 0, 0]);
        assert_eq!(pfc.quanta_of(3), Some(100));
        assert_eq!(pfc.quanta_of(1), None);
        assert_eq!(pfc.quanta_of(8), None);
        assert_eq!(Pfc::uniform(0b1000, 0).quanta_of(3), Some(0));
    }
}

//! Selective acknowledgement.

use core::fmt;

use crate::bits::{get, prefix, put, u24, u24_to_be_bytes};
use crate::error::{Layer, ParseError};

/// Which packets arrived out of order: in selective acknowledges, after the [`Aeth`](crate::Aeth).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-----------------------------------------------+
/// |     resv8     |                  first (PSN)                  |
/// +---------------+-----------------------------------------------+
/// |                       arrived (64 bits)                       |
/// |                                                               |
/// +---------------------------------------------------------------+
/// ```
///
/// A form of our own, as [telemetry](crate::TelemetryKind) is: selective repeat (IRN, SIGCOMM 2018)
/// needs one, and the standard has none. BTH and AETH say what an acknowledge says, so the PSN of
/// the BTH is the last one of which nothing before is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct Sack {
    /// Reserved, 0.
    pub resv8: u8,
    /// The PSN of bit 0 of `arrived`, 24 bits.
    pub first: u32,
    /// Bit i, counted from the least significant one: whether packet `first + i` (modulo 2^24) has
    /// arrived.
    pub arrived: u64,
}

impl Sack {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 12;

    /// Number of packets that one header covers.
    pub const PACKETS: u32 = u64::BITS;

    /// The header with the reserved bits clear. `first` is truncated to 24 bits on the wire.
    #[must_use]
    pub const fn new(first: u32, arrived: u64) -> Self {
        Self { resv8: 0, first, arrived }
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Sack)?;
        let [resv8] = get::<0, _, _>(header);
        Ok(Self {
            resv8,
            first: u24(get::<1, _, _>(header)),
            arrived: u64::from_be_bytes(get::<4, _, _>(header)),
        })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, [self.resv8]);
        put::<1, _, _>(&mut header, u24_to_be_bytes(self.first));
        put::<4, _, _>(&mut header, self.arrived.to_be_bytes());
        header
    }
}

impl fmt::Display for Sack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SACK first {}, arrived {:#018x}", self.first, self.arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Sack,
        bytes: [0, 0xff, 0xff, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x05],
        value: Sack::new(0xff_fffe, 0x8000_0000_0000_0005),
        display: "SACK first 16777214, arrived 0x8000000000000005",
    }
}

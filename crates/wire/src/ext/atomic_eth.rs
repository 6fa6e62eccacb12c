//! Atomic Extended Transport Header.

use core::fmt;

use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};

/// Atomic Extended Transport Header (AtomicETH): in `COMPARE_SWAP` and `FETCH_ADD` requests.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                   virtual address (64 bits)                   |
/// +---------------------------------------------------------------+
/// |                             R_Key                             |
/// +---------------------------------------------------------------+
/// |                 swap or add data (64 bits)                    |
/// +---------------------------------------------------------------+
/// |                    compare data (64 bits)                     |
/// +---------------------------------------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct AtomicEth {
    /// Address in the receiver's memory.
    pub virtual_address: u64,
    /// Remote key of the memory region.
    pub r_key: u32,
    /// The value to store, or to add.
    pub swap_or_add: u64,
    /// The value that must be there for a swap; unused in `FETCH_ADD`.
    pub compare: u64,
}

impl AtomicEth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 28;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::AtomicEth)?;
        Ok(Self {
            virtual_address: u64::from_be_bytes(get::<0, _, _>(header)),
            r_key: u32::from_be_bytes(get::<8, _, _>(header)),
            swap_or_add: u64::from_be_bytes(get::<12, _, _>(header)),
            compare: u64::from_be_bytes(get::<20, _, _>(header)),
        })
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, self.virtual_address.to_be_bytes());
        put::<8, _, _>(&mut header, self.r_key.to_be_bytes());
        put::<12, _, _>(&mut header, self.swap_or_add.to_be_bytes());
        put::<20, _, _>(&mut header, self.compare.to_be_bytes());
        header
    }
}

impl fmt::Display for AtomicEth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "AtomicETH va {:#018x}, r_key {:#010x}, swap or add {:#x}, compare {:#x}",
            self.virtual_address, self.r_key, self.swap_or_add, self.compare
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        AtomicEth,
        bytes: [
            0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0xab, 0, 0, 0, 0, 0, 0, 0,
            0xcd,
        ],
        value: AtomicEth { virtual_address: 0x1000, r_key: 9, swap_or_add: 0xab, compare: 0xcd },
        display: "AtomicETH va 0x0000000000001000, r_key 0x00000009, swap or add 0xab, \
                  compare 0xcd",
    }
}

//! RDMA Extended Transport Header.

use core::fmt;

use crate::bits::{get, prefix, put};
use crate::error::{Layer, ParseError};

/// RDMA Extended Transport Header (RETH): address and length of an RDMA operation, in its first
/// packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                   virtual address (64 bits)                   |
/// +---------------------------------------------------------------+
/// |                             R_Key                             |
/// +---------------------------------------------------------------+
/// |                          DMA length                           |
/// +---------------------------------------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Reth {
    /// Address in the receiver's memory.
    pub virtual_address: u64,
    /// Remote key of the memory region.
    pub r_key: u32,
    /// Length of the whole message, without pad, in bytes.
    pub dma_length: u32,
}

impl Reth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 16;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Reth)?;
        Ok(Self {
            virtual_address: u64::from_be_bytes(get::<0, _, _>(header)),
            r_key: u32::from_be_bytes(get::<8, _, _>(header)),
            dma_length: u32::from_be_bytes(get::<12, _, _>(header)),
        })
    }

    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut header = [0; Self::LEN];
        put::<0, _, _>(&mut header, self.virtual_address.to_be_bytes());
        put::<8, _, _>(&mut header, self.r_key.to_be_bytes());
        put::<12, _, _>(&mut header, self.dma_length.to_be_bytes());
        header
    }
}

impl fmt::Display for Reth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "RETH va {:#018x}, r_key {:#010x}, length {}",
            self.virtual_address, self.r_key, self.dma_length
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Reth,
        bytes: [0x1c, 0x75, 0xf6, 0x7e, 0x29, 5, 0x35, 0xd8, 0x83, 0x17, 0, 1, 0, 0, 6, 5],
        value: Reth { virtual_address: 0x1c75_f67e_2905_35d8, r_key: 0x8317_0001, dma_length: 1541 },
        display: "RETH va 0x1c75f67e290535d8, r_key 0x83170001, length 1541",
    }
}

//! Datagram Extended Transport Header.

use core::fmt;

use crate::bits::{prefix, u24, u24_to_be_bytes};
use crate::error::{Layer, ParseError};

/// Datagram Extended Transport Header (DETH): in every UD packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------------------------------------------------------+
/// |                             Q_Key                             |
/// +---------------+-----------------------------------------------+
/// |     resv8     |                     SrcQP                     |
/// +---------------+-----------------------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Deth {
    /// Queue key that the receiver checks.
    pub q_key: u32,
    /// Reserved.
    pub resv8: u8,
    /// Queue pair number of the sender, 24 bits.
    pub src_qp: u32,
}

impl Deth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 8;

    /// The queue key of the general services interface, queue pair 1.
    pub const GSI_Q_KEY: u32 = 0x8001_0000;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let [k0, k1, k2, k3, resv8, q0, q1, q2] = *prefix(bytes, Layer::Deth)?;
        Ok(Self { q_key: u32::from_be_bytes([k0, k1, k2, k3]), resv8, src_qp: u24([q0, q1, q2]) })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [k0, k1, k2, k3] = self.q_key.to_be_bytes();
        let [q0, q1, q2] = u24_to_be_bytes(self.src_qp);
        [k0, k1, k2, k3, self.resv8, q0, q1, q2]
    }
}

impl fmt::Display for Deth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DETH q_key {:#010x}, src qp {:#08x}", self.q_key, self.src_qp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Deth,
        bytes: [0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x05],
        value: Deth { q_key: Deth::GSI_Q_KEY, resv8: 0, src_qp: 0x405 },
        display: "DETH q_key 0x80010000, src qp 0x000405",
    }
}

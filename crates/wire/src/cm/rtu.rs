//! RTU: ready to use.

use core::fmt;

use super::{BODY_LEN, Body, put_padded};
use crate::bits::{get, put};

/// Ready to use (RTU): the active side has the reply, and data may come.
///
/// ```text
///   0 local communication ID (32)      4 remote communication ID (32)
///   8 private data (1792)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 111).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rtu<'a> {
    /// The sender's identifier of the connection.
    pub local_communication_id: u32,
    /// The receiver's identifier of the connection.
    pub remote_communication_id: u32,
    /// Data of the applications, 224 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Rtu<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - PRIVATE_DATA;

    pub(super) fn parse(body: &'a Body) -> Self {
        Self {
            local_communication_id: u32::from_be_bytes(get::<0, _, _>(body)),
            remote_communication_id: u32::from_be_bytes(get::<4, _, _>(body)),
            private_data: &body[PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.local_communication_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.remote_communication_id.to_be_bytes());
        put_padded(&mut body[PRIVATE_DATA..], self.private_data);
        body
    }
}

const PRIVATE_DATA: usize = 8;

impl fmt::Display for Rtu<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local {:#010x}, remote {:#010x}",
            self.local_communication_id, self.remote_communication_id
        )
    }
}

//! DREQ and DREP: the end of a connection.

use core::fmt;

use super::{BODY_LEN, Body, put_padded};
use crate::bits::{get, put, u24, u24_to_be_bytes};

/// Disconnection request (DREQ).
///
/// ```text
///   0 local communication ID (32)      4 remote communication ID (32)
///   8 remote QPN or EECN (24), reserved (8)
///  12 private data (1760)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 112).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Dreq<'a> {
    /// The sender's identifier of the connection.
    pub local_communication_id: u32,
    /// The receiver's identifier of the connection.
    pub remote_communication_id: u32,
    /// The receiver's queue pair number, 24 bits.
    pub remote_qpn: u32,
    /// Reserved, at byte 11.
    pub resv11: u8,
    /// Data of the applications, 220 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Dreq<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - DREQ_PRIVATE_DATA;

    pub(super) fn parse(body: &'a Body) -> Self {
        Self {
            local_communication_id: u32::from_be_bytes(get::<0, _, _>(body)),
            remote_communication_id: u32::from_be_bytes(get::<4, _, _>(body)),
            remote_qpn: u24(get::<8, _, _>(body)),
            resv11: body[11],
            private_data: &body[DREQ_PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.local_communication_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.remote_communication_id.to_be_bytes());
        put::<8, _, _>(&mut body, u24_to_be_bytes(self.remote_qpn));
        body[11] = self.resv11;
        put_padded(&mut body[DREQ_PRIVATE_DATA..], self.private_data);
        body
    }
}

const DREQ_PRIVATE_DATA: usize = 12;

impl fmt::Display for Dreq<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local {:#010x}, remote {:#010x}, remote qpn {:#08x}",
            self.local_communication_id, self.remote_communication_id, self.remote_qpn
        )
    }
}

/// Disconnection reply (DREP).
///
/// ```text
///   0 local communication ID (32)      4 remote communication ID (32)
///   8 private data (1792)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 113).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Drep<'a> {
    /// The sender's identifier of the connection.
    pub local_communication_id: u32,
    /// The receiver's identifier of the connection.
    pub remote_communication_id: u32,
    /// Data of the applications, 224 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Drep<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - DREP_PRIVATE_DATA;

    pub(super) fn parse(body: &'a Body) -> Self {
        Self {
            local_communication_id: u32::from_be_bytes(get::<0, _, _>(body)),
            remote_communication_id: u32::from_be_bytes(get::<4, _, _>(body)),
            private_data: &body[DREP_PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.local_communication_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.remote_communication_id.to_be_bytes());
        put_padded(&mut body[DREP_PRIVATE_DATA..], self.private_data);
        body
    }
}

const DREP_PRIVATE_DATA: usize = 8;

impl fmt::Display for Drep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local {:#010x}, remote {:#010x}",
            self.local_communication_id, self.remote_communication_id
        )
    }
}

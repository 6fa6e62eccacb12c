//! REJ: connection reject.

use core::fmt;

use super::{AnsweredMessage, BODY_LEN, Body, RejectReason, put_padded};
use crate::bits::{get, put};

/// Connection reject (REJ): no connection, and why.
///
/// ```text
///   0 local communication ID (32)      4 remote communication ID (32)
///   8 message (2), reserved (6)        9 length of additional information (7), reserved (1)
///  10 reason (16)                     12 additional information (576)
///  84 private data (1184)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 108).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rej<'a> {
    /// The sender's identifier of the connection; 0 if it has none.
    pub local_communication_id: u32,
    /// The receiver's identifier of the connection.
    pub remote_communication_id: u32,
    /// The message that is rejected.
    pub message: AnsweredMessage,
    /// Reserved, 6 bits.
    pub resv6: u8,
    /// Number of valid bytes of [`Self::additional_information`], 7 bits.
    pub information_length: u8,
    /// Reserved, one bit.
    pub resv1: bool,
    /// The reason.
    pub reason: RejectReason,
    /// Information about acceptable values, 72 bytes, in a format that depends on the reason.
    pub additional_information: &'a [u8],
    /// Data of the applications, 148 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Rej<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - PRIVATE_DATA;

    /// Size of the additional information, in bytes; truncated or padded as private data is.
    pub const ADDITIONAL_INFORMATION_LEN: usize = PRIVATE_DATA - INFORMATION;

    pub(super) fn parse(body: &'a Body) -> Self {
        Self {
            local_communication_id: u32::from_be_bytes(get::<0, _, _>(body)),
            remote_communication_id: u32::from_be_bytes(get::<4, _, _>(body)),
            message: AnsweredMessage::from_high_bits(body[8]),
            resv6: body[8] & 0x3f,
            information_length: body[9] >> 1,
            resv1: body[9] & 0x01 != 0,
            reason: RejectReason(u16::from_be_bytes(get::<10, _, _>(body))),
            additional_information: &body[INFORMATION..PRIVATE_DATA],
            private_data: &body[PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.local_communication_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.remote_communication_id.to_be_bytes());
        body[8] = self.message.to_high_bits() | self.resv6 & 0x3f;
        body[9] = self.information_length << 1 | u8::from(self.resv1);
        put::<10, _, _>(&mut body, self.reason.0.to_be_bytes());
        put_padded(&mut body[INFORMATION..PRIVATE_DATA], self.additional_information);
        put_padded(&mut body[PRIVATE_DATA..], self.private_data);
        body
    }
}

const INFORMATION: usize = 12;
const PRIVATE_DATA: usize = 84;

impl fmt::Display for Rej<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local {:#010x}, remote {:#010x}, of {}, reason {}",
            self.local_communication_id, self.remote_communication_id, self.message, self.reason
        )
    }
}

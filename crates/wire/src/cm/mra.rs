//! MRA: message receipt acknowledgement.

use core::fmt;

use super::{BODY_LEN, Body, put_padded};
use crate::bits::{get, put};

/// The message that an MRA acknowledges, or a REJ rejects: 2 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum AnsweredMessage {
    /// A connection request.
    #[default]
    Req = 0,
    /// A connection reply.
    Rep = 1,
    /// Another message: a LAP in an MRA, none in particular in a REJ.
    Other = 2,
    /// The value without a meaning.
    Reserved = 3,
}

impl AnsweredMessage {
    pub(super) const fn from_high_bits(octet: u8) -> Self {
        match octet >> 6 {
            0 => Self::Req,
            1 => Self::Rep,
            2 => Self::Other,
            _ => Self::Reserved,
        }
    }

    pub(super) const fn to_high_bits(self) -> u8 {
        (self as u8) << 6
    }
}

impl fmt::Display for AnsweredMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Req => "REQ",
            Self::Rep => "REP",
            Self::Other => "other",
            Self::Reserved => "reserved",
        })
    }
}

/// Message receipt acknowledgement (MRA): the message has arrived, the answer takes longer.
///
/// ```text
///   0 local communication ID (32)      4 remote communication ID (32)
///   8 message (2), reserved (6)        9 service timeout (5), reserved (3)
///  10 private data (1776)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 107).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mra<'a> {
    /// The sender's identifier of the connection.
    pub local_communication_id: u32,
    /// The receiver's identifier of the connection.
    pub remote_communication_id: u32,
    /// The message that has arrived.
    pub message: AnsweredMessage,
    /// Reserved, 6 bits.
    pub resv6: u8,
    /// How long the answer may take, 5 bits: see [`timeout_ns`](super::timeout_ns).
    pub service_timeout: u8,
    /// Reserved, 3 bits.
    pub resv3: u8,
    /// Data of the applications, 222 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Mra<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - PRIVATE_DATA;

    pub(super) fn parse(body: &'a Body) -> Self {
        Self {
            local_communication_id: u32::from_be_bytes(get::<0, _, _>(body)),
            remote_communication_id: u32::from_be_bytes(get::<4, _, _>(body)),
            message: AnsweredMessage::from_high_bits(body[8]),
            resv6: body[8] & 0x3f,
            service_timeout: body[9] >> 3,
            resv3: body[9] & 0x07,
            private_data: &body[PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.local_communication_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.remote_communication_id.to_be_bytes());
        body[8] = self.message.to_high_bits() | self.resv6 & 0x3f;
        body[9] = self.service_timeout << 3 | self.resv3 & 0x07;
        put_padded(&mut body[PRIVATE_DATA..], self.private_data);
        body
    }
}

const PRIVATE_DATA: usize = 10;

impl fmt::Display for Mra<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local {:#010x}, remote {:#010x}, of {}, service timeout {}",
            self.local_communication_id,
            self.remote_communication_id,
            self.message,
            self.service_timeout
        )
    }
}

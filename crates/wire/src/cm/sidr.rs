//! SIDR_REQ and SIDR_REP: the queue pair of a datagram service.

use core::fmt;

use super::service_id::ServiceId;
use super::{BODY_LEN, Body, put_padded};
use crate::bits::{get, put, u24, u24_to_be_bytes};

/// Service ID resolution request (SIDR_REQ): asks for the UD queue pair of a service.
///
/// ```text
///   0 request ID (32)                  4 partition key (16), reserved (16)
///   8 service ID (64)                 16 private data (1728)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 119).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SidrReq<'a> {
    /// The sender's identifier of the request.
    pub request_id: u32,
    /// Partition key.
    pub p_key: u16,
    /// Reserved, at byte 6.
    pub resv6: u16,
    /// The requested service: see [`service_id`](super::service_id).
    pub service_id: u64,
    /// Data of the applications, 216 bytes: see [`CmaHeader`](super::CmaHeader).
    pub private_data: &'a [u8],
}

impl<'a> SidrReq<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - REQ_PRIVATE_DATA;

    pub(super) fn parse(body: &'a Body) -> Self {
        Self {
            request_id: u32::from_be_bytes(get::<0, _, _>(body)),
            p_key: u16::from_be_bytes(get::<4, _, _>(body)),
            resv6: u16::from_be_bytes(get::<6, _, _>(body)),
            service_id: u64::from_be_bytes(get::<8, _, _>(body)),
            private_data: &body[REQ_PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.request_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.p_key.to_be_bytes());
        put::<6, _, _>(&mut body, self.resv6.to_be_bytes());
        put::<8, _, _>(&mut body, self.service_id.to_be_bytes());
        put_padded(&mut body[REQ_PRIVATE_DATA..], self.private_data);
        body
    }
}

const REQ_PRIVATE_DATA: usize = 16;

impl fmt::Display for SidrReq<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {:#010x}, service {}", self.request_id, ServiceId(self.service_id))
    }
}

/// Service ID resolution reply (SIDR_REP).
///
/// ```text
///   0 request ID (32)                  4 status (8), length of information (8), reserved (16)
///   8 QPN (24), reserved (8)          12 service ID (64)
///  20 Q_Key (32)                      24 additional information (576)
///  96 private data (1088)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 120).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SidrRep<'a> {
    /// The receiver's identifier of its request.
    pub request_id: u32,
    /// 0 if the queue pair is valid, otherwise the reason (Linux `enum ib_cm_sidr_status`): 1
    /// unsupported, 2 rejected, 3 no queue pair, 4 redirected, 5 unsupported version.
    pub status: u8,
    /// Number of valid bytes of [`Self::additional_information`].
    pub information_length: u8,
    /// Reserved, at byte 6.
    pub resv6: u16,
    /// The service's queue pair number, 24 bits.
    pub qpn: u32,
    /// Reserved, at byte 11.
    pub resv11: u8,
    /// The requested service.
    pub service_id: u64,
    /// The service's queue key.
    pub q_key: u32,
    /// 72 bytes in a format that depends on the status.
    pub additional_information: &'a [u8],
    /// Data of the applications, 136 bytes.
    pub private_data: &'a [u8],
}

impl<'a> SidrRep<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - REP_PRIVATE_DATA;

    /// Size of the additional information, in bytes; truncated or padded as private data is.
    pub const ADDITIONAL_INFORMATION_LEN: usize = REP_PRIVATE_DATA - INFORMATION;

    pub(super) fn parse(body: &'a Body) -> Self {
        Self {
            request_id: u32::from_be_bytes(get::<0, _, _>(body)),
            status: body[4],
            information_length: body[5],
            resv6: u16::from_be_bytes(get::<6, _, _>(body)),
            qpn: u24(get::<8, _, _>(body)),
            resv11: body[11],
            service_id: u64::from_be_bytes(get::<12, _, _>(body)),
            q_key: u32::from_be_bytes(get::<20, _, _>(body)),
            additional_information: &body[INFORMATION..REP_PRIVATE_DATA],
            private_data: &body[REP_PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.request_id.to_be_bytes());
        body[4] = self.status;
        body[5] = self.information_length;
        put::<6, _, _>(&mut body, self.resv6.to_be_bytes());
        put::<8, _, _>(&mut body, u24_to_be_bytes(self.qpn));
        body[11] = self.resv11;
        put::<12, _, _>(&mut body, self.service_id.to_be_bytes());
        put::<20, _, _>(&mut body, self.q_key.to_be_bytes());
        put_padded(&mut body[INFORMATION..REP_PRIVATE_DATA], self.additional_information);
        put_padded(&mut body[REP_PRIVATE_DATA..], self.private_data);
        body
    }
}

const INFORMATION: usize = 24;
const REP_PRIVATE_DATA: usize = 96;

impl fmt::Display for SidrRep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "request {:#010x}, status {}, service {}, qpn {:#08x}, q_key {:#010x}",
            self.request_id,
            self.status,
            ServiceId(self.service_id),
            self.qpn,
            self.q_key
        )
    }
}

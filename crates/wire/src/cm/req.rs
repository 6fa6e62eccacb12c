//! REQ: connection request.

use core::fmt;

use super::service_id::ServiceId;
use super::{BODY_LEN, Body, CmPath, put_padded};
use crate::bits::{get, put, u24, u24_to_be_bytes};

/// Connection request (REQ): the offer and the requirements of the active side.
///
/// ```text
///   0 local communication ID (32)      4 reserved (32)
///   8 service ID (64)                 16 local CA GUID (64)
///  24 reserved (32)                   28 local Q_Key (32)
///  32 local QPN (24)                  35 responder resources (8)
///  36 local EECN (24)                 39 initiator depth (8)
///  40 remote EECN (24)                43 remote CM response timeout (5), transport service
///                                        type (2), end-to-end flow control (1)
///  44 starting PSN (24)               47 local CM response timeout (5), retry count (3)
///  48 partition key (16)              50 path MTU (4), RDC exists (1), RNR retry count (3)
///                                     51 max CM retries (4), SRQ (1), extended transport (3)
///  52 primary path (352)              96 alternate path (352)
/// 140 private data (736)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 106).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Req<'a> {
    /// The sender's identifier of the connection.
    pub local_communication_id: u32,
    /// Reserved, at byte 4.
    pub resv4: u32,
    /// The requested service: see [`service_id`](super::service_id).
    pub service_id: u64,
    /// GUID of the sender's channel adapter.
    pub local_ca_guid: u64,
    /// Reserved, at byte 24.
    pub resv24: u32,
    /// The sender's queue key; 0 for connected services.
    pub local_q_key: u32,
    /// The sender's queue pair number, 24 bits.
    pub local_qpn: u32,
    /// READs and atomics that the sender can answer at a time.
    pub responder_resources: u8,
    /// The sender's end-to-end context number (reliable datagram only), 24 bits.
    pub local_eecn: u32,
    /// READs and atomics that the sender wants to have outstanding.
    pub initiator_depth: u8,
    /// The receiver's end-to-end context number (reliable datagram only), 24 bits.
    pub remote_eecn: u32,
    /// The time within which the receiver must answer, 5 bits: see
    /// [`timeout_ns`](super::timeout_ns).
    pub remote_cm_response_timeout: u8,
    /// Transport service, 2 bits: 0 RC, 1 UC, 2 RD, 3 as the extended type says.
    pub transport_service_type: u8,
    /// Whether the sender supports end-to-end flow control.
    pub end_to_end_flow_control: bool,
    /// The PSN with which the **receiver** of this message starts to send, 24 bits: the sender
    /// announces what its responder will expect.
    pub starting_psn: u32,
    /// The time within which the sender will answer, 5 bits: see [`timeout_ns`](super::timeout_ns).
    pub local_cm_response_timeout: u8,
    /// Number of retries of the receiver's queue pair, 3 bits.
    pub retry_count: u8,
    /// Partition key of the connection.
    pub p_key: u16,
    /// Code of the path MTU, 4 bits: 1 to 5 for 256 to 4,096 bytes.
    pub path_mtu: u8,
    /// Reliable datagram only.
    pub rdc_exists: bool,
    /// Number of retries of the receiver's queue pair after RNR NAKs, 3 bits; 7 means no limit.
    pub rnr_retry_count: u8,
    /// Number of retries of a CM message before the sender gives up, 4 bits.
    pub max_cm_retries: u8,
    /// Whether the sender's queue pair has a shared receive queue.
    pub srq: bool,
    /// Extended transport type, 3 bits: 1 for XRC.
    pub extended_transport_type: u8,
    /// The path to use.
    pub primary_path: CmPath,
    /// The path to migrate to, or zeros.
    pub alternate_path: CmPath,
    /// Data of the applications, 92 bytes: see [`CmaHeader`](super::CmaHeader).
    pub private_data: &'a [u8],
}

impl<'a> Req<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - PRIVATE_DATA;

    pub(super) fn parse(body: &'a Body) -> Self {
        let services = body[43];
        let retries = body[47];
        let mtu = body[50];
        let last = body[51];
        Self {
            local_communication_id: u32::from_be_bytes(get::<0, _, _>(body)),
            resv4: u32::from_be_bytes(get::<4, _, _>(body)),
            service_id: u64::from_be_bytes(get::<8, _, _>(body)),
            local_ca_guid: u64::from_be_bytes(get::<16, _, _>(body)),
            resv24: u32::from_be_bytes(get::<24, _, _>(body)),
            local_q_key: u32::from_be_bytes(get::<28, _, _>(body)),
            local_qpn: u24(get::<32, _, _>(body)),
            responder_resources: body[35],
            local_eecn: u24(get::<36, _, _>(body)),
            initiator_depth: body[39],
            remote_eecn: u24(get::<40, _, _>(body)),
            remote_cm_response_timeout: services >> 3,
            transport_service_type: services >> 1 & 0x03,
            end_to_end_flow_control: services & 0x01 != 0,
            starting_psn: u24(get::<44, _, _>(body)),
            local_cm_response_timeout: retries >> 3,
            retry_count: retries & 0x07,
            p_key: u16::from_be_bytes(get::<48, _, _>(body)),
            path_mtu: mtu >> 4,
            rdc_exists: mtu & 0x08 != 0,
            rnr_retry_count: mtu & 0x07,
            max_cm_retries: last >> 4,
            srq: last & 0x08 != 0,
            extended_transport_type: last & 0x07,
            primary_path: CmPath::from_bytes(&get::<PRIMARY, _, _>(body)),
            alternate_path: CmPath::from_bytes(&get::<ALTERNATE, _, _>(body)),
            private_data: &body[PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.local_communication_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.resv4.to_be_bytes());
        put::<8, _, _>(&mut body, self.service_id.to_be_bytes());
        put::<16, _, _>(&mut body, self.local_ca_guid.to_be_bytes());
        put::<24, _, _>(&mut body, self.resv24.to_be_bytes());
        put::<28, _, _>(&mut body, self.local_q_key.to_be_bytes());
        put::<32, _, _>(&mut body, u24_to_be_bytes(self.local_qpn));
        body[35] = self.responder_resources;
        put::<36, _, _>(&mut body, u24_to_be_bytes(self.local_eecn));
        body[39] = self.initiator_depth;
        put::<40, _, _>(&mut body, u24_to_be_bytes(self.remote_eecn));
        body[43] = self.remote_cm_response_timeout << 3
            | (self.transport_service_type & 0x03) << 1
            | u8::from(self.end_to_end_flow_control);
        put::<44, _, _>(&mut body, u24_to_be_bytes(self.starting_psn));
        body[47] = self.local_cm_response_timeout << 3 | self.retry_count & 0x07;
        put::<48, _, _>(&mut body, self.p_key.to_be_bytes());
        body[50] =
            self.path_mtu << 4 | u8::from(self.rdc_exists) << 3 | self.rnr_retry_count & 0x07;
        body[51] = self.max_cm_retries << 4
            | u8::from(self.srq) << 3
            | self.extended_transport_type & 0x07;
        put::<PRIMARY, _, _>(&mut body, self.primary_path.to_bytes());
        put::<ALTERNATE, _, _>(&mut body, self.alternate_path.to_bytes());
        put_padded(&mut body[PRIVATE_DATA..], self.private_data);
        body
    }
}

const PRIMARY: usize = 52;
const ALTERNATE: usize = PRIMARY + CmPath::LEN;
const PRIVATE_DATA: usize = ALTERNATE + CmPath::LEN;

impl fmt::Display for Req<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local {:#010x}, service {}, qpn {:#08x}, starting psn {}, mtu code {}, retry {}, \
             rnr retry {}, resources {}, depth {}, cm timeout {}, cm retries {}, {}",
            self.local_communication_id,
            ServiceId(self.service_id),
            self.local_qpn,
            self.starting_psn,
            self.path_mtu,
            self.retry_count,
            self.rnr_retry_count,
            self.responder_resources,
            self.initiator_depth,
            self.remote_cm_response_timeout,
            self.max_cm_retries,
            self.primary_path,
        )
    }
}

//! REP: connection reply.

use core::fmt;

use super::{BODY_LEN, Body, put_padded};
use crate::bits::{get, put, u24, u24_to_be_bytes};

/// Connection reply (REP): the passive side accepts.
///
/// ```text
///   0 local communication ID (32)      4 remote communication ID (32)
///   8 local Q_Key (32)                12 local QPN (24), reserved (8)
///  16 local EECN (24), reserved (8)   20 starting PSN (24), reserved (8)
///  24 responder resources (8)         25 initiator depth (8)
///  26 target ACK delay (5), failover accepted (2), end-to-end flow control (1)
///  27 RNR retry count (3), SRQ (1), reserved (4)
///  28 local CA GUID (64)              36 private data (1568)
/// ```
///
/// Byte offsets after the header of the MAD, widths in bits; layout: Linux
/// `include/rdma/ibta_vol1_c12.h` (IBTA table 110).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rep<'a> {
    /// The sender's identifier of the connection.
    pub local_communication_id: u32,
    /// The receiver's identifier of the connection.
    pub remote_communication_id: u32,
    /// The sender's queue key; 0 for connected services.
    pub local_q_key: u32,
    /// The sender's queue pair number, 24 bits.
    pub local_qpn: u32,
    /// Reserved, at byte 15.
    pub resv15: u8,
    /// The sender's end-to-end context number (reliable datagram only), 24 bits.
    pub local_eecn: u32,
    /// Reserved, at byte 19.
    pub resv19: u8,
    /// The PSN with which the **receiver** of this message starts to send, 24 bits.
    pub starting_psn: u32,
    /// Reserved, at byte 23.
    pub resv23: u8,
    /// READs and atomics that the sender can answer at a time.
    pub responder_resources: u8,
    /// READs and atomics that the sender will have outstanding.
    pub initiator_depth: u8,
    /// The time that the sender's adapter takes for an ACK, 5 bits: 4.096 us x 2^n.
    pub target_ack_delay: u8,
    /// Whether the alternate path was accepted, 2 bits: 0 if it was.
    pub failover_accepted: u8,
    /// Whether the sender supports end-to-end flow control.
    pub end_to_end_flow_control: bool,
    /// Number of retries of the receiver's queue pair after RNR NAKs, 3 bits; 7 means no limit.
    pub rnr_retry_count: u8,
    /// Whether the sender's queue pair has a shared receive queue.
    pub srq: bool,
    /// Reserved, 4 bits.
    pub resv4: u8,
    /// GUID of the sender's channel adapter.
    pub local_ca_guid: u64,
    /// Data of the applications, 196 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Rep<'a> {
    /// Size of the private data, in bytes: longer data is truncated, shorter data is padded with zeros.
    pub const PRIVATE_DATA_LEN: usize = BODY_LEN - PRIVATE_DATA;

    pub(super) fn parse(body: &'a Body) -> Self {
        let delay = body[26];
        let retries = body[27];
        Self {
            local_communication_id: u32::from_be_bytes(get::<0, _, _>(body)),
            remote_communication_id: u32::from_be_bytes(get::<4, _, _>(body)),
            local_q_key: u32::from_be_bytes(get::<8, _, _>(body)),
            local_qpn: u24(get::<12, _, _>(body)),
            resv15: body[15],
            local_eecn: u24(get::<16, _, _>(body)),
            resv19: body[19],
            starting_psn: u24(get::<20, _, _>(body)),
            resv23: body[23],
            responder_resources: body[24],
            initiator_depth: body[25],
            target_ack_delay: delay >> 3,
            failover_accepted: delay >> 1 & 0x03,
            end_to_end_flow_control: delay & 0x01 != 0,
            rnr_retry_count: retries >> 5,
            srq: retries & 0x10 != 0,
            resv4: retries & 0x0f,
            local_ca_guid: u64::from_be_bytes(get::<28, _, _>(body)),
            private_data: &body[PRIVATE_DATA..],
        }
    }

    pub(super) fn to_bytes(self) -> Body {
        let mut body = [0; BODY_LEN];
        put::<0, _, _>(&mut body, self.local_communication_id.to_be_bytes());
        put::<4, _, _>(&mut body, self.remote_communication_id.to_be_bytes());
        put::<8, _, _>(&mut body, self.local_q_key.to_be_bytes());
        put::<12, _, _>(&mut body, u24_to_be_bytes(self.local_qpn));
        body[15] = self.resv15;
        put::<16, _, _>(&mut body, u24_to_be_bytes(self.local_eecn));
        body[19] = self.resv19;
        put::<20, _, _>(&mut body, u24_to_be_bytes(self.starting_psn));
        body[23] = self.resv23;
        body[24] = self.responder_resources;
        body[25] = self.initiator_depth;
        body[26] = self.target_ack_delay << 3
            | (self.failover_accepted & 0x03) << 1
            | u8::from(self.end_to_end_flow_control);
        body[27] = self.rnr_retry_count << 5 | u8::from(self.srq) << 4 | self.resv4 & 0x0f;
        put::<28, _, _>(&mut body, self.local_ca_guid.to_be_bytes());
        put_padded(&mut body[PRIVATE_DATA..], self.private_data);
        body
    }
}

const PRIVATE_DATA: usize = 36;

impl fmt::Display for Rep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local {:#010x}, remote {:#010x}, qpn {:#08x}, starting psn {}, rnr retry {}, \
             resources {}, depth {}, ack delay {}",
            self.local_communication_id,
            self.remote_communication_id,
            self.local_qpn,
            self.starting_psn,
            self.rnr_retry_count,
            self.responder_resources,
            self.initiator_depth,
            self.target_ack_delay,
        )
    }
}

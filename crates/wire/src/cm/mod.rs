//! Communication management (CM): the datagrams that set up and take down connections.
//!
//! Two hosts agree on a connection by management datagrams (MADs) of 256 bytes between their
//! queue pairs 1, each the payload of a UD SEND_ONLY with the queue key
//! [`Deth::GSI_Q_KEY`](crate::Deth::GSI_Q_KEY): a 24-byte [`MadHeader`], then a [`CmMessage`].
//!
//! ```text
//! active side                        passive side
//!     | -- REQ -------------------------> |   "my queue pair, and the PSN you shall begin with"
//!     | <------------------------- REP -- |   the same the other way round (or REJ, or MRA)
//!     | -- RTU -------------------------> |   ready to use
//!     |              ...                  |
//!     | -- DREQ ------------------------> |   either side may begin to disconnect
//!     | <------------------------ DREP -- |
//! ```
//!
//! What applications see as an IP address and a port travels in the private data of the REQ, behind
//! a 36-byte [`CmaHeader`], and in its service ID ([`service_id`]).
//!
//! Layouts: Linux `include/rdma/ibta_vol1_c12.h` (which names the tables of IBTA volume 1,
//! chapter 12), `drivers/infiniband/core/cm_msgs.h` and `cma.c`; checked against Soft-RoCE, whose
//! frames the crate's tests hold.
//!
//! # Example
//!
//! ```
//! use rocelab_wire::cm::{CmMessage, Mad, Rtu};
//!
//! let rtu = Rtu { local_communication_id: 7, remote_communication_id: 9, private_data: &[] };
//! let bytes = Mad::new(0x2_0000_0007, CmMessage::Rtu(rtu)).to_bytes();
//! let mad = Mad::parse(&bytes)?;
//! assert_eq!(mad.to_string(), "CM RTU tid 0x0000000200000007, local 0x00000007, remote 0x00000009");
//! # Ok::<(), rocelab_wire::ParseError>(())
//! ```

mod attribute;
mod cma_header;
mod disconnect;
mod mad;
mod mad_header;
mod message;
mod mra;
mod path;
mod rej;
mod reject_reason;
mod rep;
mod req;
mod rtu;
mod service_id;
mod sidr;
#[cfg(test)]
mod tests;

pub use attribute::CmAttribute;
pub use cma_header::CmaHeader;
pub use disconnect::{Drep, Dreq};
pub use mad::Mad;
pub use mad_header::MadHeader;
pub use message::CmMessage;
pub use mra::{AnsweredMessage, Mra};
pub use path::CmPath;
pub use rej::Rej;
pub use reject_reason::RejectReason;
pub use rep::Rep;
pub use req::Req;
pub use rtu::Rtu;
pub use service_id::{TCP_PORT_SPACE, UDP_PORT_SPACE, ip_service, service_id};
pub use sidr::{SidrRep, SidrReq};

/// The queue pair number of the general services interface, to which all CM messages go.
pub const GSI_QPN: u32 = 1;

/// Length of a management datagram, in bytes.
pub const MAD_LEN: usize = 256;

/// Bytes behind the common header of a MAD: one CM message.
const BODY_LEN: usize = MAD_LEN - MadHeader::LEN;

/// One CM message with everything reserved and private.
type Body = [u8; BODY_LEN];

/// The time that a 5-bit CM timeout stands for, in ns: 4.096 us x 2^code.
///
/// Only the low five bits of `code` count: it is 4,096 ns for 0 and 2.4 hours for 31. Linux
/// (`cm_convert_to_ms` in `drivers/infiniband/core/cm.c`) rounds 4.096 us x 2^8 down to 1 ms.
#[must_use]
pub const fn timeout_ns(code: u8) -> u64 {
    4_096 << (code & 0x1f)
}

/// Writes `data` at the start of a field of fixed length: cut if it is longer, zeros behind it if
/// it is shorter.
fn put_padded(field: &mut [u8], data: &[u8]) {
    field.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
}

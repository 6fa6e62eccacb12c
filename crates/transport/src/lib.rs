//! The RDMA end host, sans-IO: it reads no clock and owns no socket, no event queue and no file.
//!
//! A [`Nic`] holds [`QueuePair`]s of reliable connections and is driven by four verbs.
//! [`Nic::receive`] hands it a packet, [`Nic::poll_transmit`] asks it for the next one,
//! [`Nic::poll_timeout`] and [`Nic::next_release`] say when it next wants to be woken and
//! [`Nic::handle_timeout`] wakes it. Work enters through [`Nic::post_send`], results leave through
//! [`Nic::poll_completion`]. Spurious calls of any of them are harmless.
//!
//! From the wire upwards:
//!
//! - [`Packet`]: the header words of one packet, 28 bytes; payload is only a length.
//! - A queue pair's *requester* cuts work into packets, and completes it on acknowledgements; its
//!   *responder* answers with acknowledgements and read data. Packet sequence numbers are 24 bits
//!   on the wire and 64 bits inside.
//! - [`Recovery`]: what is sent again after a loss; one scheme a file.
//! - [`congestion_control`]: how fast; one algorithm a file and one line in a list.
//! - The NIC arbitrates: acknowledgements and notifications first, then round robin among the
//!   queue pairs that have something to send, window and pacing credit.
//!
//! What is not modelled: memory protection (every remote access is allowed), receive queues (a
//! SEND always finds a buffer, so no RNR NAK is made), a limit of outstanding READs, atomics.

pub mod cm;
mod config;
pub mod congestion_control;
mod counters;
pub mod hpcc_ns3;
mod nic;
mod packet;
mod queue_pair;
mod recovery;
mod sequence;
mod work;

pub use config::{AckTimeout, NicConfig, PathMtu, QueuePairConfig, QueuePairProfile};
pub use congestion_control::Algorithm;
pub use counters::{Counters, Traffic};
pub use nic::{FIRST_QPN, Nic};
pub use packet::{Packet, Transmit};
pub use queue_pair::{QueuePair, QueuePairState};
pub use recovery::Recovery;
pub use work::{
    Completion, CompletionStatus, MAX_MESSAGE_LENGTH, Operation, PostError, WorkRequest,
};

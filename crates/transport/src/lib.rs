//! The RDMA end host, sans-IO: it reads no clock and owns no socket, queue or file.
//!
//! A [`Nic`] is driven by four verbs. [`Nic::receive`] hands it a packet, [`Nic::poll_transmit`]
//! asks it for the next one, [`Nic::poll_timeout`] says when it next wants to be woken and
//! [`Nic::handle_timeout`] wakes it. Results leave through [`Nic::poll_completion`].

mod config;
pub mod congestion_control;
mod recovery;

pub use config::{AckTimeout, PathMtu, QueuePairConfig, QueuePairProfile};
pub use congestion_control::Algorithm;
pub use recovery::Recovery;

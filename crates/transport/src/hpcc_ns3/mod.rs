//! The end host of HPCC's ns-3 simulator (github `alibaba-edu/High-Precision-Congestion-Control`),
//! for runs that must give that simulator's numbers.
//!
//! It differs from the InfiniBand transport of the rest of this crate in what a sequence number
//! is, and therefore in almost all that follows from it; what they share is the congestion
//! control: both drive the same controllers ([`crate::congestion_control`]).
//!
//! - A flow is a queue pair, and a sequence number counts its payload bytes. There are no verbs,
//!   no messages, no timeout.
//! - [`Receiver`]: one ACK per packet in order, a NACK at most every 500 us for the same gap,
//!   silence for duplicates. The echo of ECN marks is a flag of ACK and NACK.
//! - [`Sender`]: go back to the byte that is asked for, or to the start of its chunk.
//! - [`Nic`]: which packet leaves next, and when it tries again. Queue pairs are scanned in a
//!   ring; one that is full up to its window can keep others waiting.
//!
//! Events of one instant happen in the order in which they were scheduled, so every timer is
//! armed with a place in that order, its *tie*, which the owner hands out.

mod answers;
mod config;
mod flow;
mod nic;
mod packet;
mod receiver;
mod ring;
mod sender;
mod timers;

pub use config::{Config, Overheads, can_drive, carries};
pub use flow::{Flow, FlowEnd};
pub use nic::{Host, Nic};
pub use packet::{Departure, Kind, Packet};
pub use receiver::Receiver;
pub use sender::Sender;

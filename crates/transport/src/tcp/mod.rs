//! TCP beside RDMA, sans-IO: connections that carry data one way, and the stack around them.
//!
//! A [`TcpHost`] holds the ends of all connections of a host and is driven as a
//! [`Nic`](crate::Nic) is: [`receive`](TcpHost::receive), [`poll_transmit`](TcpHost::poll_transmit),
//! [`poll_timeout`](TcpHost::poll_timeout) and [`handle_timeout`](TcpHost::handle_timeout). Data
//! enters through [`post_send`](TcpHost::post_send) and leaves as completions.
//!
//! From the wire upwards:
//!
//! - [`TcpSegment`]: the header words of one segment, 20 bytes; payload is only a length.
//!   [`SackBlocks`] travel beside it.
//! - The stack: a delay between wire and protocol in each direction, with jitter.
//! - [`TcpSender`]: slow start, fast retransmit and recovery by selective acknowledgements (RFC
//!   6675), retransmission timeout (RFC 6298), restart after idle time (RFC 5681), ECN (RFC 3168).
//!   Sequence numbers are 32 bits on the wire and 64 bits inside.
//! - [`TcpReceiver`]: delayed and selective acknowledgements (RFC 5681, RFC 2018), echo of marks.
//! - [`congestion_control`]: how large the window is; one algorithm a file and one line in a list.
//!
//! Connections exist from the start, as if opened long ago: no segment opens or closes them, and
//! both ends know that SACK, window scaling and, where the parameters ask for it, ECN are used.
//!
//! What is not modelled: handshake and closing, data both ways, the timestamps option (so that
//! round-trip times are measured once a round trip, and not of what was sent twice), a receiver
//! that reads slowly, Nagle's algorithm and corking, tail loss probes and RACK (RFC 8985),
//! proportional rate reduction (RFC 6937), undoing of what was not congestion (F-RTO, D-SACK), HyStart, pacing,
//! and offloads that put segments together.

pub mod congestion_control;
mod connection;
mod counters;
mod host;
mod parameters;
mod queue;
mod ranges;
mod receiver;
mod recent;
mod rtt;
mod sack;
mod scoreboard;
mod segment;
mod segment_template;
mod sender;
mod sequence;
mod stack;
mod standing;
mod timers;

pub use congestion_control::TcpAlgorithm;
pub use connection::{TcpConnection, TcpEnd};
pub use counters::TcpCounters;
pub use host::{TcpCompletion, TcpHost, TcpPostError, TcpTransmit};
pub use parameters::{TcpConnectionConfig, TcpHostConfig, TcpParameters, TcpRole};
pub use receiver::TcpReceiver;
pub use sack::SackBlocks;
pub use segment::{TCP_HEADER_LEN, TcpFlags, TcpSegment, window_shift};
pub use sender::TcpSender;
pub use standing::{TcpLosses, TcpStanding};

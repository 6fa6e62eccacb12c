//! Connections: the packets of a capture, by queue pair and direction.
//!
//! A RoCE packet contains only the number of the destination queue pair. A *flow* is therefore all
//! packets from one address to one queue pair at another address, on one captured interface. The
//! flow of the other direction, its *peer*, is found from the answers: see [`pairing`].

mod counters;
mod coverage;
mod damaged;
mod direction;
mod key;
mod missing;
mod mtu;
mod novelty;
mod pairing;
mod position;
mod requests;
mod responses;
mod span;
mod table;

pub use counters::FlowCounters;
pub(crate) use coverage::SharedAddresses;
pub use direction::{Connection, Flow};
pub use key::FlowKey;
pub(crate) use table::Seen;
pub use table::{FlowTable, MAX_FLOWS};

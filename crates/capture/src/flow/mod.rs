//! Who talks to whom: the packets of a capture, by queue pair and direction.
//!
//! All that a RoCE packet says of its queue pairs is the number of the one that it goes to. A
//! *flow* is therefore what goes from one address to a queue pair at another, on one captured
//! interface. The flow of the other direction, its *peer*, is found by the answers: see
//! [`pairing`].

mod counters;
mod direction;
mod judgement;
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
pub use direction::{Connection, Flow};
pub(crate) use judgement::Owners;
pub use key::FlowKey;
pub(crate) use table::Seen;
pub use table::{FlowTable, MAX_FLOWS};

//! One end of a connection, or a queue pair for datagrams.

mod checkpoint;
mod looking;
mod message;
mod migration;
mod outstanding_work;
mod pacer;
mod pair;
mod receiving;
mod requester;
mod responder;
mod sending;
mod standing;
mod state;
mod unreliable;

pub use self::outstanding_work::OutstandingWork;
pub use self::pair::QueuePair;
pub(crate) use self::pair::Schedule;
pub use self::standing::Standing;
pub use self::state::{QueuePairState, StateError};

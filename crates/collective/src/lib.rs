//! Collective operations as schedules: which rank sends what to whom, and after what.
//!
//! A [`Collective`] says what is to be done: a [`Kind`], a number of ranks and bytes. An [`Algorithm`] makes a
//! [`Schedule`] of it: for each rank, lanes of steps, each of which first receives and then sends. A schedule is a
//! generator: it computes a step when it is asked, and stores nothing per message.
//!
//! ```
//! use rocelab_collective::{Algorithm, Collective, Kind, Options, Step};
//!
//! let collective = Collective::new(Kind::AllReduce, 4, 1 << 20)?;
//! let schedule = Algorithm::Ring.schedule(&collective, &Options::default())?;
//! let mut step = Step::default();
//! schedule.step(0, 0, 0, &mut step);
//! assert_eq!((step.sends[0].peer, step.sends[0].bytes), (1, 1 << 18));
//! # Ok::<(), rocelab_collective::Error>(())
//! ```

mod algorithm;
mod auto;
mod block;
mod bound;
mod check;
mod collective;
mod contents;
mod division;
mod error;
mod exchange;
mod expected;
mod options;
mod pattern;
mod protocol;
mod rings;
mod schedule;
mod servers;

pub use algorithm::Algorithm;
pub use auto::{Choice, Cluster, Estimate, Generation, choose};
pub use check::{Checked, Fault, Posted, check, execute};
pub use collective::{Collective, Kind, Matrix};
pub use error::Error;
pub use expected::{Expected, expected};
pub use options::Options;
pub use protocol::{Cut, Protocol};
pub use rings::rail_rings;
pub use schedule::{Memory, Message, Operation, Piece, Schedule, Step};

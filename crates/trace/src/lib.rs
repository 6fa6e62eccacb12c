//! Traces of AI workloads: readers, one form for all of them, checks, and an executor.
//!
//! | what | read by | written by |
//! |---|---|---|
//! | Chakra execution traces, a file for each rank | [`chakra`] | |
//! | GOAL, text and binary | [`goal`] | [`goal`] |
//! | workload and topology files of SimAI | [`simai`] | |
//! | tables of nccl-tests | [`nccl_tests`] | [`nccl_tests`] |
//!
//! All workloads become a [`Trace`]: a graph of operations for each rank. [`check`] compares the ranks, [`summary`] counts,
//! [`Scheduler`] says what a rank begins next, and [`Executor`] runs all ranks over a [`Network`]. [`loggops`] runs
//! them by the rules of the LogGOPS model instead.
//!
//! The crate has no network and no clock: bytes and paths go in, data comes out.

mod builder;
pub mod chakra;
pub mod check;
mod collective;
mod error;
mod executor;
mod expand;
pub mod goal;
mod graph;
pub mod loggops;
mod matching;
pub mod nccl_tests;
mod readable;
mod scan;
mod scheduler;
pub mod simai;
mod source;
pub mod summary;
mod trace;

pub use builder::{RankBuilder, Reference};
pub use collective::CollectiveKind;
pub use error::{Place, TraceError};
pub use executor::{Event, Executor, Join, Message, Network, Row, Rules, Stall};
pub use expand::{Algorithm, expand};
pub use graph::{ANY, Engine, Label, Node, Operation, RankGraph};
pub use matching::{Matched, Matching};
pub use readable::to_json;
pub use scheduler::{Scheduler, Slots};
pub use source::Source;
pub use trace::{Group, Options, Trace, WORLD};

//! Congestion controls that users write, as WebAssembly modules.
//!
//! A module (the *guest*) is called for what happens to a queue pair, and answers with a rate, a window and timers. What it
//! is told and answers lies in one [block] of its memory. It keeps nothing between two calls: the state of each queue
//! pair is a part of the block that the host copies in and out, so that a run can be cut into parts, moved between threads
//! and saved. A module that keeps something in a place of its own is refused as it is loaded.
//!
//! Modules have no imports, and so no clock, no files and no random numbers. Each call has a limit of instructions. What NaN
//! looks like is the same on every machine.

pub mod answers;
pub mod block;
pub mod control;
pub mod event;
pub mod fault;
pub mod input;
pub mod metadata;
mod values;

#[cfg(feature = "runtime")]
mod algorithm;
#[cfg(feature = "runtime")]
mod bound;
#[cfg(feature = "runtime")]
mod check;
#[cfg(feature = "runtime")]
mod code;
#[cfg(feature = "runtime")]
mod engine;
#[cfg(feature = "runtime")]
mod file;
#[cfg(feature = "runtime")]
mod instance;
#[cfg(feature = "runtime")]
mod memory;
#[cfg(feature = "runtime")]
mod module;
#[cfg(feature = "runtime")]
mod nan;
#[cfg(feature = "runtime")]
mod queue_pair;
#[cfg(feature = "runtime")]
mod replay;

#[cfg(feature = "runtime")]
pub use algorithm::GuestAlgorithm;
pub use answers::Answers;
#[cfg(feature = "runtime")]
pub use check::{Finding, Findings, check};
pub use fault::Cause;
#[cfg(feature = "runtime")]
pub use file::read;
#[cfg(feature = "runtime")]
pub use module::{GuestModule, LoadError, MOST_MODULE};
#[cfg(feature = "runtime")]
pub use replay::{Replay, ReplayAnswer, ReplayError, ReplayEvent};
pub use values::{InvalidValue, values};

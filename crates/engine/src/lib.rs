//! Runs events in order; knows no networking.

mod random;

pub use random::RngStream;

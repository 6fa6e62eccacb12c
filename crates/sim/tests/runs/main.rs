//! Whole runs: what is in their files.

mod golden;
mod goodput;
mod link_down;
mod sampling;

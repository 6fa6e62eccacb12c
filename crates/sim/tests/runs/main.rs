//! Whole runs: what is in their files.

mod flow_counters;
mod golden;
mod goodput;
mod link_down;
mod memory;
mod sampling;

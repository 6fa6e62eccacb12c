//! Whole runs: what is in their files.

mod flow_counters;
mod golden;
mod goodput;
mod labels;
mod link_down;
mod measure;
mod memory;
mod sampling;

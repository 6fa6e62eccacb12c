//! Where a flow's time went, and why nothing moves any more.

mod address_resolution;
mod causes;
mod deadlocks;
mod load_balancing;
mod multicast;
mod scenarios;
mod shapers;
mod stalls;
mod tcp;
mod trace;
mod unfinished;
mod variants;
mod victims;

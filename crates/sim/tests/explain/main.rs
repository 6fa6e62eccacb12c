//! Where a flow's time went, and why nothing moves any more.

mod scenarios;
mod stalls;
mod trace;
mod variants;
mod victims;

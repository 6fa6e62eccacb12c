//! Where a flow's time went.

mod scenarios;
mod variants;

//! Fault rules: each action and each selector through a scenario, with exact counts, and the bytes
//! of captures, which the simulator's own packets do not have.

mod accounting;
mod actions;
mod corruption;
mod documentation;
mod holding;
mod identification;
mod links;
mod random;
mod results;
mod selectors;
mod support;

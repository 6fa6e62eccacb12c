//! Scenarios: what they become, and what is wrong with those that become nothing.

mod errors;
mod plans;
mod reference_config;
mod selections;

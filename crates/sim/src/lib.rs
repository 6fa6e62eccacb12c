//! Puts the cores together: scenario, plan, network, workloads, measurement.

mod plan;
pub mod scenario;
pub mod workload;

pub use plan::*;
pub use scenario::{Scenario, ScenarioError};

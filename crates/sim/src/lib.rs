//! Puts the cores together: scenario, plan, network, workloads, measurement.

mod address;
mod ideal;
pub mod network;
mod output;
mod plan;
pub mod scenario;
mod simulation;
mod topology_map;
pub mod workload;

pub use ideal::{UnloadedNetwork, ideal_fct};
pub use network::Network;
pub use output::{Outcome, RunError, run};
pub use plan::*;
pub use scenario::{Scenario, ScenarioError};
pub use simulation::{Ending, Progress, Simulation};
pub use topology_map::topology_map;

//! From a [`Scenario`] to a [`Plan`]: defaults, checks, names to numbers.

mod addresses;
mod algorithms;
mod applications;
mod buffer;
mod build;
mod checks;
mod congestion_points;
mod connection_timers;
mod connections;
mod controls;
mod default_sampling;
mod endless_tcp;
mod failures;
mod faults;
mod forward_marks;
mod hop_limit;
mod host_models;
mod hpcc_ns3;
mod ineffective;
mod infiniband;
mod infiniband_files;
mod ingress;
mod integrity;
mod keys;
mod known_hosts;
mod layer2;
mod layer3;
mod links;
mod markings;
mod measure;
mod monitoring;
mod multicast;
mod neighbours;
mod numbering;
mod nvlink;
mod of_ethernet;
mod path_bits;
mod ports;
mod priority;
mod receivers;
mod resolve;
mod sampling;
mod service;
mod settings;
mod static_routes;
mod streams;
mod switches;
mod tcp;
mod telemetry;
mod topology;
mod unanswered;
mod unfollowed;
mod ways;

pub use self::build::MAX_FLOWS;
pub(crate) use self::resolve::default_ecn;
pub use self::settings::{DefaultValue, Setting, settings};
use crate::plan::Plan;
use crate::scenario::{Scenario, ScenarioError};

/// What becomes of a scenario.
pub trait Planning {
    /// What will run.
    ///
    /// # Errors
    /// The first thing that is wrong, in the order: plain values, topology, layer 2, captures and
    /// samples, workloads, faults, buffer. Of plain values, [`ScenarioError::all`] has what is wrong in each part.
    fn plan(&self) -> Result<Plan, ScenarioError> {
        self.plan_within(MAX_FLOWS)
    }

    /// Like [`Planning::plan`], but refuses more than `max_flows` flows.
    ///
    /// # Errors
    /// As [`Planning::plan`].
    fn plan_within(&self, max_flows: usize) -> Result<Plan, ScenarioError>;

    /// The scenario with every default filled in: what it says is what runs, and reading it again
    /// gives the same plan.
    ///
    /// What follows from the longest path in use (`max_outstanding` of selective repeat) is filled
    /// in where the scenario has a plan.
    #[must_use]
    fn resolved(&self) -> Self;

    /// What the scenario says to no effect, of which `plan` was made: what happens after the end,
    /// watchdogs that see nothing, thresholds that others stand in for, empty lists, classes of no flow;
    /// TCP that never gives up; and connections that give up too early. In the form of errors, which name the place and say what to write instead. Of
    /// what a configuration of HPCC's ns-3 simulator was made into, nothing.
    fn without_effect(&self, plan: &Plan) -> Vec<ScenarioError>;
}

impl Planning for Scenario {
    fn plan_within(&self, max_flows: usize) -> Result<Plan, ScenarioError> {
        build::plan_within(self, max_flows)
    }

    fn resolved(&self) -> Self {
        resolve::resolved(self)
    }

    fn without_effect(&self, plan: &Plan) -> Vec<ScenarioError> {
        ineffective::without_effect(self, plan)
    }
}

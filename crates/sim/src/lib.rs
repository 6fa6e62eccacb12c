//! Puts the cores together: text to a plan, a plan to a network, a network to results.
//!
//! 1. [`Scenario`] is what the user wrote; [`Planning::plan`] finds everything that is wrong with
//!    it and gives a [`Plan`], which can run.
//! 2. [`Simulation`] makes a [`Network`] of the plan and runs its events. The network alone
//!    schedules, owns packets and keeps records; hosts (`rocelab-transport`) and switches
//!    (`rocelab-fabric`) only say what became of a frame.
//! 3. [`run`] does both and streams the records into a results directory.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use rocelab_sim::{Ending, Planning, Scenario, Simulation};
//!
//! let text = r#"
//!     [topology.single-switch]
//!     hosts = 3
//!     link = { rate = "100Gbps", cable = "3m" }
//!
//!     [workload.incast]
//!     senders = 2
//!     bytes = "1MB"
//! "#;
//! let plan = Scenario::parse(text, Path::new("two-to-one.toml"), &[])?.plan()?;
//! let mut simulation: Simulation = Simulation::new(Arc::new(plan))?;
//! assert_eq!(simulation.run_to_end(), Ending::Finished);
//! let totals = simulation.network().totals(simulation.now());
//! assert_eq!(totals.frames_dropped, 0);
//! println!("{} link traversals in {}", totals.traversals.total(), simulation.now());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod explain;
mod frozen;
mod gid_tables;
mod ideal;
pub mod network;
mod output;
mod pause_tree;
mod plan;
mod planning;
pub mod profile;
pub mod proof;
pub mod ranks;
mod record;
mod simulation;
mod stall;
mod topology_map;
pub mod workload;

pub use gid_tables::gid_tables;
pub use ideal::{UnloadedNetwork, ideal_fct};
pub use network::{Cut, Network};
pub use output::{
    Before, FailedControl, Observer, Outcome, RunError, branch, fits, follow, lead, resume, run,
    run_in_parts, run_with_checkpoints, store_scenario,
};
pub use plan::{
    CapturePlan, CmPlan, ConnectionEndPlan, ConnectionPlan, FailureChange, FailurePlan,
    FailureStep, FaultAction, FaultChoice, FaultRule, FlowPlan, FlowSamplingPlan, FrameSelector,
    HostModel, HpccNs3Plan, InfiniBandPlan, InfiniBandPorts, IngressPlan, LinkDown, LinkPlan,
    LinkPlans, Markings, MeasurePlan, MonitoringPlan, MulticastGroup, MulticastPlan,
    MulticastSending, NeighbourPlan, NvlinkDomain, NvlinkPlan, OpcodeSet, PartitionChoice,
    Partitions, PingRules, PingingHost, Plan, PortSamplingPlan, ProfilePlan, QueueMonitor,
    QueuePairKeys, RateThresholds, RocePlan, RoutedSubnet, SamplingPlan, SlowReceiver, StreamPlan,
    StreamsPlan, SubnetManagerPlan, SwitchOverrides, TcpPlan, WorkloadsPlan, subnet_topology,
};
pub use planning::{DefaultValue, MAX_FLOWS, Planning, Setting, settings};
pub use rocelab_scenario as scenario;
use rocelab_scenario::address;
pub use rocelab_scenario::reference;
pub use scenario::{CaptureFormat, Scenario, ScenarioError, Side, Verb};
pub use simulation::{Compiled, Ending, Execution, Progress, Simulation, WholeNetwork};
pub use topology_map::topology_map;
pub use workload::{
    AppPlan, MAX_MESSAGE_BYTES, OperationKind, ProgramPlan, StepPlan, StepVerb, WorkloadLabels,
};

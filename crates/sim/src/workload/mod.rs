//! Workloads: what is sent, by whom, to whom and when.
//!
//! A workload is one file beside this one, with its `Parameters` (the keys of `[workload.NAME]`)
//! and their `Workload` implementation, and one line in the list at the end of this file.

pub mod app;
mod distribution;
mod flow_table;
pub mod flows;
pub mod incast;
pub mod permutation;
pub mod ping_pong;
pub mod poisson;
mod reference;
mod rules;
pub mod storage;

use std::path::{Path, PathBuf};

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_transport::Algorithm;
use rocelab_units::{Bandwidth, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use app::App;
pub use distribution::{DistributionSource, SizeDistribution};
pub(crate) use rules::FlowRules;

use crate::plan::{HostDirectory, Verb};
use crate::scenario::{Fault, Items, Transport, ensure};

/// Makes flows, or an application. Implemented by the `Parameters` of each workload.
pub(crate) trait Workload {
    /// The flows, in the order of the scenario's text.
    fn flows(&self, _site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        Ok(Vec::new())
    }

    /// The application, where hosts answer each other.
    fn app(&self, _site: &Site<'_>) -> Result<Option<App>, Fault> {
        Ok(None)
    }

    /// What carries its flows.
    fn transport(&self) -> Transport {
        Transport::Rdma
    }

    /// How its flows react to congestion, if it says so.
    fn congestion_control(&self) -> Option<&Algorithm>;

    /// The key to blame for what is wrong with the flow of this [`Flow::row`], relative to the
    /// workload's table.
    fn key_of(&self, _row: u32) -> String {
        String::new()
    }

    /// The files that it reads, as the scenario names them, each with its key in the workload's table.
    fn files(&self) -> Vec<(&'static str, &Path)> {
        Vec::new()
    }

    /// The same, to name them otherwise.
    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}

/// What a workload may know of the rest of the scenario.
pub(crate) struct Site<'a> {
    /// The workload's own key, such as `workload.incast[0]`; names its random streams.
    pub(crate) name: &'a str,
    /// The run's seed.
    pub(crate) seed: u64,
    /// Hosts by name.
    pub(crate) hosts: &'a HostDirectory,
    /// What flows may be.
    pub(crate) rules: FlowRules,
    /// The priority of flows that name none.
    pub(crate) priority: u8,
    /// Where relative paths start.
    pub(crate) folder: &'a Path,
    /// The most flows of a plan.
    pub(crate) max_flows: usize,
}

impl Site<'_> {
    /// The random stream of a part of this workload.
    pub(crate) fn stream(&self, part: &str) -> RngStream {
        RngStream::new(self.seed, &format!("{}.{part}", self.name))
    }

    /// The rate of the link of `host`.
    pub(crate) fn link_rate(&self, host: NodeId) -> Bandwidth {
        self.hosts.link_rate(host)
    }

    /// `priority`, or the scenario's.
    pub(crate) fn priority_or_default(&self, priority: Option<u8>) -> Result<u8, Fault> {
        let priority = priority.unwrap_or(self.priority);
        self.rules.check_priority("priority", priority)?;
        Ok(priority)
    }

    /// Refuses sizes that no flow can have.
    pub(crate) fn check_bytes(&self, key: &str, bytes: u64) -> Result<(), Fault> {
        self.rules.check_bytes(key, bytes)
    }

    /// Whether `count` connections of an application can be planned.
    pub(crate) fn check_connections(&self, key: &str, count: u64) -> Result<(), Fault> {
        let most = self.max_flows;
        ensure(count <= most as u64, || {
            Fault::at(key, format!("these would be {count} connections"))
                .help(format!("a run has at most {most}"))
        })
    }

    /// Whether `count` flows can be planned.
    pub(crate) fn check_count(&self, key: &str, count: u64) -> Result<(), Fault> {
        let most = self.max_flows;
        ensure(count <= most as u64, || {
            Fault::at(key, format!("these would be {count} flows"))
                .help(format!("a run has at most {most}"))
        })
    }
}

/// One flow as a workload asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) source: NodeId,
    pub(crate) destination: NodeId,
    pub(crate) start: SimTime,
    pub(crate) bytes: u64,
    /// Of each message but for the last.
    pub(crate) message_bytes: u64,
    pub(crate) verb: Verb,
    pub(crate) priority: u8,
    /// The destination's port by the rules of HPCC's ns-3 simulator; RoCE has its own.
    pub(crate) port: u16,
    /// Which entry or line of the workload it comes from.
    pub(crate) row: u32,
}

/// The destination port of flows that name none, as in the flow files of HPCC's simulator.
pub(crate) const DEFAULT_PORT: u16 = 100;

/// Refuses flows that do not leave their host.
pub(crate) fn check_ends(source: NodeId, destination: NodeId) -> Result<(), Fault> {
    ensure(source != destination, || {
        Fault::at("to", "a host does not send to itself over the network")
            .help("name two different hosts")
    })
}

/// Makes the scenario's keys, their JSON Schema and the table of workloads from one list.
macro_rules! workloads {
    ($($(#[doc = $doc:literal])* $name:literal => $module:ident,)*) => {
        /// What is sent: any number of each kind, as `[workload.NAME]` or `[[workload.NAME]]`.
        ///
        /// Flows that start at the same instant are ordered by kind, alphabetically, and within
        /// a kind by the order of the text.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct WorkloadConfig {
            $(
                $(#[doc = $doc])*
                #[serde(rename = $name, skip_serializing_if = "Items::is_empty")]
                pub $module: Items<$module::Parameters>,
            )*
        }

        impl WorkloadConfig {
            /// The names that a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Every workload with its key, in the order that numbers flows.
            pub(crate) fn items(&self) -> Vec<(String, &dyn Workload)> {
                let mut all: Vec<(String, &dyn Workload)> = Vec::new();
                $(
                    for (index, item) in self.$module.0.iter().enumerate() {
                        all.push((format!("workload.{}[{index}]", $name), item));
                    }
                )*
                all
            }

            /// Every file that the workloads read, to name it otherwise.
            pub(crate) fn files_mut(&mut self) -> Vec<&mut PathBuf> {
                let mut all = Vec::new();
                $(
                    for item in &mut self.$module.0 {
                        all.extend(item.files_mut());
                    }
                )*
                all
            }
        }
    };
}

workloads! {
    /// Clients and servers answer each other, step by step.
    "app" => app,
    /// Flows one by one: a list, a CSV file, or a file of the HPCC simulator.
    "flows" => flows,
    /// Many servers answer one at once.
    "incast" => incast,
    /// Every server sends to one other and receives from one other.
    "permutation" => permutation,
    /// Messages there and back, one after the other.
    "ping-pong" => ping_pong,
    /// Flows arrive at random at a given load, with sizes from a distribution.
    "poisson" => poisson,
    /// Blocks that clients read from servers and write to them.
    "storage" => storage,
}

impl WorkloadConfig {
    /// The files that the workloads read, as the scenario names them, each with its key.
    pub(crate) fn files(&self) -> Vec<(String, PathBuf)> {
        let mut all = Vec::new();
        for (name, item) in self.items() {
            let files = item.files().into_iter();
            all.extend(files.map(|(key, file)| (format!("{name}.{key}"), file.to_owned())));
        }
        all
    }
}

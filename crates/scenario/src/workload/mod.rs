//! `[workload]`: what a scenario says of what is sent.
//!
//! A workload is one file beside this one, with its `Parameters` (the keys of `[workload.NAME]`), one line in the
//! list of this file, and what it means in `workload/`. Programs have a list of their own
//! ([`rocelab_transport::program`]), which is added to this one.

pub mod app;
pub mod flows;
pub mod incast;
pub mod multicast;
pub mod permutation;
pub mod ping_pong;
pub mod poisson;
pub mod storage;

use std::path::{Path, PathBuf};

use rocelab_transport::program::Definition;
use rocelab_transport::{Algorithm, MarkingConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Items, QueuePairAttributes, Transport};

/// What can be asked of every workload. Implemented by the `Parameters` of each.
pub trait Description {
    /// What the results call it, if the scenario says so.
    fn name(&self) -> Option<&str>;

    /// What carries its flows.
    fn transport(&self) -> Transport {
        Transport::Rdma
    }

    /// How its flows react to congestion, if it says so.
    fn congestion_control(&self) -> Option<&Algorithm>;

    /// The code points of its RDMA frames, if it says so.
    fn marking(&self) -> Option<&MarkingConfig> {
        None
    }

    /// Attributes of its queue pairs, if it may say so.
    fn queue_pair(&self) -> Option<&QueuePairAttributes> {
        None
    }

    /// The key to blame for what is wrong with one of its flows, by its entry or line in the workload, relative
    /// to the workload's table.
    fn key_of(&self, _row: u32) -> String {
        String::new()
    }

    /// The files that it reads, as the scenario names them, each with its key in the workload's table. Those that it names by
    /// a prefix are looked for in `folder`, the scenario's own.
    fn files(&self, folder: &Path) -> Vec<(&'static str, PathBuf)> {
        _ = folder;
        Vec::new()
    }

    /// The same, to name them otherwise.
    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }
}

impl<P: Definition> Description for P {
    fn name(&self) -> Option<&str> {
        self.common().name
    }

    fn congestion_control(&self) -> Option<&Algorithm> {
        self.common().congestion_control
    }

    fn marking(&self) -> Option<&MarkingConfig> {
        Definition::marking(self)
    }

    fn files(&self, folder: &Path) -> Vec<(&'static str, PathBuf)> {
        Definition::files(self, folder)
    }

    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        Definition::files_mut(self)
    }
}

/// Makes the scenario's keys, their JSON Schema and the kinds of workloads from the list of this file, in braces, and that
/// of programs.
macro_rules! workloads {
    (
        {$($(#[doc = $doc:literal])* $kind:ident = $name:literal => $module:ident,)*}
        $(
            $(#[doc = $doc_of_program:literal])*
            $program:ident = $name_of_program:literal => $module_of_program:ident,
        )*
    ) => {
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
            $(
                $(#[doc = $doc_of_program])*
                #[serde(rename = $name_of_program, skip_serializing_if = "Items::is_empty")]
                pub $module_of_program: Items<rocelab_transport::program::$module_of_program::Parameters>,
            )*
        }

        /// One workload of a scenario.
        #[derive(Clone, Copy, Debug)]
        pub enum WorkloadKind<'a> {
            $(
                $(#[doc = $doc])*
                $kind(&'a $module::Parameters),
            )*
            $(
                $(#[doc = $doc_of_program])*
                $program(&'a rocelab_transport::program::$module_of_program::Parameters),
            )*
        }

        impl<'a> WorkloadKind<'a> {
            /// What can be asked of it whatever its kind.
            pub const fn description(self) -> &'a dyn Description {
                match self {
                    $(Self::$kind(parameters) => parameters,)*
                    $(Self::$program(parameters) => parameters,)*
                }
            }
        }

        impl WorkloadConfig {
            /// The names that a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Every workload with its key, in the order that numbers flows.
            pub fn items(&self) -> Vec<(String, WorkloadKind<'_>)> {
                let mut all = Vec::new();
                $(
                    for (index, item) in self.$module.0.iter().enumerate() {
                        all.push((format!("workload.{}[{index}]", $name), WorkloadKind::$kind(item)));
                    }
                )*
                $(
                    for (index, item) in self.$module_of_program.0.iter().enumerate() {
                        let key = format!("workload.{}[{index}]", $name_of_program);
                        all.push((key, WorkloadKind::$program(item)));
                    }
                )*
                all
            }

            /// The congestion controls that workloads choose, to set them otherwise.
            pub fn algorithms_mut(&mut self) -> Vec<&mut Algorithm> {
                let mut all = Vec::new();
                $(all.extend(self.$module.0.iter_mut().filter_map(|item| item.congestion_control.as_mut()));)*
                $(
                    let items = self.$module_of_program.0.iter_mut();
                    all.extend(items.filter_map(Definition::congestion_control_mut));
                )*
                all
            }

            /// Every file that the workloads read, to name it otherwise.
            pub fn files_mut(&mut self) -> Vec<&mut PathBuf> {
                let mut all = Vec::new();
                $(
                    for item in &mut self.$module.0 {
                        all.extend(item.files_mut());
                    }
                )*
                $(
                    let items = self.$module_of_program.0.iter_mut();
                    all.extend(items.flat_map(Definition::files_mut));
                )*
                all
            }
        }
    };
}

rocelab_transport::with_programs! {
    workloads {
        /// Clients and servers answer each other, step by step.
        App = "app" => app,
        /// Flows one by one: a list, a CSV file, or a file of the HPCC simulator.
        Flows = "flows" => flows,
        /// Many servers answer one at once.
        Incast = "incast" => incast,
        /// One host sends to all members of a multicast group.
        Multicast = "multicast" => multicast,
        /// Every server sends to one other and receives from one other.
        Permutation = "permutation" => permutation,
        /// Messages there and back, one after the other.
        PingPong = "ping-pong" => ping_pong,
        /// Flows arrive at random at a given load, with sizes from a distribution.
        Poisson = "poisson" => poisson,
        /// Blocks that clients read from servers and write to them.
        Storage = "storage" => storage,
    }
}

impl WorkloadConfig {
    /// The files that the workloads read, as the scenario in `folder` names them, each with its key.
    pub fn files(&self, folder: &Path) -> Vec<(String, PathBuf)> {
        let mut all = Vec::new();
        for (name, kind) in self.items() {
            let files = kind.description().files(folder).into_iter();
            all.extend(files.map(|(key, file)| (format!("{name}.{key}"), file)));
        }
        all
    }
}

//! `[host]`: what all hosts do, and traffic of single ones that is of no workload.

use std::collections::BTreeMap;

use rocelab_fabric::{Priority, ShaperConfig};
use rocelab_transport::stack::StackConfigs;
use rocelab_transport::{HostSchedulerConfig, MarkingConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How hosts share their ports, and what they send beside workloads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// Who sends next of all that a host has to send.
    pub scheduler: HostSchedulerConfig,
    /// By priority: the most that a host sends in it, acknowledgements included; those of the network's flow control
    /// are not.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, ShaperConfig>")]
    pub shapers: BTreeMap<Priority, ShaperConfig>,
    /// Traffic that is of no workload: any number of `[[host.stack.NAME]]`.
    #[serde(skip_serializing_if = "has_no_stream")]
    pub stack: StackConfigs,
    /// Hosts whose RDMA frames have other code points: any number of `[[host.marking]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marking: Vec<HostMarking>,
}

/// `[[host.marking]]`: the code points of the RDMA frames of some hosts, if their workload does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostMarking {
    /// The hosts: names, or ranges of names. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Of which priorities the frames are. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Vec<u8>>,
    /// The code points.
    pub marking: MarkingConfig,
}

fn has_no_stream(stacks: &StackConfigs) -> bool {
    *stacks == StackConfigs::default()
}

//! What a workload may know of the rest of the scenario.

use std::path::Path;

use rocelab_engine::RngStream;
use rocelab_fabric::NodeId;
use rocelab_units::Bandwidth;

use super::group::MulticastGroup;
use super::hosts::HostDirectory;
use super::rules::FlowRules;
use crate::scenario::{Fault, ensure};

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
    /// The multicast groups.
    pub(crate) groups: &'a [MulticastGroup],
    /// Payload bytes of a packet, at most.
    pub(crate) path_mtu: u64,
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

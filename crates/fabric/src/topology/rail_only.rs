//! Servers of GPUs whose rails nothing joins: each rail has a switch of its own, and none above it.
//!
//! Source: W. Wang et al., "Rail-only: A Low-Cost High-Performance Network for Training LLMs with Trillion Parameters",
//! 2023. Nodes: `gpu-0` and so on, server by server, then `rail-0` and so on. GPU `i` of server `s` is on port `s` of `rail-i`.
//! GPUs of different rails reach each other by NVLink only, in their servers.

use std::path::Path;

use rocelab_units::{Bandwidth, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builder::Builder;
use super::limits::{Size, at_least, product};
use super::{Generate, LinkConfig, Topology, TopologyError};

/// `[topology.rail-only]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of servers, at least 2.
    pub servers: u32,
    /// Number of GPUs in every server, each with a NIC: the number of rails, at least 1.
    pub gpus_per_server: u32,
    /// The link of every NIC.
    pub nic_link: LinkConfig,
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let (servers, rails) = (self.servers, self.gpus_per_server);
        at_least("servers", servers, 2)?;
        at_least("gpus_per_server", rails, 1)?;
        let gpus = product([servers, rails]);
        let ports = [("a rail", u128::from(servers), ("servers", servers))];
        let nodes = gpus + u128::from(rails);
        Size { nodes, links: gpus, from: ("servers", servers), ports: &ports }.check()?;
        let nic_link = self.nic_link.resolve("nic_link")?;
        let mut builder = Builder::with_capacity(nodes, gpus);
        let gpus = builder.gpus(servers, rails);
        let switches = builder.switches("rail", 1, rails);
        for (number, gpu) in (0..).zip(gpus) {
            builder.link(gpu, switches.start + number % rails, nic_link);
        }
        Ok(Topology { is_in_parts: rails > 1, ..builder.finish() })
    }

    fn examples() -> Vec<Self> {
        let nic_link = LinkConfig::with_cable(Bandwidth::from_gbps(400), Length::from_mm(3_000));
        vec![Self { servers: 4, gpus_per_server: 4, nic_link }]
    }
}

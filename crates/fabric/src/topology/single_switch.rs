//! Servers around one switch.
//!
//! Nodes: `host-0` and so on, then `switch-0`. The switch's port `i` leads to `host-i`.

use std::path::Path;

use rocelab_units::{Bandwidth, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builder::Builder;
use super::limits::{Size, at_least};
use super::{Generate, LinkConfig, Topology, TopologyError};

/// `[topology.single-switch]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of servers, at least 2.
    pub hosts: u32,
    /// The link of every server.
    pub link: LinkConfig,
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let hosts = ("hosts", self.hosts);
        at_least(hosts.0, hosts.1, 2)?;
        let (links, nodes) = (u128::from(self.hosts), u128::from(self.hosts) + 1);
        Size { nodes, links, from: hosts, ports: &[("the switch", links, hosts)] }.check()?;
        let link = self.link.resolve("link")?;

        let mut builder = Builder::with_capacity(nodes, links);
        let hosts = builder.hosts(self.hosts);
        let switch = builder.switches("switch", 1, 1);
        builder.fan_in(hosts, self.hosts, switch, link);
        Ok(builder.finish())
    }

    fn examples() -> Vec<Self> {
        let link = LinkConfig::with_cable(Bandwidth::from_gbps(100), Length::from_mm(3_000));
        vec![Self { hosts: 16, link }]
    }
}

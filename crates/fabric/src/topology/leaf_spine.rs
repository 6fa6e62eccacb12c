//! Two tiers: every leaf switch has a link to every spine switch.
//!
//! Nodes: the hosts, leaf by leaf, then `leaf-0` and so on, then `spine-0` and so on. A leaf's
//! first ports lead to its hosts, the others to the spines in order; port `i` of a spine leads to
//! `leaf-i`.

use std::path::Path;

use rocelab_units::{Bandwidth, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builder::Builder;
use super::limits::{Size, at_least, larger, product};
use super::{Generate, LinkConfig, Topology, TopologyError};

/// `[topology.leaf-spine]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of leaf switches, at least 1.
    pub leaves: u32,
    /// Number of spine switches, at least 1.
    pub spines: u32,
    /// Number of servers at every leaf, at least 1; at least 2 in all.
    pub hosts_per_leaf: u32,
    /// The link of every server.
    pub host_link: LinkConfig,
    /// The links between leaves and spines.
    pub fabric_link: LinkConfig,
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let Self { leaves, spines, hosts_per_leaf, .. } = *self;
        at_least("leaves", leaves, 1)?;
        at_least("spines", spines, 1)?;
        at_least("hosts_per_leaf", hosts_per_leaf, if leaves == 1 { 2 } else { 1 })?;
        let hosts = product([leaves, hosts_per_leaf]);
        let nodes = hosts + u128::from(leaves) + u128::from(spines);
        let links = hosts + product([leaves, spines]);
        let leaf_ports = u128::from(hosts_per_leaf) + u128::from(spines);
        let ports = [
            ("a leaf", leaf_ports, larger(("hosts_per_leaf", hosts_per_leaf), ("spines", spines))),
            ("a spine", leaves.into(), ("leaves", leaves)),
        ];
        Size { nodes, links, from: ("leaves", leaves), ports: &ports }.check()?;
        let host_link = self.host_link.resolve("host_link")?;
        let fabric_link = self.fabric_link.resolve("fabric_link")?;

        let mut builder = Builder::with_capacity(nodes, links);
        let hosts = builder.hosts(leaves * hosts_per_leaf);
        let leaf_switches = builder.switches("leaf", 1, leaves);
        let spine_switches = builder.switches("spine", 2, spines);
        builder.fan_in(hosts, hosts_per_leaf, leaf_switches.clone(), host_link);
        for leaf in leaf_switches {
            for spine in spine_switches.clone() {
                builder.link(leaf, spine, fabric_link);
            }
        }
        Ok(builder.finish())
    }

    fn examples() -> Vec<Self> {
        let cable = |gbps, m: u64| {
            LinkConfig::with_cable(Bandwidth::from_gbps(gbps), Length::from_mm(m * 1_000))
        };
        vec![Self {
            leaves: 4,
            spines: 2,
            hosts_per_leaf: 16,
            host_link: cable(100, 3),
            fabric_link: cable(400, 30),
        }]
    }
}

//! Two switches with servers on either side of one link.
//!
//! Nodes: the hosts on the left, those on the right, then `switch-0` (left) and `switch-1`
//! (right). Each switch's first ports lead to its hosts and its last port to the other switch.

use std::path::Path;

use rocelab_units::{Bandwidth, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builder::Builder;
use super::limits::{Size, at_least};
use super::{Generate, LinkConfig, Topology, TopologyError};

/// `[topology.dumbbell]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of servers on the left, at least 1.
    pub left: u32,
    /// Number of servers on the right, at least 1.
    pub right: u32,
    /// The link of every server.
    pub host_link: LinkConfig,
    /// The link between the switches.
    pub bottleneck: LinkConfig,
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let [left, right] = [("left", self.left), ("right", self.right)];
        at_least(left.0, left.1, 1)?;
        at_least(right.0, right.1, 1)?;
        let ports = [left, right].map(|side| ("a switch", u128::from(side.1) + 1, side));
        let hosts = u128::from(self.left) + u128::from(self.right);
        let (nodes, links) = (hosts + 2, hosts + 1);
        Size { nodes, links, from: left, ports: &ports }.check()?;
        let host_link = self.host_link.resolve("host_link")?;
        let bottleneck = self.bottleneck.resolve("bottleneck")?;

        let mut builder = Builder::with_capacity(nodes, links);
        let hosts = builder.hosts(self.left + self.right);
        let switches = builder.switches("switch", 1, 2);
        let (left, right) = (switches.start, switches.start + 1);
        for (index, host) in (0..).zip(hosts) {
            builder.link(host, if index < self.left { left } else { right }, host_link);
        }
        builder.link(left, right, bottleneck);
        Ok(builder.finish())
    }

    fn examples() -> Vec<Self> {
        let link = LinkConfig::with_delay(Bandwidth::from_gbps(100), Duration::from_us(1));
        vec![Self { left: 2, right: 3, host_link: link.clone(), bottleneck: link }]
    }
}

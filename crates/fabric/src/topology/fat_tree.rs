//! Three tiers of equal switches with k ports: k^3/4 servers at full bisection bandwidth.
//!
//! Source: M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable, Commodity Data Center Network
//! Architecture", SIGCOMM 2008: k pods of k/2 edge and k/2 aggregation switches, k/2
//! servers at every edge switch, and (k/2)^2 cores. The paper's edge switches are the `tor`s here.
//! Nodes and ports are numbered as in `clos`.

use std::path::Path;

use rocelab_units::{Bandwidth, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clos::{Links, Shape};
use super::limits::{Size, at_least};
use super::{Generate, LinkConfig, Topology, TopologyError};

/// `[topology.fat-tree]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of ports of every switch: even, at least 2. There are k^3/4 servers.
    pub k: u32,
    /// The link of every server.
    pub host_link: LinkConfig,
    /// The links between switches.
    pub fabric_link: LinkConfig,
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let shape = self.shape()?;
        let host = self.host_link.resolve("host_link")?;
        let fabric = self.fabric_link.resolve("fabric_link")?;
        Ok(shape.build(&Links { host, fabric, core: fabric }))
    }

    fn examples() -> Vec<Self> {
        let host_link = LinkConfig::with_cable(Bandwidth::from_gbps(100), Length::from_mm(3_000));
        let fabric_link =
            LinkConfig::with_cable(Bandwidth::from_gbps(100), Length::from_mm(50_000));
        [4, 8]
            .map(|k| Self { k, host_link: host_link.clone(), fabric_link: fabric_link.clone() })
            .into()
    }
}

impl Parameters {
    fn shape(&self) -> Result<Shape, TopologyError> {
        let k = ("k", self.k);
        at_least(k.0, k.1, 2)?;
        if !self.k.is_multiple_of(2) {
            let (problem, fix) =
                ("half of a switch's ports lead up, half down", "give an even number");
            return Err(TopologyError::parameter("k", self.k, problem, fix));
        }
        let half = self.k / 2;
        let ports = [("a switch", u128::from(self.k), k)];
        // Checked first, because the number of cores might not fit in 32 bits.
        Size { nodes: 0, links: 0, from: k, ports: &ports }.check()?;
        let shape = Shape {
            pods: self.k,
            racks: half,
            hosts: half,
            aggregations: half,
            cores: half * half,
        };
        Size { nodes: shape.nodes(), links: shape.links(), from: k, ports: &ports }.check()?;
        Ok(shape)
    }
}

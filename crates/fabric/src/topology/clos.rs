//! Three tiers in pods, with any number of racks, aggregation and core switches.
//!
//! Every top-of-rack switch has a link to every aggregation switch of its pod. The core switches
//! are split evenly among the aggregation switches of a pod: aggregation switch `j` of every pod
//! has a link to each of the cores of group `j`. The fat tree of the HPCC paper is the case of 5
//! pods with 4 racks of 16 servers and 4 aggregation switches each, and 16 cores.
//!
//! Nodes: the hosts, rack by rack, then `tor-0` and so on, `aggregation-0` and so on (both pod by
//! pod), `core-0` and so on (group by group). First ports lead down, in order; the others up. Port
//! `p` of a core leads to pod `p`.

use std::path::Path;

use rocelab_units::{Bandwidth, Duration, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builder::Builder;
use super::limits::{Size, at_least, larger, product};
use super::link_config::LinkProperties;
use super::{Generate, LinkConfig, Topology, TopologyError};

/// `[topology.clos]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of pods, at least 1.
    pub pods: u32,
    /// Number of racks, each with a top-of-rack switch, in every pod: at least 1.
    pub racks_per_pod: u32,
    /// Number of servers in every rack, at least 1; at least 2 in all.
    pub hosts_per_rack: u32,
    /// Number of aggregation switches in every pod, at least 1.
    pub aggregations_per_pod: u32,
    /// Number of core switches in all, a multiple of `aggregations_per_pod`.
    pub cores: u32,
    /// The link of every server.
    pub host_link: LinkConfig,
    /// The links between top-of-rack and aggregation switches.
    pub fabric_link: LinkConfig,
    /// The links between aggregation and core switches; without it, as `fabric_link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_link: Option<LinkConfig>,
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let shape = self.shape()?;
        let host_link = self.host_link.resolve("host_link")?;
        let fabric_link = self.fabric_link.resolve("fabric_link")?;
        let core_link = match &self.core_link {
            Some(link) => link.resolve("core_link")?,
            None => fabric_link,
        };
        Ok(shape.build(&Links { host: host_link, fabric: fabric_link, core: core_link }))
    }

    fn examples() -> Vec<Self> {
        let delay = |gbps| LinkConfig::with_delay(Bandwidth::from_gbps(gbps), Duration::from_us(1));
        let cable = LinkConfig::with_cable(Bandwidth::from_gbps(800), Length::from_mm(300_000));
        let hpcc = Self {
            pods: 5,
            racks_per_pod: 4,
            hosts_per_rack: 16,
            aggregations_per_pod: 4,
            cores: 16,
            host_link: delay(100),
            fabric_link: delay(400),
            core_link: None,
        };
        let uneven = Self {
            pods: 3,
            racks_per_pod: 2,
            hosts_per_rack: 5,
            aggregations_per_pod: 3,
            cores: 6,
            core_link: Some(cable),
            ..hpcc.clone()
        };
        vec![hpcc, uneven]
    }
}

impl Parameters {
    fn shape(&self) -> Result<Shape, TopologyError> {
        let shape = Shape {
            pods: self.pods,
            racks: self.racks_per_pod,
            hosts: self.hosts_per_rack,
            aggregations: self.aggregations_per_pod,
            cores: self.cores,
        };
        let pods = ("pods", shape.pods);
        let racks = ("racks_per_pod", shape.racks);
        let hosts = ("hosts_per_rack", shape.hosts);
        let aggregations = ("aggregations_per_pod", shape.aggregations);
        let cores = ("cores", shape.cores);
        for (key, value) in [pods, racks, aggregations, cores] {
            at_least(key, value, 1)?;
        }
        at_least(hosts.0, hosts.1, if product([shape.pods, shape.racks]) == 1 { 2 } else { 1 })?;
        if !shape.cores.is_multiple_of(shape.aggregations) {
            return Err(self.uneven_cores());
        }
        let group = shape.cores / shape.aggregations;
        let ports = [
            ("a top-of-rack switch", sum(hosts.1, aggregations.1), larger(hosts, aggregations)),
            ("an aggregation switch", sum(racks.1, group), larger(racks, cores)),
            ("a core switch", pods.1.into(), pods),
        ];
        Size { nodes: shape.nodes(), links: shape.links(), from: pods, ports: &ports }.check()?;
        Ok(shape)
    }

    fn uneven_cores(&self) -> TopologyError {
        let (cores, aggregations) = (self.cores, self.aggregations_per_pod);
        TopologyError::parameter(
            "cores",
            cores,
            format!("the cores cannot be split evenly among {aggregations} aggregation switches"),
            format!("give a multiple of {aggregations}"),
        )
    }
}

fn sum(a: u32, b: u32) -> u128 {
    u128::from(a) + u128::from(b)
}

/// The numbers of a three-tier network: all at least 1, and `cores` a multiple of `aggregations`.
pub(super) struct Shape {
    pub(super) pods: u32,
    /// In a pod.
    pub(super) racks: u32,
    /// In a rack.
    pub(super) hosts: u32,
    /// In a pod.
    pub(super) aggregations: u32,
    /// In all.
    pub(super) cores: u32,
}

/// The links of a three-tier network.
pub(super) struct Links {
    pub(super) host: LinkProperties,
    pub(super) fabric: LinkProperties,
    pub(super) core: LinkProperties,
}

impl Shape {
    pub(super) fn nodes(&self) -> u128 {
        let hosts = product([self.pods, self.racks, self.hosts]);
        hosts
            + product([self.pods, self.racks])
            + product([self.pods, self.aggregations])
            + u128::from(self.cores)
    }

    pub(super) fn links(&self) -> u128 {
        product([self.pods, self.racks, self.hosts])
            + product([self.pods, self.racks, self.aggregations])
            + product([self.pods, self.cores])
    }

    /// The network, whose size the caller has checked.
    pub(super) fn build(&self, links: &Links) -> Topology {
        let mut builder = Builder::with_capacity(self.nodes(), self.links());
        let racks = self.pods * self.racks;
        let aggregations = self.pods * self.aggregations;
        let hosts = builder.hosts(racks * self.hosts);
        let tors = builder.switches("tor", 1, racks);
        let aggregations = builder.switches("aggregation", 2, aggregations);
        let cores = builder.switches("core", 3, self.cores);

        builder.fan_in(hosts, self.hosts, tors.clone(), links.host);
        for (rack, tor) in (0..).zip(tors) {
            let first = aggregations.start + rack / self.racks * self.aggregations;
            for aggregation in first..first + self.aggregations {
                builder.link(tor, aggregation, links.fabric);
            }
        }
        let group = self.cores / self.aggregations;
        for (index, aggregation) in (0..).zip(aggregations) {
            let first = cores.start + index % self.aggregations * group;
            for core in first..first + group {
                builder.link(aggregation, core, links.core);
            }
        }
        builder.finish()
    }
}

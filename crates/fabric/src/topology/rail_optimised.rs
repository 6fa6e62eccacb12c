//! Servers of GPUs whose NICs are wired by rail: the NICs with the same place in their servers share a leaf switch.
//!
//! Nodes: `gpu-0` and so on, server by server, then `leaf-0`, `spine-0` and `core-0` and so on. GPU `i` of a server is on rail
//! `i`. A *segment* is some servers whose NICs share one leaf for each rail: leaf `k` is that of rail `k mod g` in segment
//! `k / g`, with `g` GPUs in each server. A leaf's first ports lead to its GPUs, the others to all spines of its pod.
//! Spines of pods meet at cores, spine `j` of every pod at the same ones.

use std::path::Path;

use rocelab_units::{Bandwidth, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builder::Builder;
use super::limits::{Size, at_least, larger, product};
use super::{Generate, LinkConfig, Topology, TopologyError};

/// `[topology.rail-optimised]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Number of servers, at least 1; at least 2 GPUs in all.
    pub servers: u32,
    /// Number of GPUs in every server, each with a NIC: the number of rails, at least 1.
    pub gpus_per_server: u32,
    /// Number of servers that share leaf switches, which divides those of a pod. Default: all of a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers_per_segment: Option<u32>,
    /// Number of spine switches in every pod, at least 1.
    pub spines: u32,
    /// Number of pods, which divides the servers. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<u32>,
    /// Number of core switches in all, a multiple of `spines`. Default: none, which takes one pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// The link of every NIC.
    pub nic_link: LinkConfig,
    /// The links between leaves and spines.
    pub fabric_link: LinkConfig,
    /// The links between spines and cores; without it, as `fabric_link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_link: Option<LinkConfig>,
}

/// The numbers of a network, all checked.
struct Shape {
    segments: u32,
    segments_per_pod: u32,
    servers_per_segment: u32,
    pods: u32,
    cores: u32,
}

impl Generate for Parameters {
    fn generate(&self, _folder: &Path) -> Result<Topology, TopologyError> {
        let shape = self.shape()?;
        let (rails, spines) = (self.gpus_per_server, self.spines);
        let gpus = product([self.servers, rails]);
        let leaves = product([shape.segments, rails]);
        let all_spines = product([shape.pods, spines]);
        let nodes = gpus + leaves + all_spines + u128::from(shape.cores);
        let links = gpus + leaves * u128::from(spines) + product([shape.pods, shape.cores]);
        let (servers, spine) = (("servers", self.servers), ("spines", spines));
        let below = product([shape.segments_per_pod, rails]);
        let ports = [
            (
                "a leaf",
                u128::from(shape.servers_per_segment) + u128::from(spines),
                larger(servers, spine),
            ),
            ("a spine", below + u128::from(shape.cores / spines), servers),
            ("a core switch", shape.pods.into(), ("pods", shape.pods)),
        ];
        Size { nodes, links, from: servers, ports: &ports }.check()?;
        let nic_link = self.nic_link.resolve("nic_link")?;
        let fabric_link = self.fabric_link.resolve("fabric_link")?;
        let core_link = match &self.core_link {
            Some(link) => link.resolve("core_link")?,
            None => fabric_link,
        };

        let mut builder = Builder::with_capacity(nodes, links);
        let gpus = builder.gpus(self.servers, rails);
        let leaves = builder.switches("leaf", 1, shape.segments * rails);
        let all_spines = builder.switches("spine", 2, shape.pods * spines);
        let cores = builder.switches("core", 3, shape.cores);
        for (number, gpu) in (0..).zip(gpus) {
            let (server, rail) = (number / rails, number % rails);
            let segment = server / shape.servers_per_segment;
            builder.link(gpu, leaves.start + segment * rails + rail, nic_link);
        }
        for (number, leaf) in (0..).zip(leaves) {
            let pod = number / rails / shape.segments_per_pod;
            let first = all_spines.start + pod * spines;
            (first..first + spines).for_each(|spine| builder.link(leaf, spine, fabric_link));
        }
        let group = shape.cores / spines;
        for (number, spine) in (0..).zip(all_spines) {
            let first = cores.start + number % spines * group;
            (first..first + group).for_each(|core| builder.link(spine, core, core_link));
        }
        Ok(builder.finish())
    }

    fn examples() -> Vec<Self> {
        let cable = |gbps, m: u64| {
            LinkConfig::with_cable(Bandwidth::from_gbps(gbps), Length::from_mm(m * 1_000))
        };
        let one_pod = Self {
            servers: 8,
            gpus_per_server: 4,
            servers_per_segment: Some(4),
            spines: 2,
            pods: None,
            cores: None,
            nic_link: cable(400, 3),
            fabric_link: cable(400, 30),
            core_link: None,
        };
        let two_pods = Self {
            servers_per_segment: None,
            pods: Some(2),
            cores: Some(2),
            core_link: Some(cable(100, 300)),
            ..one_pod.clone()
        };
        vec![one_pod, two_pods]
    }
}

impl Parameters {
    fn shape(&self) -> Result<Shape, TopologyError> {
        let pods = self.pods.unwrap_or(1);
        at_least("servers", self.servers, 1)?;
        let least = if self.servers == 1 { 2 } else { 1 };
        at_least("gpus_per_server", self.gpus_per_server, least)?;
        at_least("spines", self.spines, 1)?;
        at_least("pods", pods, 1)?;
        divides(("pods", pods), self.servers, "servers")?;
        let in_pod = self.servers / pods;
        let servers_per_segment = self.servers_per_segment.unwrap_or(in_pod);
        at_least("servers_per_segment", servers_per_segment, 1)?;
        divides(("servers_per_segment", servers_per_segment), in_pod, "servers of a pod")?;
        let cores = self.cores.unwrap_or(0);
        if !cores.is_multiple_of(self.spines) {
            return Err(TopologyError::parameter(
                "cores",
                cores,
                format!("the cores cannot be split evenly among {} spines of a pod", self.spines),
                format!("give a multiple of {}", self.spines),
            ));
        }
        if pods > 1 && cores == 0 {
            return Err(TopologyError::parameter(
                "pods",
                pods,
                "nothing joins the pods",
                format!("add `cores`, a multiple of {}", self.spines),
            ));
        }
        Ok(Shape {
            segments: self.servers / servers_per_segment,
            segments_per_pod: in_pod / servers_per_segment,
            servers_per_segment,
            pods,
            cores,
        })
    }
}

fn divides((key, value): (&'static str, u32), whole: u32, of: &str) -> Result<(), TopologyError> {
    if whole.is_multiple_of(value) {
        return Ok(());
    }
    let problem = format!("the {whole} {of} cannot be split evenly by {value}");
    Err(TopologyError::parameter(
        key,
        value,
        problem,
        format!("give a number that divides {whole}"),
    ))
}

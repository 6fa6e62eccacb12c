//! Topologies: hosts, switches and links, before anything runs.
//!
//! A topology is one file beside this one and one line in the list at the end of it. The file has
//! a `Parameters` type (the keys of `[topology.NAME]`) that implements [`Generate`]; the module,
//! the scenario key, the JSON Schema, the table of names and the conformance test follow from the
//! line.
//!
//! A node's ports are numbered from 0 in the order of its links in [`Topology::links`].
//! `docs/topologies.md` draws each topology with its node and port numbers.

mod adjacency;
mod builder;
mod check;
mod edge_list;
mod error;
mod ibnet;
mod layout;
mod limits;
mod link_config;
mod names;
mod partitioning;
mod port_reference;
mod selector;
mod simai;
mod spanning_tree;
mod tiers;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rocelab_units::{Bandwidth, Duration};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::nvlink::Nvlink;
pub use adjacency::{Adjacency, Neighbour};
pub use check::TopologyFault;
pub use error::TopologyError;
pub use ibnet::Cabling;
pub use layout::{Layout, PlacedLink, PlacedNode};
pub use limits::{MAX_DELAY, MAX_LINKS, MAX_NODES, MAX_PORTS, RATES};
pub use link_config::{InfiniBandRate, LinkConfig, Rate, rate_or_name};
pub use names::describe_names;
pub use partitioning::Partitioning;
pub use port_reference::PortReferenceError;
pub use selector::{NodeSelector, matches_pattern};
pub use spanning_tree::{spanning_tree, spanning_tree_over};

/// A node of the network: hosts and switches share one numbering.
pub type NodeId = u32;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A server with one NIC.
    Host,
    /// A switch; the tier counts from 1 at the servers (0 where it is not known).
    Switch {
        /// Distance from the servers.
        tier: u8,
    },
}

/// A host or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique name, such as `host-0`, `leaf-3`, `spine-1`.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
}

/// A full-duplex link. A node's ports are numbered from 0 in the order of its links.
#[derive(Clone, Debug, PartialEq)]
pub struct TopologyLink {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Rate of each direction.
    pub rate: Bandwidth,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Probability that a frame is lost on its way, each direction (0 to 1).
    pub loss: f64,
}

/// Nodes and links. Hosts come first in the structured topologies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Indexed by [`NodeId`].
    pub nodes: Vec<Node>,
    /// In the order that numbers the ports.
    pub links: Vec<TopologyLink>,
    /// Parallel links that are one for bridges (link aggregation, IEEE 802.1AX), as ranges of indices into `links`.
    pub aggregates: Vec<Range<usize>>,
    /// What a file says of it as a subnet of InfiniBand, if it does.
    pub cabling: Option<Arc<Cabling>>,
    /// Hosts that are one machine, where the topology says which are.
    pub servers: Vec<TopologyServer>,
    /// Whether it may have parts without a path between them: hosts of different parts reach each other by NVLink only.
    pub is_in_parts: bool,
}

/// Hosts that are one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct TopologyServer {
    /// Its hosts, in the order of their places in it.
    pub hosts: Vec<NodeId>,
    /// How NVLink joins them, if the topology says it.
    pub nvlink: Option<Nvlink>,
}

impl Topology {
    /// The hosts' ids, ascending.
    pub fn hosts(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..).zip(&self.nodes).filter(|(_, node)| node.kind == NodeKind::Host).map(|(id, _)| id)
    }

    /// The switches' ids, ascending.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..).zip(&self.nodes).filter(|(_, node)| node.kind != NodeKind::Host).map(|(id, _)| id)
    }

    /// The number of hosts.
    pub fn host_count(&self) -> usize {
        self.hosts().count()
    }

    /// Whether `node` exists and is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        self.nodes.get(node as usize).is_some_and(|node| node.kind == NodeKind::Host)
    }

    /// Whether `node` is a switch.
    pub fn is_switch(&self, node: NodeId) -> bool {
        self.nodes.get(node as usize).is_some_and(|node| node.kind != NodeKind::Host)
    }

    /// Every node's ports with what is at their other end, in one pass over the links.
    ///
    /// # Panics
    /// If a link names a node that does not exist, which [`Topology::check`] reports.
    pub fn adjacency(&self) -> Adjacency {
        Adjacency::new(self)
    }

    /// The list of active links for [`Routes`](crate::Routes) if every link carries frames.
    pub fn all_links_active(&self) -> Vec<bool> {
        vec![true; self.links.len()]
    }

    /// Positions for drawing.
    ///
    /// # Panics
    /// As [`Topology::adjacency`].
    pub fn layout(&self) -> Layout {
        Layout::new(self)
    }
}

/// Makes a topology from its parameters: implemented by the `Parameters` of each file.
pub trait Generate: Sized {
    /// Builds the network of these parameters; `folder` is where relative paths start.
    ///
    /// # Errors The first parameter, or place in a file, that is invalid, with how to fix it.
    fn generate(&self, folder: &Path) -> Result<Topology, TopologyError>;

    /// Valid parameters, for documentation and for the conformance test of all topologies; none if
    /// a file would be needed.
    fn examples() -> Vec<Self>;
}

/// An entry of the table of topologies.
#[derive(Clone, Copy, Debug)]
pub struct TopologyEntry {
    /// The scenario's key: `[topology.NAME]`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The JSON Schema of the parameters.
    pub schema: fn() -> Schema,
}

/// Makes the modules, the scenario key, the JSON Schema and the table of topologies from one list.
macro_rules! topologies {
    ($(#[doc = $summary:literal] $variant:ident = $name:literal => $module:ident,)*) => {
        $(pub mod $module;)*

        /// A topology with its parameters, as `[topology.NAME]` gives them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum TopologyConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Parameters),)*
        }

        impl TopologyConfig {
            /// The names that a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Every topology with its summary and schema, in the order of [`Self::NAMES`].
            pub const ENTRIES: &'static [TopologyEntry] = &[$(TopologyEntry {
                name: $name,
                summary: $summary.trim_ascii(),
                schema: || schemars::schema_for!($module::Parameters),
            }),*];

            /// The scenario's key of this topology.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// The network; `folder` is where relative paths start.
            ///
            /// # Errors
            /// The first parameter, or place in a file, that cannot be built.
            pub fn build(&self, folder: &Path) -> Result<Topology, TopologyError> {
                match self { $(Self::$variant(parameters) => parameters.generate(folder),)* }
            }

            /// Configurations of every topology that build without a file.
            pub fn examples() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Parameters::examples().into_iter().map(Self::$variant));)*
                all
            }
        }
    };
}

topologies! {
    /// Servers around one switch.
    SingleSwitch = "single-switch" => single_switch,
    /// Two switches with servers on either side of one link.
    Dumbbell = "dumbbell" => dumbbell,
    /// Two tiers: every leaf switch has a link to every spine switch.
    LeafSpine = "leaf-spine" => leaf_spine,
    /// Three tiers of equal switches with k ports: k^3/4 servers at full bisection bandwidth.
    FatTree = "fat-tree" => fat_tree,
    /// Three tiers in pods, with any number of racks, aggregation and core switches.
    Clos = "clos" => clos,
    /// Servers of GPUs, whose NICs with the same place share a leaf switch: rails that meet at spines.
    RailOptimised = "rail-optimised" => rail_optimised,
    /// Servers of GPUs with a switch for each rail, and none that joins rails.
    RailOnly = "rail-only" => rail_only,
    /// Hosts, switches and links by name, each as it is written.
    Graph = "graph" => graph,
    /// Nodes and links read from an edge list.
    File = "file" => file,
}

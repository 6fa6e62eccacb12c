//! Topologies: one a file, one line each in the list at the end of this one.

mod single_switch;

use rocelab_units::{Bandwidth, Duration, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

/// A link as a scenario writes it: `{ rate = "100Gbps", cable = "3m" }`, or with a `delay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Rate of each direction.
    pub rate: Bandwidth,
    /// Cable length, at 5 ns a metre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cable: Option<Length>,
    /// Propagation delay in place of a cable length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
}

/// Makes the scenario key, the JSON Schema and the table of topologies from one list.
macro_rules! topologies {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $module:ident,)*) => {
        /// A topology with its parameters, as `[topology.NAME]` gives them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum TopologyConfig {
            $($(#[$doc])* #[serde(rename = $name)] $variant($module::Parameters),)*
        }

        impl TopologyConfig {
            /// The names that a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($name),*];
        }
    };
}

topologies! {
    /// Servers around one switch.
    SingleSwitch = "single-switch" => single_switch,
}

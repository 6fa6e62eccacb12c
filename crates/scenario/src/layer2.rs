//! `[layer2]`: what matters where frames are forwarded by MAC address.

use rocelab_fabric::LearningConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MulticastForwarding;

/// Layer-2 forwarding, broadcast domains, and what switches know of hosts. RoCE v2 is routed and takes
/// every link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Layer2Config {
    /// How RoCE v1 frames find their way where the topology has loops.
    pub forwarding: Forwarding,
    /// Broadcast domains; hosts of none of them share one of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vlans: Vec<VlanConfig>,
    /// What is missing in the tables of switches at the beginning. Default: nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entry: Vec<EntryConfig>,
    /// How switches learn and forget where hosts are. Without it, what they know does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning: Option<LearningConfig>,
    /// Whether RoCE v2 routers drop lossless frames for a host whose ARP entry they have and whose MAC
    /// entry they have not, in place of flooding them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_incomplete_arp: bool,
    /// Where bridges send RoCE v1 frames of a multicast group.
    #[serde(skip_serializing_if = "MulticastForwarding::is_flooding")]
    pub multicast: MulticastForwarding,
}

/// What the tables of switches say of some hosts at the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntryConfig {
    /// The hosts: names, or ranges of names.
    pub hosts: Vec<String>,
    /// The port of their MAC addresses, at their last switch; on RoCE v1, at every switch.
    #[serde(default)]
    pub mac: EntryState,
    /// The MAC addresses of their IP addresses, at their last switch. Only on RoCE v2.
    #[serde(default)]
    pub arp: EntryState,
}

/// Whether a table has an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryState {
    /// It does.
    #[default]
    Alive,
    /// It does not.
    Gone,
}

/// How layer-2 frames find their way where the topology has loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// Only the links of a spanning tree carry frames.
    #[default]
    SpanningTree,
    /// Every shortest path does, chosen by a hash of the MAC addresses and the flow label.
    Multipath,
}

/// A broadcast domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VlanConfig {
    /// VLAN identifier, 1 to 4094.
    #[schemars(range(min = 1, max = 4094))]
    pub id: u16,
    /// Its hosts: names, or ranges of names such as `host-0..host-7` (both ends included).
    pub hosts: Vec<String>,
}

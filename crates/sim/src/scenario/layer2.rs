//! `[layer2]`: what matters where frames are forwarded by MAC address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Layer-2 forwarding and broadcast domains. RoCE v2 is routed and takes every link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Layer2Config {
    /// How RoCE v1 frames find their way where the topology has loops.
    pub forwarding: Forwarding,
    /// Broadcast domains; hosts of none of them share one of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vlans: Vec<VlanConfig>,
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

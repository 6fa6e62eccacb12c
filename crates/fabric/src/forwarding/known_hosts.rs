//! What the switches of a network know of its hosts at the beginning, and how they learn and forget.

use std::collections::BTreeMap;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// The MAC tables of all switches and the ARP tables of routers, at the beginning and later.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts {
    /// Hosts of which something is missing at the beginning.
    pub missing: BTreeMap<NodeId, MissingEntries>,
    /// How switches learn and forget; none: what they know does not change.
    pub learning: Option<LearningConfig>,
    /// Whether routers drop lossless frames that they know the MAC address for and not its port, in
    /// place of flooding them.
    pub drop_incomplete_arp: bool,
}

/// What is missing of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingEntries {
    /// The port of its MAC address: at its router, or in RoCE v1 at every switch.
    pub mac: bool,
    /// The MAC address of its IP address, at its router.
    pub arp: bool,
}

/// How switches learn and forget where hosts are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LearningConfig {
    /// How long a MAC entry lives after the last frame from that address, above 0.
    pub mac_ageing: Duration,
    /// How long an ARP entry lives after it was resolved, above 0. Only on RoCE v2.
    pub arp_timeout: Duration,
}

impl Default for LearningConfig {
    /// 300 s, the default of IEEE 802.1Q, and 4 hours.
    fn default() -> Self {
        Self { mac_ageing: Duration::from_ms(300_000), arp_timeout: Duration::from_ms(14_400_000) }
    }
}

/// What became of MAC entries while switches learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct MacEntries {
    /// Addresses that a switch did not know, or knew behind another port.
    pub learnt: u64,
    /// Entries that were looked up and found older than the ageing time.
    pub aged: u64,
}

impl KnownHosts {
    /// Whether every switch knows every host, always.
    pub fn are_complete(&self) -> bool {
        self.missing.is_empty() && self.learning.is_none()
    }

    /// Whether a MAC address may be forgotten while the ARP entry that leads to it lives.
    pub fn mac_ages_first(&self) -> bool {
        self.learning.as_ref().is_some_and(|learning| learning.mac_ageing < learning.arp_timeout)
    }

    /// Whether the MAC address of a host is missing at the beginning.
    pub(super) fn lacks_mac(&self, host: NodeId) -> bool {
        self.missing.get(&host).is_some_and(|entries| entries.mac)
    }

    /// Whether the ARP entry of a host is missing at the beginning.
    pub(super) fn lacks_arp(&self, host: NodeId) -> bool {
        self.missing.get(&host).is_some_and(|entries| entries.arp)
    }
}

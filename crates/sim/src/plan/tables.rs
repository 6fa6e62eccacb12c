//! What switches know of hosts at the beginning, and how they learn and forget.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;

use crate::scenario::LearningConfig;

/// The MAC tables of all switches and the ARP tables of routers.
#[derive(Clone, Debug, Default)]
pub struct TablesPlan {
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

impl TablesPlan {
    /// Whether every switch knows every host, always.
    pub fn are_complete(&self) -> bool {
        self.missing.is_empty() && self.learning.is_none()
    }

    /// Whether a MAC address may be forgotten while the ARP entry that leads to it lives.
    pub(crate) fn mac_ages_first(&self) -> bool {
        self.learning.as_ref().is_some_and(|learning| learning.mac_ageing < learning.arp_timeout)
    }
}

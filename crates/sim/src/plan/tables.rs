//! What switches know of hosts at the beginning, and how they learn and forget.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_units::Duration;

use crate::scenario::{
    EntryState, Fault, Forwarding, LearningConfig, RoceVersion, Scenario, ensure,
};
use crate::workload::HostDirectory;

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

/// Finds and checks the tables.
pub(super) fn build(scenario: &Scenario, hosts: &HostDirectory) -> Result<TablesPlan, Fault> {
    let config = &scenario.layer2;
    let tables = TablesPlan {
        missing: missing(scenario, hosts)?,
        learning: config.learning.clone(),
        drop_incomplete_arp: config.drop_incomplete_arp,
    };
    if let Some(learning) = &tables.learning {
        check_times(learning)?;
    }
    if scenario.roce.version == RoceVersion::V1 {
        check_bridges(scenario, &tables)?;
    }
    Ok(tables)
}

fn missing(
    scenario: &Scenario,
    hosts: &HostDirectory,
) -> Result<BTreeMap<NodeId, MissingEntries>, Fault> {
    let mut missing = BTreeMap::new();
    for (index, entry) in scenario.layer2.entry.iter().enumerate() {
        let section = format!("layer2.entry[{index}]");
        let [mac, arp] = [entry.mac, entry.arp].map(|state| state == EntryState::Gone);
        ensure(!arp || scenario.roce.version == RoceVersion::V2, || {
            Fault::at(format!("{section}.arp"), "RoCE v1 has no IP addresses to resolve")
                .help("leave it out, or use `roce.version = 2`")
        })?;
        let named = hosts.selected("hosts", Some(&entry.hosts));
        for host in named.map_err(|fault| fault.within(&section))? {
            ensure(missing.insert(host, MissingEntries { mac, arp }).is_none(), || {
                let message = format!("`{}` is in an entry before", hosts.name(host));
                Fault::at(format!("{section}.hosts"), message).help("name every host once")
            })?;
        }
    }
    missing.retain(|_, entries| entries.mac || entries.arp);
    Ok(missing)
}

fn check_times(learning: &LearningConfig) -> Result<(), Fault> {
    for (key, time) in [("mac_ageing", learning.mac_ageing), ("arp_timeout", learning.arp_timeout)]
    {
        ensure(time > Duration::ZERO, || {
            Fault::at(format!("layer2.learning.{key}"), "nothing would ever be known")
                .help("give a time above 0s, such as \"300s\"")
        })?;
    }
    Ok(())
}

/// Bridges flood along a tree, and what they learn is not mixed with what was set by hand.
fn check_bridges(scenario: &Scenario, tables: &TablesPlan) -> Result<(), Fault> {
    ensure(!tables.drop_incomplete_arp, || {
        Fault::at("layer2.drop_incomplete_arp", "RoCE v1 has no ARP entries")
            .help("leave it out, or use `roce.version = 2`")
    })?;
    let is_tree = scenario.layer2.forwarding == Forwarding::SpanningTree;
    ensure(is_tree || tables.are_complete(), || {
        Fault::at("layer2.forwarding", "flooded frames would go round in loops")
            .help("use \"spanning-tree\", or leave out `learning` and `entry`")
    })?;
    ensure(scenario.route.is_empty() || tables.learning.is_none(), || {
        Fault::at("layer2.learning", "MAC tables with static entries do not learn")
            .help("leave out `learning`, or `[[route]]`")
    })
}

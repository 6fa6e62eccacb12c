//! What switches know of hosts at the beginning, and how they learn and forget.

use std::collections::BTreeMap;

use rocelab_fabric::{ForwardingPlane, KnownHosts, MissingEntries, NodeId, Topology};
use rocelab_units::Duration;
use rocelab_wire::Encapsulation;

use crate::scenario::{
    EntryState, Fault, Forwarding, LearningConfig, RoceVersion, Scenario, ensure,
};
use crate::workload::HostDirectory;

/// Finds and checks what they know, and their forwarding planes.
pub(super) fn build(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
) -> Result<KnownHosts, Fault> {
    let config = &scenario.layer2;
    let known = KnownHosts {
        missing: missing(scenario, hosts)?,
        learning: config.learning.clone(),
        drop_incomplete_arp: config.drop_incomplete_arp,
    };
    if let Some(learning) = &known.learning {
        check_times(learning)?;
    }
    if scenario.layer3.is_some() {
        check_no_arp(scenario)?;
        check_aggregates(topology, &known)?;
        return Ok(known);
    }
    if scenario.roce.version == RoceVersion::V1 {
        check_bridges(scenario, &known)?;
        check_aggregates(topology, &known)?;
    }
    check_planes(scenario)?;
    Ok(known)
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

/// Where routers are beside bridges, they know the MAC address of every IP address.
fn check_no_arp(scenario: &Scenario) -> Result<(), Fault> {
    for (index, entry) in scenario.layer2.entry.iter().enumerate() {
        ensure(entry.arp != EntryState::Gone, || {
            let what = "with `[layer3]` routers know the MAC address of every host";
            Fault::at(format!("layer2.entry[{index}].arp"), what).help("leave it out")
        })?;
    }
    Ok(())
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
fn check_bridges(scenario: &Scenario, known: &KnownHosts) -> Result<(), Fault> {
    ensure(!known.drop_incomplete_arp, || {
        Fault::at("layer2.drop_incomplete_arp", "RoCE v1 has no ARP entries")
            .help("leave it out, or use `roce.version = 2`")
    })?;
    let is_tree = scenario.layer2.forwarding == Forwarding::SpanningTree;
    ensure(is_tree || known.are_complete(), || {
        Fault::at("layer2.forwarding", "flooded frames would go round in loops")
            .help("use \"spanning-tree\", or leave out `learning` and `entry`")
    })?;
    ensure(scenario.route.is_empty() || known.learning.is_none(), || {
        Fault::at("layer2.learning", "MAC tables with static entries do not learn")
            .help("leave out `learning`, or `[[route]]`")
    })
}

/// A frame is flooded by each link of an aggregate, and would arrive as often.
fn check_aggregates(topology: &Topology, known: &KnownHosts) -> Result<(), Fault> {
    ensure(topology.aggregates.is_empty() || known.are_complete(), || {
        Fault::at("topology.graph", "bridges do not learn addresses behind aggregated links")
            .help("leave out `aggregate`, or `layer2.learning` and `layer2.entry`")
    })
}

/// A switch forwards what there is, and one that does not do as routes say floods along a tree.
fn check_planes(scenario: &Scenario) -> Result<(), Fault> {
    let of_all = ("switch".to_owned(), scenario.switch.forwarding_plane);
    let overrides = scenario.switch.overrides.iter().enumerate().filter_map(|(place, one)| {
        Some((format!("switch.override[{place}]"), one.forwarding_plane?))
    });
    let is_tree = scenario.layer2.forwarding == Forwarding::SpanningTree;
    for (section, plane) in std::iter::once(of_all).chain(overrides) {
        let at = |problem: &str| {
            Fault::at(format!("{section}.forwarding_plane"), problem).value(plane.name())
        };
        let (encapsulation, version) = match scenario.roce.version {
            RoceVersion::V1 => (Encapsulation::V1, 1),
            RoceVersion::V2 => (Encapsulation::V2Ipv4, 2),
        };
        ensure(plane.forwards(encapsulation), || {
            let fitting = ForwardingPlane::ALL.iter().filter(|other| other.forwards(encapsulation));
            let fitting: Vec<_> = fitting.map(|other| format!("{:?}", other.name())).collect();
            at(&format!("such a switch does not forward frames of RoCE v{version}"))
                .help(format!("give \"auto\" or {}", fitting.join(" or ")))
        })?;
        ensure(plane.follows_routes() || is_tree, || {
            at("flooded frames would go round in loops")
                .help("use `layer2.forwarding = \"spanning-tree\"`")
        })?;
        ensure(plane.follows_routes() || scenario.route.is_empty(), || {
            at("it does not look at routes, and there are some by hand")
                .help("leave out `[[route]]`, or give \"auto\"")
        })?;
    }
    Ok(())
}

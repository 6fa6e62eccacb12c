//! Broadcast domains and the links that frames may take.

use rocelab_fabric::Topology;
use rocelab_fabric::topology::spanning_tree;

use crate::plan::FlowPlan;
use crate::scenario::{Fault, Forwarding, RoceVersion, Scenario, ensure};
use crate::workload::HostDirectory;

/// For each link whether frames may cross it. RoCE v2 is routed, so no link is blocked.
pub(super) fn active_links(scenario: &Scenario, topology: &Topology) -> Vec<bool> {
    if has_spanning_tree(scenario) { spanning_tree(topology) } else { topology.all_links_active() }
}

/// Whether only the links of a spanning tree carry frames.
pub(super) fn has_spanning_tree(scenario: &Scenario) -> bool {
    scenario.roce.version == RoceVersion::V1
        && scenario.layer2.forwarding == Forwarding::SpanningTree
}

/// The VLAN of each node, 0 for none.
pub(super) fn vlans(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
) -> Result<Vec<u16>, Fault> {
    let mut vlan_of = vec![0; topology.nodes.len()];
    for (index, vlan) in scenario.layer2.vlans.iter().enumerate() {
        let section = format!("layer2.vlans[{index}]");
        let at = |key: &str| format!("{section}.{key}");
        ensure((1..=4094).contains(&vlan.id), || {
            Fault::at(at("id"), format!("VLAN {} does not exist", vlan.id)).help("give 1 to 4094")
        })?;
        let earlier = &scenario.layer2.vlans[..index];
        ensure(earlier.iter().all(|other| other.id != vlan.id), || {
            Fault::at(at("id"), format!("VLAN {} is there twice", vlan.id))
                .help("put all of its hosts into one entry")
        })?;
        let members = hosts.selected("hosts", Some(&vlan.hosts));
        for host in members.map_err(|fault| fault.within(&section))? {
            let before = std::mem::replace(&mut vlan_of[host as usize], vlan.id);
            ensure(before == 0, || {
                let name = hosts.name(host);
                Fault::at(at("hosts"), format!("`{name}` is already in VLAN {before}"))
                    .help("put every host into one VLAN")
            })?;
        }
    }
    Ok(vlan_of)
}

/// Whether a RoCE v1 flow stays in its broadcast domain; nothing routes it out.
pub(super) fn check_domain(
    flow: &FlowPlan,
    vlans: &[u16],
    hosts: &HostDirectory,
) -> Result<(), Fault> {
    let [a, b] = [flow.source, flow.destination].map(|node| vlans[node as usize]);
    ensure(a == b, || {
        let name = |vlan: u16| if vlan == 0 { "no VLAN".into() } else { format!("VLAN {vlan}") };
        let (source, destination) = (hosts.name(flow.source), hosts.name(flow.destination));
        let message = format!(
            "RoCE v1 cannot leave a broadcast domain: `{source}` is in {} and `{destination}` in {}",
            name(a),
            name(b)
        );
        Fault::at("", message).help("put both hosts into one VLAN, or use `roce.version = 2`")
    })
}

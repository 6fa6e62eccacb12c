//! Fat tree: ways up are chosen so that every shift of all hosts by the same distance is free of contention.

mod fabric;
mod ranks;
mod tuples;
mod ways;

use self::fabric::Fabric;
use self::ways::Ways;
use crate::subnet::Subnet;
use crate::tables::{ForwardingTables, Tables};
use crate::topology::NodeKind;

/// Levels of switches.
const FEWEST_LEVELS: u32 = 2;
const MOST_LEVELS: u32 = 8;

/// The tables of the fat tree whose `roots` are given or found; else why the subnet is no fat tree.
pub(super) fn route(subnet: &Subnet, roots: Option<&[usize]>) -> Result<Tables, String> {
    if subnet.lmc() > 0 {
        return Err("it has one LID for each port, and the LMC is not 0".to_owned());
    }
    let graph = subnet.graph();
    if graph.len() < 2 {
        return Err("there are fewer than two switches".to_owned());
    }
    let ends: usize = (0..graph.len()).map(|switch| subnet.adapters(switch).count()).sum();
    if ends < 2 {
        return Err("there are fewer than two channel adapters".to_owned());
    }
    let ranks = ranks::ranks(subnet, roots)?;
    let mut fabric = Fabric::new(subnet, &ranks)?;
    let leaves = tuples::sort(&mut fabric, &ranks, graph)?;
    if roots.is_none() {
        fabric.check_is_regular(subnet)?;
    }
    let mut forwarding = ForwardingTables::empty(subnet);
    let mut ways = Ways::new(fabric);
    route_hosts(subnet, &leaves, &mut ways, &mut forwarding);
    for switch in 0..graph.len() {
        ways.find(switch, ways::Kind::Switch);
        ways.write(subnet.switch_lid(switch), &mut forwarding);
    }
    route_routers(subnet, &mut ways, &mut forwarding);
    Ok(Tables::on_one_lane(forwarding))
}

/// Routes routers, which have no part in the balance.
fn route_routers(subnet: &Subnet, ways: &mut Ways, forwarding: &mut ForwardingTables) {
    for switch in 0..subnet.graph().len() {
        for (port, end_port) in subnet.graph().attached(switch) {
            let router = &subnet.end_ports()[end_port];
            if router.kind == NodeKind::Router {
                ways.find(switch, ways::Kind::Switch);
                ways.write(router.lids.base, forwarding);
                forwarding.set(switch, router.lids.base, port);
            }
        }
    }
}

/// Routes hosts, leaf by leaf, and hosts that are missing: these change nothing but the balance.
fn route_hosts(
    subnet: &Subnet,
    leaves: &[usize],
    ways: &mut Ways,
    forwarding: &mut ForwardingTables,
) {
    let hosts = |&leaf: &usize| subnet.adapters(leaf).count();
    let most = leaves.iter().map(hosts).max().unwrap_or(0);
    for &leaf in leaves {
        for (port, end_port) in subnet.adapters(leaf) {
            let lid = subnet.end_ports()[end_port].lids.base;
            ways.find(leaf, ways::Kind::Host);
            ways.write(lid, forwarding);
            forwarding.set(leaf, lid, port);
        }
        for _ in hosts(&leaf)..most {
            ways.find(leaf, ways::Kind::MissingHost);
        }
    }
}

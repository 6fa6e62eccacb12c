//! `[layer3]`: which switches are bridges and which are routers, and hosts of both versions of RoCE.

use std::collections::BTreeSet;
use std::sync::Arc;

use rocelab_fabric::{
    DomainConfig, Domains, ForwardingPlane, LoadBalancing, NodeId, SwitchForwarding, SwitchRole,
    Topology,
};

use super::switches::named_switches;
use crate::plan::{ConnectionPlan, FlowPlan, MonitoringPlan, Plan, RocePlan};
use crate::record::DropCause;
use crate::scenario::{
    Fault, Forwarding, Layer3Config, ProfileConfig, RoceVersion, Scenario, Side, ensure,
};
use crate::workload::HostDirectory;

/// The broadcast domains of a network, if the scenario says what its switches are.
pub(super) fn domains(
    scenario: &Scenario,
    topology: &Topology,
    hosts: &HostDirectory,
    vlans: &[u16],
) -> Result<Option<Arc<Domains>>, Fault> {
    let Some(config) = &scenario.layer3 else { return Ok(None) };
    check_others(scenario)?;
    ensure(topology.aggregates.is_empty(), || {
        Fault::at("topology.graph", "with `[layer3]` one link leads from switch to switch")
            .help("leave out `aggregate`, or `[layer3]`")
    })?;
    let mut roles: Vec<Option<SwitchRole>> = vec![None; topology.nodes.len()];
    for switch in topology.switches() {
        roles[switch as usize] = Some(SwitchRole::Bridge);
    }
    let Layer3Config { routers, multilayer } = config;
    for (key, named, role) in [
        ("routers", routers, SwitchRole::Router),
        ("multilayer", multilayer, SwitchRole::Multilayer),
    ] {
        let key = format!("layer3.{key}");
        for switch in named_switches(named, topology).map_err(|fault| fault.within(&key))? {
            let before = roles[switch as usize].replace(role);
            ensure(before == Some(SwitchRole::Bridge), || {
                let name = &topology.nodes[switch as usize].name;
                Fault::at(&key, format!("`{name}` is named twice")).help("name every switch once")
            })?;
        }
    }
    let mut subnets = vec![0; topology.nodes.len()];
    for (number, subnet) in (1u32..).zip(&scenario.subnet) {
        for host in hosts.selected("hosts", Some(&subnet.hosts))? {
            subnets[host as usize] = number;
        }
    }
    let config = DomainConfig { roles, vlans: vlans.to_vec(), subnets, hash_seed: scenario.seed };
    let domains = Domains::new(topology, config);
    check_subnets(scenario, &domains, hosts)?;
    Ok(Some(Arc::new(domains)))
}

/// The hosts of a subnet reach each other without a router.
fn check_subnets(
    scenario: &Scenario,
    domains: &Domains,
    hosts: &HostDirectory,
) -> Result<(), Fault> {
    for (index, subnet) in scenario.subnet.iter().enumerate() {
        let named = hosts.selected("hosts", Some(&subnet.hosts))?;
        let Some(&first) = named.first() else { continue };
        let outside = named.iter().find(|&&host| domains.of(host) != domains.of(first));
        if let Some(&outside) = outside {
            let (first, outside) = (hosts.name(first), hosts.name(outside));
            let what = format!("`{first}` and `{outside}` are in different broadcast domains");
            return Err(Fault::at(format!("subnet[{index}].hosts"), what)
                .help("give each broadcast domain a subnet of its own: no host asks a router for its own subnet"));
        }
    }
    Ok(())
}

/// The hosts of RoCE v1 where the others have v2.
pub(super) fn v1_hosts(
    scenario: &Scenario,
    hosts: &HostDirectory,
) -> Result<BTreeSet<NodeId>, Fault> {
    let named = &scenario.roce.v1_hosts;
    if named.is_empty() {
        return Ok(BTreeSet::new());
    }
    let at = |problem: &str| Fault::at("roce.v1_hosts", problem);
    ensure(scenario.roce.version == RoceVersion::V2, || {
        at("all hosts have version 1 anyway").help("use `roce.version = 2`, or leave it out")
    })?;
    ensure(scenario.layer3.is_some(), || {
        at("the switches are routers, which v1 does not pass")
            .help("say with `[layer3]` which switches are routers; the others are bridges")
    })?;
    let named = hosts.selected("", Some(named)).map_err(|fault| fault.within("roce.v1_hosts"))?;
    Ok(named.into_iter().collect())
}

/// RoCE v1 has no ECN: what hosts of v1 send is under no algorithm that needs marks.
pub(super) fn check_algorithms(
    roce: &RocePlan,
    (flows, connections): (&[FlowPlan], &[ConnectionPlan]),
    needs_ecn: impl Fn(u32) -> Option<String>,
    hosts: &HostDirectory,
) -> Result<(), Fault> {
    if roce.v1_hosts.is_empty() {
        return Ok(());
    }
    let of_flows = flows
        .iter()
        .filter(|flow| !flow.is_tcp())
        .map(|flow| ([flow.source, flow.destination], flow.queue_pairs));
    let of_connections = connections
        .iter()
        .filter(|connection| !connection.is_nvlink)
        .map(|one| ([one.end(Side::Client).host, one.end(Side::Server).host], one.queue_pairs));
    for (ends, queue_pairs) in of_flows.chain(of_connections) {
        let Some(host) = ends.into_iter().find(|end| roce.v1_hosts.contains(end)) else { continue };
        if let Some(name) = needs_ecn(queue_pairs) {
            let host = hosts.name(host);
            let what =
                format!("`{name}` reacts to ECN marks, which `{host}` with RoCE v1 does not have");
            return Err(Fault::at("roce.v1_hosts", what).help(
                "give the workload `congestion_control = { none = {} }`, or leave the host out",
            ));
        }
    }
    Ok(())
}

/// Why frames between two hosts do not arrive, and how it is named where they are dropped.
fn obstacle(
    plan: &Plan,
    domains: &Domains,
    (from, to): (NodeId, NodeId),
    is_rdma: bool,
) -> Option<(DropCause, &'static str)> {
    let roce = &plan.roce;
    let is_v1 = |host: NodeId| is_rdma && roce.is_v1(host);
    let is_ip = !is_v1(from);
    if !domains.are_neighbours(from, to, is_ip) {
        if !is_ip && !domains.routers_at(from).is_empty() {
            return Some((DropCause::NotRoutable, "RoCE v1 ends at a router"));
        }
        let routers = domains.routers_between(from, to).filter(|_| is_ip);
        let Some(routers) = routers else {
            return Some((DropCause::NoRoute, "no router leads from the one to the other"));
        };
        if routers >= roce.hop_limit.into() {
            return Some((DropCause::TtlExpired, "`roce.hop_limit` is too low for the routers"));
        }
    }
    let is_other = is_v1(from) != is_v1(to);
    is_other.then_some((DropCause::WrongGid, "one has RoCE v1 and the other v2"))
}

/// Traffic between hosts where frames do not arrive: a lesson of such networks, or a mistake.
pub(super) fn unreachable(plan: &Plan) -> Option<Fault> {
    let domains = plan.roce.domains.as_deref()?;
    let of_flows = plan.flows.iter().map(|flow| (flow.source, flow.destination, !flow.is_tcp()));
    let of_connections = crate::plan::network_connections(plan).map(|(_, connection)| {
        let [client, server] = &connection.ends;
        (client.host, server.host, true)
    });
    let of_streams = plan.streams.all.iter().map(|one| (one.source, one.destination, false));
    let of_mesh = plan.monitoring.iter().flat_map(MonitoringPlan::pairs);
    let of_mesh = of_mesh.map(|(from, to)| (from, to, true));
    let all = of_flows.chain(of_connections).chain(of_streams).chain(of_mesh);
    let pairs: BTreeSet<_> = all.collect();
    let both = pairs.into_iter().filter_map(|(from, to, is_rdma)| {
        let ways = [(from, to), (to, from)].into_iter();
        ways.filter_map(|way| Some((way, obstacle(plan, domains, way, is_rdma)?))).next()
    });
    let mut all = both;
    let ((from, to), (cause, why)) = all.next()?;
    let name = |host: NodeId| &plan.topology.nodes[host as usize].name;
    let more = match all.count() {
        0 => String::new(),
        1 => ", and another pair of hosts is like that".to_owned(),
        more => format!(", and {more} other pairs of hosts are like that"),
    };
    let text = format!(
        "frames from `{}` to `{}` do not arrive ({}): {why}{more}",
        name(from),
        name(to),
        cause.name()
    );
    let fix = match cause {
        DropCause::TtlExpired => "raise `roce.hop_limit`",
        DropCause::NoRoute => "let routers of `[layer3]` join their domains",
        DropCause::NotRoutable => "give both hosts version 2, or put them into one domain",
        _ => "give both hosts the same version",
    };
    Some(Fault::at("layer3", text).value("").help(format!("{fix}, if that is not meant")))
}

/// What does not go together with bridges and routers in one network.
fn check_others(scenario: &Scenario) -> Result<(), Fault> {
    let refused =
        |key: &str, problem: &str| Err(Fault::at(key, problem).help("leave it out, or `[layer3]`"));
    let (layer2, switch) = (&scenario.layer2, &scenario.switch);
    if layer2.drop_incomplete_arp {
        return refused("layer2.drop_incomplete_arp", "with `[layer3]` no router floods");
    }
    if layer2.forwarding != Forwarding::SpanningTree {
        return refused("layer2.forwarding", "with `[layer3]` bridges have a spanning tree");
    }
    if !scenario.route.is_empty() {
        return refused("route[0]", "with `[layer3]` ways follow from subnets and VLANs");
    }
    if !scenario.failure.is_empty() {
        return refused("failure[0]", "with `[layer3]` ways do not change");
    }
    if !scenario.ingress.fast_cnp.is_empty() {
        return refused("ingress.fast_cnp[0]", "with `[layer3]` switches make no frames");
    }
    if switch.qcn.is_some() {
        return refused("switch.qcn", "with `[layer3]` switches make no frames");
    }
    if let Some(index) = switch.overrides.iter().position(|one| one.qcn.is_some()) {
        let key = format!("switch.override[{index}].qcn");
        return refused(&key, "with `[layer3]` switches make no frames");
    }
    if matches!(scenario.profile, Some(ProfileConfig::HpccNs3(_))) {
        return refused("profile.hpcc-ns3", "HPCC's simulator has no subnets");
    }
    let overrides = switch.overrides.iter().enumerate();
    let of = |index: Option<usize>, key: &str| match index {
        None => format!("switch.{key}"),
        Some(index) => format!("switch.override[{index}].{key}"),
    };
    let all = std::iter::once((
        None,
        Some(switch.forwarding_plane),
        Some(switch.load_balancing),
        Some(switch.forwarding),
    ));
    let all = all.chain(overrides.map(|(index, one)| {
        (Some(index), one.forwarding_plane, one.load_balancing, one.forwarding)
    }));
    for (index, plane, balancing, forwarding) in all {
        if plane.is_some_and(|plane| plane != ForwardingPlane::Auto) {
            return refused(&of(index, "forwarding_plane"), "`[layer3]` says what switches are");
        }
        if balancing.is_some_and(|balancing| balancing != LoadBalancing::Ecmp) {
            return refused(
                &of(index, "load_balancing"),
                "with `[layer3]` routers choose by the hash of addresses and ports",
            );
        }
        if forwarding.is_some_and(|one| one != SwitchForwarding::default()) {
            let what = "with `[layer3]` a switch finds the port when the frame is there";
            return refused(&of(index, "forwarding"), what);
        }
    }
    Ok(())
}

//! Whether the network can tell senders what their algorithms want to know of it.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::{Domains, NodeId, Topology, TopologyLink};
use rocelab_transport::congestion_control::Feedback;
use rocelab_units::Bandwidth;
use rocelab_wire::Encapsulation;

use super::algorithms::Named;
use super::static_routes::Forwarding;
use crate::plan::{FlowPlan, RocePlan};
use crate::scenario::{Fault, ensure};
use crate::workload::HostDirectory;

/// Whether every flow's path has its telemetry: rates that have a number, few enough switches, and
/// one unit for all.
pub(super) fn check(
    in_use: &[Named<'_>],
    forwarding: &Forwarding<'_>,
    hosts: &HostDirectory,
    flows: &[FlowPlan],
) -> Result<(), Fault> {
    for (place, named) in (0u32..).zip(in_use) {
        let Some(kind) = named.algorithm.telemetry() else { continue };
        if let Some(rates) = kind.rates_gbps() {
            check_rates(&named.section(), rates, forwarding.topology)?;
        }
        if let Some(room) = kind.max_hops() {
            let its_own = flows.iter().filter(|flow| !flow.is_tcp() && flow.queue_pairs == place);
            check_paths(&named.section(), room, forwarding, its_own)?;
        }
    }
    check_units(in_use, hosts)
}

/// Whether those that count hops can: switches take from the hop limit of RoCE v2 alone.
pub(super) fn check_hop_counts(in_use: &[Named<'_>], roce: &RocePlan) -> Result<(), Fault> {
    let Some(named) = in_use.iter().find(|named| named.algorithm.counts_hops()) else {
        return Ok(());
    };
    let without = match roce.encapsulations().any(|one| one == Encapsulation::V1) {
        _ if roce.is_infiniband => "the packets of an InfiniBand subnet have no hop limit",
        true => "no switch takes from the hop limit of RoCE v1",
        false => return Ok(()),
    };
    let key = format!("{}.hops", named.section());
    Err(Fault::at(key, format!("hops cannot be counted: {without}"))
        .value("counted")
        .help("give the number of switches on a path, such as `hops = 5`"))
}

/// Whether telemetry has a number for the rate of every port: those of `gbps` (Gbit/s).
pub(super) fn check_rates(key: &str, gbps: &[u64], topology: &Topology) -> Result<(), Fault> {
    let known = |rate| gbps.iter().any(|&gbps| Bandwidth::from_gbps(gbps) == rate);
    let unknown = topology.links.iter().find(|link| !known(link.rate));
    unknown.map_or(Ok(()), |link| {
        let between = between(link, topology);
        let message = format!("{between} is {}, for which telemetry has no number", link.rate);
        let all: Vec<_> = gbps.iter().map(u64::to_string).collect();
        let (last, first) = all.split_last().map_or(("", &[][..]), |(last, first)| (last, first));
        let help =
            format!("use links of {} or {last} Gbps, or another algorithm", first.join(", "));
        Err(Fault::at(key, message).help(help))
    })
}

/// Whether telemetry with `room` for so many records has one for every switch on the way of `flows`.
pub(super) fn check_paths<'a>(
    key: &str,
    room: usize,
    forwarding: &Forwarding<'_>,
    flows: impl IntoIterator<Item = &'a FlowPlan>,
) -> Result<(), Fault> {
    let topology = forwarding.topology;
    // Through a router a frame may come to a bridge twice.
    if forwarding.domains.is_none() && topology.switches().count() <= room {
        return Ok(());
    }
    let adjacency = topology.adjacency();
    let routes = if forwarding.domains.is_some() { None } else { forwarding.routes() };
    // Hosts of one domain at one switch have ways of one length.
    let place = |domains: &Domains, host: NodeId| {
        Some((adjacency.ports_of(host).first()?.node, domains.of(host)?))
    };
    let mut known = BTreeMap::new();
    for flow in flows {
        let ends = (flow.source, flow.destination);
        let mut through = |domains: &Domains| {
            let places = (place(domains, ends.0)?, place(domains, ends.1)?);
            let key = (places, domains.are_neighbours(ends.0, ends.1, true));
            *known.entry(key).or_insert_with(|| {
                let step = |links: &usize, _, _| links + 1;
                domains.fold_ways(&adjacency, ends, true, 0_usize, step, usize::max)
            })
        };
        let links = match (forwarding.domains, &routes) {
            (Some(domains), _) => through(domains),
            (None, Some(routes)) => routes.path_length(ends.0, ends.1).ok(),
            (None, None) => None,
        };
        let switches = links.unwrap_or(0).saturating_sub(1);
        ensure(switches <= room, || {
            let name = |node: u32| &topology.nodes[node as usize].name;
            let (source, destination) = (name(flow.source), name(flow.destination));
            let way = format!("{switches} switches from `{source}` to `{destination}`");
            Fault::at(key, format!("telemetry has room for {room} hops, not for {way}"))
                .help("use shorter paths, or another algorithm")
        })?;
    }
    Ok(())
}

/// Switches write in the same units into all packets, so all senders must mean the same ones.
fn check_units(in_use: &[Named<'_>], hosts: &HostDirectory) -> Result<(), Fault> {
    let rates: BTreeSet<_> = hosts.all().iter().map(|&host| hosts.link_rate(host)).collect();
    let mut first: Vec<(Feedback, String)> = Vec::new();
    for named in in_use {
        for &rate in &rates {
            let feedback = named.algorithm.feedback(rate);
            let Some(kind) = feedback.telemetry() else { continue };
            let user = format!("`{}` at hosts of {rate}", named.section());
            let same_kind = |(known, _): &&(Feedback, String)| known.telemetry() == Some(kind);
            let Some((known, other)) = first.iter().find(same_kind) else {
                first.push((feedback, user));
                continue;
            };
            ensure(*known == feedback, || {
                let message = format!("{user} counts in other units than {other}");
                Fault::at(named.section(), message)
                    .help(format!("give `{}` the same value everywhere", kind.units_key()))
            })?;
        }
    }
    Ok(())
}

/// The link by the names of its ends.
pub(super) fn between(link: &TopologyLink, topology: &Topology) -> String {
    let name = |node: u32| &topology.nodes[node as usize].name;
    format!("the link from `{}` to `{}`", name(link.a), name(link.b))
}

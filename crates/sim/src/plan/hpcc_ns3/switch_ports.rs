//! Whether every switch port can do what is asked of it.

use rocelab_fabric::{BufferError, HpccNs3Buffer, HpccNs3Port, Routes, Topology, TopologyLink};
use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::Feedback;
use rocelab_units::{Bandwidth, Bytes};

use super::SECTION;
use crate::plan::FlowPlan;
use crate::scenario::{Fault, HpccNs3Config, ensure};

/// The rates that in-band telemetry has a number for, in Gbit/s.
const TELEMETRY_RATES: [u64; 5] = [25, 50, 100, 200, 400];
/// The most switches that a packet's telemetry has room for.
const TELEMETRY_HOPS: usize = 5;

/// Whether every switch has memory for its headroom and reserves.
pub(super) fn check_buffer(buffer: Bytes, topology: &Topology) -> Result<(), Fault> {
    let adjacency = topology.adjacency();
    let nic_rate = nic_rate(topology);
    for switch in topology.switches() {
        let port = |link: u32| {
            let link = &topology.links[link as usize];
            HpccNs3Port { rate: link.rate, delay: link.delay }
        };
        let ports: Vec<_> =
            adjacency.ports_of(switch).iter().map(|neighbour| port(neighbour.link)).collect();
        HpccNs3Buffer::new(buffer.get(), &ports, nic_rate)
            .map_err(|error| too_small(&error, buffer, &topology.nodes[switch as usize].name))?;
    }
    Ok(())
}

fn too_small(error: &BufferError, buffer: Bytes, switch: &str) -> Fault {
    let fault = Fault::at("switch.buffer", format!("at `{switch}`, {error}")).value(buffer);
    match error {
        BufferError::NothingToShare { headroom, reserve, .. } => {
            let needed = Bytes::new(headroom.get().saturating_add(reserve.get()));
            fault.help(format!("give more than {needed}"))
        }
        BufferError::TooLarge { .. } => fault.help("give at most 4GB"),
    }
}

/// The rate of the first link of the first host, which stands for that of all.
fn nic_rate(topology: &Topology) -> Bandwidth {
    let host = topology.hosts().next();
    let link = topology.links.iter().find(|link| Some(link.a) == host || Some(link.b) == host);
    link.map_or(Bandwidth::default(), |link| link.rate)
}

/// Whether each switch port has its marking thresholds. Every link ends at a switch.
pub(super) fn check_thresholds(config: &HpccNs3Config, topology: &Topology) -> Result<(), Fault> {
    let has = |rate: Bandwidth| config.ecn.iter().any(|row| row.rate == rate);
    let without = topology.links.iter().find(|link| config.mark && !has(link.rate));
    without.map_or(Ok(()), |link| {
        let message = format!("{} is {} and has no thresholds", between(link, topology), link.rate);
        let row = format!("{{ rate = \"{}\", kmin = ..., kmax = ..., pmax = ... }}", link.rate);
        Err(Fault::at(format!("{SECTION}.ecn"), message)
            .help(format!("add `{row}`, or do not `mark`")))
    })
}

/// Whether telemetry, if the algorithm needs it, can tell every port's rate and every hop.
pub(super) fn check_telemetry(
    algorithm: &Algorithm,
    topology: &Topology,
    flows: &[FlowPlan],
) -> Result<(), Fault> {
    if !carries_telemetry(algorithm) {
        return Ok(());
    }
    let key = format!("congestion_control.{}", algorithm.name());
    let known = |rate| TELEMETRY_RATES.map(Bandwidth::from_gbps).contains(&rate);
    if let Some(link) = topology.links.iter().find(|link| !known(link.rate)) {
        let message = format!(
            "{} is {}, for which telemetry has no number",
            between(link, topology),
            link.rate
        );
        let help = "use links of 25, 50, 100, 200 or 400 Gbps, or another algorithm";
        return Err(Fault::at(key, message).help(help));
    }
    check_paths(&key, topology, flows)
}

fn check_paths(key: &str, topology: &Topology, flows: &[FlowPlan]) -> Result<(), Fault> {
    if topology.switches().count() <= TELEMETRY_HOPS {
        return Ok(());
    }
    let Ok(routes) = Routes::new(topology, &topology.all_links_active()) else { return Ok(()) };
    for flow in flows {
        let links = routes.path_length(flow.source, flow.destination).unwrap_or(0);
        let switches = links.saturating_sub(1);
        ensure(switches <= TELEMETRY_HOPS, || {
            let name = |node: u32| &topology.nodes[node as usize].name;
            let (source, destination) = (name(flow.source), name(flow.destination));
            let way = format!("{switches} switches from `{source}` to `{destination}`");
            Fault::at(key, format!("telemetry has room for {TELEMETRY_HOPS} hops, not for {way}"))
                .help("use shorter paths, or another algorithm")
        })?;
    }
    Ok(())
}

/// Whether switches write telemetry into packets, which is no matter of the line rate.
fn carries_telemetry(algorithm: &Algorithm) -> bool {
    matches!(algorithm.feedback(Bandwidth::from_gbps(100)), Feedback::Int { .. })
}

/// The link by the names of its ends.
fn between(link: &TopologyLink, topology: &Topology) -> String {
    let name = |node: u32| &topology.nodes[node as usize].name;
    format!("the link from `{}` to `{}`", name(link.a), name(link.b))
}

//! Whether every switch port can do what is asked of it.

use rocelab_fabric::{BufferError, HpccNs3Buffer, HpccNs3Port, Topology};
use rocelab_transport::Algorithm;
use rocelab_units::{Bandwidth, Bytes};
use rocelab_wire::TelemetryKind;

use super::SECTION;
use crate::plan::{FlowPlan, telemetry};
use crate::scenario::{Fault, HpccNs3Config};

/// The rates that in-band telemetry has a number for, in Gbit/s.
const TELEMETRY_RATES: [u64; 5] = [25, 50, 100, 200, 400];

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
            .map_err(|error| too_large(&error, buffer, &topology.nodes[switch as usize].name))?;
    }
    Ok(())
}

fn too_large(error: &BufferError, buffer: Bytes, switch: &str) -> Fault {
    let fault = Fault::at("switch.buffer", format!("at `{switch}`, {error}")).value(buffer);
    fault.help("give less than 4GB")
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
        let message = format!(
            "{} is {} and has no thresholds",
            telemetry::between(link, topology),
            link.rate
        );
        let row = format!("{{ rate = \"{}\", kmin = ..., kmax = ..., pmax = ... }}", link.rate);
        Err(Fault::at(format!("{SECTION}.ecn"), message)
            .of_rate(link.rate)
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
    telemetry::check_rates(&key, &TELEMETRY_RATES, topology)?;
    telemetry::check_paths(&key, topology, &topology.all_links_active(), flows)
}

/// Whether switches write records into packets.
fn carries_telemetry(algorithm: &Algorithm) -> bool {
    algorithm.telemetry() == Some(TelemetryKind::Int)
}

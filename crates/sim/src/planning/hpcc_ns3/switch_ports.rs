//! Whether every switch port can do what is asked of it.

use rocelab_fabric::{HpccNs3Buffer, Topology};
use rocelab_transport::Algorithm;
use rocelab_units::{Bandwidth, Bytes};
use rocelab_wire::{IntHeader, TelemetryKind};

use super::parameters::SECTION;
use crate::plan::FlowPlan;
use crate::planning::static_routes::Forwarding;
use crate::planning::telemetry;
use crate::scenario::{Fault, HpccNs3Config};

/// The rates that in-band telemetry has a number for, in Gbit/s.
const TELEMETRY_RATES: [u64; 5] = [25, 50, 100, 200, 400];

/// Whether a switch's memory counts in 32 bits; headroom and reserves may be more than it.
pub(super) fn check_buffer(buffer: Bytes) -> Result<(), Fault> {
    let memory = HpccNs3Buffer::new(buffer.get(), &[], Bandwidth::default());
    memory.map(drop).map_err(|error| {
        let fault = Fault::at("switch.buffer", error.to_string()).value(buffer);
        fault.help("give less than 4GB")
    })
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
    let active = topology.all_links_active();
    let forwarding =
        Forwarding { topology, active: &active, by_hand: &[], lmc: None, domains: None };
    telemetry::check_paths(&key, IntHeader::MAX_HOPS, &forwarding, flows)
}

/// Whether switches write records into packets.
fn carries_telemetry(algorithm: &Algorithm) -> bool {
    algorithm.telemetry() == Some(TelemetryKind::Int)
}

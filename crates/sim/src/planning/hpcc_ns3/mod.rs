//! From a scenario with `[profile.hpcc-ns3]` to what its network needs.

mod delays;
mod flows;
mod meaningless;
mod parameters;
mod switch_ports;

use rocelab_fabric::Topology;
use rocelab_transport::{Algorithm, hpcc_ns3};
use rocelab_units::{Duration, SimTime};

pub(super) use flows::{Numbering, truncated};
pub(super) use meaningless::check as check_sections;
pub(super) use parameters::check as check_parameters;

use self::parameters::SECTION;
use crate::plan::{FlowPlan, HpccNs3Plan, LinkDown, QueueMonitor, RateThresholds};
use crate::scenario::{Fault, HpccNs3Config, LinkDownConfig, QueueMonitorConfig, Scenario, ensure};

/// What the network needs besides topology and flows; the topology's delays become those that the
/// simulator reads. The section's own values were [checked](check_parameters).
pub(super) fn build(
    config: &HpccNs3Config,
    scenario: &Scenario,
    topology: &mut Topology,
    flows: &[FlowPlan],
) -> Result<HpccNs3Plan, Fault> {
    let algorithm = scenario.congestion_control.clone();
    let algorithm = algorithm.expect("a resolved scenario names its algorithm");
    check_algorithm(&algorithm, topology)?;
    let delays_ns = delays::of_links(scenario, topology)?;
    for (link, delay) in topology.links.iter_mut().zip(delays_ns) {
        link.delay = Duration::from_ns(delay);
    }
    // First, because no other value mends a rate that the algorithm does not know.
    switch_ports::check_telemetry(&algorithm, topology, flows)?;
    switch_ports::check_buffer(scenario.switch.buffer)?;
    switch_ports::check_thresholds(config, topology)?;
    let link_down = config.link_down.map(|down| link_down(down, topology)).transpose()?;
    check_monitor(config, scenario.stop)?;
    Ok(planned(config, scenario.switch.buffer.get(), algorithm, link_down))
}

/// Most looks at queues: each run ends.
const MOST_LOOKS: u64 = 1_000_000_000;

/// Whether the looks at queues come to an end.
fn check_monitor(config: &HpccNs3Config, stop: Option<SimTime>) -> Result<(), Fault> {
    let Some(QueueMonitorConfig { from, to }) = config.queue_monitor else { return Ok(()) };
    let to = stop.map_or(to, |stop| stop.min(to));
    let looks = to.ps().saturating_sub(from.ps()) / QueueMonitor::INTERVAL.ps();
    ensure(looks <= MOST_LOOKS, || {
        let message = format!("there would be {looks} looks at each queue, one each 100 ns");
        Fault::at(format!("{SECTION}.queue_monitor.to"), message)
            .help(format!("let it end earlier: at most {MOST_LOOKS} fit, which are 100 s"))
    })
}

/// Whether the simulator's end host can drive the algorithm: it would run, but as another one.
fn check_algorithm(algorithm: &Algorithm, topology: &Topology) -> Result<(), Fault> {
    let key = format!("congestion_control.{}", algorithm.name());
    let unknown = algorithm.telemetry().filter(|kind| !hpcc_ns3::carries(*kind));
    if let Some(kind) = unknown {
        let message = format!("this profile's switches do not write the {kind} that it follows");
        let help = "leave `delay` out, or run it without the profile";
        return Err(Fault::at(key, message).help(help));
    }
    if algorithm.loaded().is_some() {
        let message = "this profile's hosts run the algorithms of that simulator alone";
        return Err(Fault::at(key, message).help("run it without the profile"));
    }
    let fastest = topology.links.iter().map(|link| link.rate).max().unwrap_or_default();
    ensure(hpcc_ns3::can_drive(algorithm, fastest), || {
        let message = "this profile's hosts start at the line rate, count no bytes sent and have \
                       their own window: they cannot run it";
        Fault::at(key, message).help(
            "take `none` without parameters, `dctcp`, `hpcc`, `hpcc-pint`, or `dcqcn` or `timely` \
             with `preset = \"hpcc\"`; or run it without the profile",
        )
    })
}

fn planned(
    config: &HpccNs3Config,
    buffer_bytes: u64,
    algorithm: Algorithm,
    link_down: Option<LinkDown>,
) -> HpccNs3Plan {
    HpccNs3Plan {
        payload_bytes: parameters::in_32_bits(config.payload),
        chunk_bytes: parameters::in_32_bits(config.chunk),
        ack_interval_bytes: parameters::in_32_bits(config.ack_interval),
        back_to_chunk: config.back_to_chunk,
        has_window: config.window,
        scale_window: config.scale_window,
        common_base_rtt: config.common_base_rtt,
        pace_at_rate: config.pace_at_rate,
        ack_high_priority: config.ack_high_priority,
        mark: config.mark,
        ecn: thresholds(config),
        buffer_bytes,
        common_loss: config.loss,
        algorithm,
        pint_probability: config.pint_probability,
        link_down,
        queue_monitor: config
            .queue_monitor
            .map(|QueueMonitorConfig { from, to }| QueueMonitor { from, to }),
    }
}

fn thresholds(config: &HpccNs3Config) -> Vec<RateThresholds> {
    let mut all: Vec<_> = config
        .ecn
        .iter()
        .map(|row| RateThresholds {
            rate: row.rate,
            kmin: parameters::in_32_bits(row.kmin),
            kmax: parameters::in_32_bits(row.kmax),
            pmax: row.pmax,
        })
        .collect();
    all.sort_by_key(|row| row.rate);
    all
}

fn link_down(down: LinkDownConfig, topology: &Topology) -> Result<LinkDown, Fault> {
    let ends = [down.a, down.b];
    let joins = |a, b| ends == [a, b] || ends == [b, a];
    ensure(topology.links.iter().any(|link| joins(link.a, link.b)), || {
        let message = format!("there is no link between the nodes {} and {}", down.a, down.b);
        Fault::at(format!("{SECTION}.link_down"), message)
            .help("give the numbers of two nodes that a link joins")
    })?;
    Ok(LinkDown { at: down.at, a: down.a, b: down.b })
}

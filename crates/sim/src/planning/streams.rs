//! `[[host.stack.NAME]]`: traffic of hosts that is of no workload.

use std::sync::Arc;

use rocelab_transport::stack::{Period, Site, Stream, StreamConfig};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;

use super::priority::check_priority;
use super::{layer2, ways};
use crate::plan::{FlowPlan, RocePlan, StreamPlan, StreamsPlan};
use crate::scenario::{Fault, Scenario, ensure};
use crate::workload::HostDirectory;

/// The streams of a scenario, each at its hosts.
pub(super) fn build(
    scenario: &Scenario,
    hosts: &HostDirectory,
    roce: &RocePlan,
) -> Result<StreamsPlan, Fault> {
    let mut streams = StreamsPlan {
        ip: scenario.roce.ip,
        addresses: Arc::clone(&roce.addresses),
        all: Vec::new(),
    };
    let encapsulation_len = streams.encapsulation_len(roce.tagged);
    for (key, config) in scenario.host.stack.streams() {
        let stream = stream(scenario, hosts, roce, (config, encapsulation_len));
        streams.all.push(stream.map_err(|fault| fault.within(&format!("host.stack.{key}")))?);
    }
    Ok(streams)
}

fn stream(
    scenario: &Scenario,
    hosts: &HostDirectory,
    roce: &RocePlan,
    (config, encapsulation_len): (StreamConfig, u16),
) -> Result<StreamPlan, Fault> {
    let Stream { from, to, priority, .. } = config.stream();
    let source = hosts.one(from).map_err(|fault| fault.within("from"))?;
    let destination = hosts.one(to).map_err(|fault| fault.within("to"))?;
    ensure(source != destination, || {
        Fault::at("to", "a host would send to itself")
            .value(to)
            .help("name another host than in `from`")
    })?;
    check_priority("priority", priority)?;
    let period = period(config.stream(), scenario.stop)?;
    let site = Site { line_rate: hosts.link_rate(source), encapsulation_len };
    config
        .validate(site)
        .map_err(|error| Fault::at(error.key, error.problem).value(error.value).help(error.fix))?;
    let stream = StreamPlan { config, source, destination, period };
    if roce.encapsulation == Encapsulation::V1 && roce.domains.is_none() {
        layer2::check_domain(&way(&stream), &roce.vlans, hosts)?;
    }
    Ok(stream)
}

/// When a stream sends, in a run that ends at `run`, if that is known. That end is none of the period: a branch of the
/// run may have a later one.
fn period(stream: Stream<'_>, run: Option<SimTime>) -> Result<Period, Fault> {
    let start = stream.start;
    let Some(earliest) = [stream.stop, run].into_iter().flatten().min() else {
        return Err(Fault::at("stop", "it would send for ever, and the run would not end")
            .value("")
            .help("give `stop` here, or for the whole run"));
    };
    let stop = stream.stop.unwrap_or(SimTime::LATEST);
    ensure(stop <= SimTime::LATEST, || {
        Fault::at("stop", "simulated time does not reach that far")
            .value(stop.to_string())
            .help(format!("give at most {}", SimTime::LATEST))
    })?;
    ensure(start < earliest, || {
        Fault::at("start", format!("it would stop at {earliest}, before it starts"))
            .value(start.to_string())
            .help("let it start earlier, or stop later")
    })?;
    Ok(Period { start, stop })
}

/// A flow that stands for the way of a stream.
pub(super) fn way(stream: &StreamPlan) -> FlowPlan {
    let StreamPlan { source, destination, period, config } = stream;
    ways::way((*source, *destination), period.start, config.stream().priority)
}

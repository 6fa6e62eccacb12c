//! What is sampled: ports and flows that exist, at intervals that end.

use rocelab_fabric::{NodeId, Topology};
use rocelab_results::SampleInterval;
use rocelab_units::{Duration, SimTime};

use super::ports::{named, of_switches};
use crate::plan::{FlowPlan, FlowSamplingPlan, Plan, PortSamplingPlan, SamplingPlan};
use crate::scenario::{Fault, FlowSampling, PortSampling, SampleConfig, Scenario, ensure};

/// What a scenario names, in a run that lasts until `at_least`.
pub(super) fn build(
    config: &SampleConfig,
    topology: &Topology,
    flows: &[FlowPlan],
    at_least: SimTime,
) -> Result<SamplingPlan, Fault> {
    let among = |find: Find, key: &str, config: &Option<PortSampling>| {
        config.as_ref().map(|config| ports(key, config, find, topology, at_least)).transpose()
    };
    let ports = |key: &str, config: &Option<PortSampling>| among(named, key, config);
    let of_flows = |key: &str, config: &Option<FlowSampling>| {
        config.as_ref().map(|config| sampled_flows(key, config, flows, at_least)).transpose()
    };
    Ok(SamplingPlan {
        queues: ports("sample.queues", &config.queues)?,
        marks: ports("sample.marks", &config.marks)?,
        utilisation: ports("sample.utilisation", &config.utilisation)?,
        ingress: among(of_switches, "sample.ingress", &config.ingress)?,
        rates: of_flows("sample.rates", &config.rates)?,
        flows: of_flows("sample.flows", &config.flows)?
            .map(|found| of_queue_pairs(found, config.flows.as_ref(), flows))
            .transpose()?,
    })
}

/// Finer samples are of no use: the shortest frame takes 0.84 ns at 800 Gbit/s, preamble and gap included.
pub(super) const SHORTEST_INTERVAL: Duration = Duration::from_ns(1);
/// Most samples of one port or flow: some tens of gigabytes.
const MOST_SAMPLES: u64 = 1_000_000_000;

/// Finds the ports that a list names.
type Find = fn(&str, &[String], &Topology) -> Result<Vec<(NodeId, u16)>, Fault>;

fn ports(
    key: &str,
    config: &PortSampling,
    find: Find,
    topology: &Topology,
    at_least: SimTime,
) -> Result<PortSamplingPlan, Fault> {
    let interval = interval(key, (config.interval, config.double_after), at_least)?;
    let ports = find(&format!("{key}.ports"), &config.ports, topology)?;
    Ok(PortSamplingPlan { interval, ports })
}

fn sampled_flows(
    key: &str,
    config: &FlowSampling,
    flows: &[FlowPlan],
    at_least: SimTime,
) -> Result<FlowSamplingPlan, Fault> {
    let interval = interval(key, (config.interval, config.double_after), at_least)?;
    let numbers = 0..u32::try_from(flows.len()).unwrap_or(u32::MAX);
    let mut chosen = match &config.flows {
        None => numbers.collect(),
        Some(chosen) => {
            ensure(!chosen.is_empty(), || {
                Fault::at(format!("{key}.flows"), "no flow is named")
                    .help("give numbers of flows, or leave it out to sample all")
            })?;
            for (place, flow) in chosen.iter().enumerate() {
                ensure(numbers.contains(flow), || {
                    let key = format!("{key}.flows[{place}]");
                    let there = match numbers.end {
                        0 => "this scenario has none".to_owned(),
                        end => format!("they are numbered 0 to {}", end - 1),
                    };
                    Fault::at(key, format!("there is no flow {flow}"))
                        .help(format!("name a flow that exists; {there}"))
                })?;
            }
            chosen.clone()
        }
    };
    chosen.sort_unstable();
    chosen.dedup();
    Ok(FlowSamplingPlan { interval, flows: chosen })
}

/// Leaves out flows of TCP, which have neither PSNs nor CNPs; one that is named is refused.
fn of_queue_pairs(
    mut found: FlowSamplingPlan,
    config: Option<&FlowSampling>,
    flows: &[FlowPlan],
) -> Result<FlowSamplingPlan, Fault> {
    let is_tcp = |flow: u32| flows[flow as usize].is_tcp();
    let named = config.and_then(|config| config.flows.as_ref()).into_iter().flatten();
    if let Some((place, &flow)) = named.enumerate().find(|&(_, &flow)| is_tcp(flow)) {
        let key = format!("sample.flows.flows[{place}]");
        let problem = "this flow is of TCP, which has no PSNs and no CNPs to look at";
        return Err(Fault::at(key, problem)
            .value(flow.to_string())
            .help("name flows of RDMA; `[sample.rates]` has those of TCP too"));
    }
    found.flows.retain(|&flow| !is_tcp(flow));
    Ok(found)
}

/// Samples of flows, where all flows are of TCP.
pub(super) fn unsampled(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    scenario.sample.config()?.flows.as_ref()?;
    let only_tcp = !plan.flows.is_empty() && plan.flows.iter().all(FlowPlan::is_tcp);
    only_tcp.then(|| {
        Fault::at("sample.flows", "all flows are of TCP, which are not sampled here")
            .value("")
            .help("use `[sample.rates]`, which has flows of TCP too, or leave it out")
    })
}

/// An interval that ends, and leaves room for all samples.
fn interval(
    key: &str,
    (interval, double_after): (Duration, Option<u64>),
    at_least: SimTime,
) -> Result<SampleInterval, Fault> {
    ensure(double_after != Some(0), || {
        Fault::at(format!("{key}.double_after"), "the interval would double before each sample")
            .help("give at least 1, or leave it out")
    })?;
    ensure(interval > Duration::ZERO, || {
        let problem = "samples without time between them never end";
        Fault::at(format!("{key}.interval"), problem).help("give a time above 0s, such as \"10us\"")
    })?;
    ensure(interval >= SHORTEST_INTERVAL, || {
        let problem = "that is finer than samples are of use, and they would fill the disk";
        Fault::at(format!("{key}.interval"), problem)
            .help(format!("give at least {SHORTEST_INTERVAL}, such as \"10us\""))
    })?;
    let planned = SampleInterval { first_ps: interval.ps(), double_after };
    let samples = planned.samples_until(at_least.ps());
    ensure(samples <= MOST_SAMPLES, || {
        let problem = format!("{samples} samples would be taken until the last flow starts");
        Fault::at(format!("{key}.interval"), problem)
            .help(format!("give a longer time: at most {MOST_SAMPLES} fit, or stop earlier"))
    })?;
    Ok(planned)
}

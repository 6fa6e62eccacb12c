//! What can be said about a scenario's values without its topology.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::{EcnConfig, Priority, SchedulerConfig, ShaperConfig, SwitchConfig, Trust};
use rocelab_transport::Algorithm;
use rocelab_units::{Duration, SimTime};

use super::algorithms::{self, Named};
use super::priority::check_priority;
use super::{congestion_points, connections, hpcc_ns3, keys, neighbours, service, tcp};
use crate::scenario::{
    ConnectionEntropy, Fault, ProfileConfig, RoceConfig, RoceVersion, Scenario, ensure,
};

/// What is wrong with the scenario's plain values: the first thing of each part, because parts do not depend on each other.
pub(super) fn faults(scenario: &Scenario) -> Vec<Fault> {
    let mut outcomes = vec![check_stop(scenario)];
    outcomes.push(check_shapers("host.shapers", &scenario.host.shapers));
    outcomes.extend(algorithms::named(scenario).iter().map(check_algorithm));
    match &scenario.profile {
        None => outcomes.extend(check_native(scenario)),
        Some(ProfileConfig::HpccNs3(config)) => {
            outcomes.push(hpcc_ns3::check_sections(scenario));
            outcomes.push(hpcc_ns3::check_parameters(config));
        }
    }
    outcomes.into_iter().filter_map(Result::err).collect()
}

fn check_stop(scenario: &Scenario) -> Result<(), Fault> {
    ensure(scenario.stop != Some(SimTime::ZERO), || {
        Fault::at("stop", "the run would end before it begins")
            .help("give a time above 0s, or leave `stop` out to run until the last flow ends")
    })?;
    ensure(scenario.stop.is_none_or(|stop| stop <= SimTime::LATEST), || {
        Fault::at("stop", "simulated time does not reach that far")
            .help(format!("give at most {}, or leave `stop` out", SimTime::LATEST))
    })
}

fn check_native(scenario: &Scenario) -> [Result<(), Fault>; 9] {
    [
        check_roce(&scenario.roce),
        service::check(scenario),
        keys::check(scenario),
        neighbours::check(&scenario.roce),
        tcp::check(scenario),
        check_switch(&scenario.switch),
        congestion_points::check(scenario),
        check_technology(scenario),
        check_version(scenario),
    ]
}

fn check_algorithm(named: &Named<'_>) -> Result<(), Fault> {
    named.algorithm.validate().map_err(|error| {
        let key = format!("{}.{}", named.section(), error.key);
        Fault::at(key, error.problem).value(error.value).help(error.fix)
    })
}

/// The algorithms that RoCE v1 can use.
fn working_without_ecn() -> String {
    // Of what users wrote nobody knows.
    let is_known =
        |algorithm: &Algorithm| !matches!(algorithm, Algorithm::Wasm(_) | Algorithm::Python(_));
    let usable =
        Algorithm::all_defaults().filter(|algorithm| is_known(algorithm) && !algorithm.needs_ecn());
    usable.map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ")
}

fn check_entropy(roce: &RoceConfig) -> Result<(), Fault> {
    let ConnectionEntropy::List(numbers) = &roce.entropy else { return Ok(()) };
    let (most, what) = match roce.version {
        RoceVersion::V1 => (0xf_ffff, "flow label"),
        RoceVersion::V2 => (0xffff, "UDP source port"),
    };
    let fault = |problem: String| {
        Fault::at("roce.entropy.list", problem).help(format!("give numbers from 0 to {most}"))
    };
    ensure(!numbers.is_empty(), || fault(format!("connections would have no {what}")))?;
    let beyond = numbers.iter().find(|&&number| number > most);
    ensure(beyond.is_none(), || fault(format!("{} is no {what}", beyond.unwrap_or(&0))))
}

fn check_roce(roce: &RoceConfig) -> Result<(), Fault> {
    check_priority("roce.priority", roce.priority)?;
    check_priority("roce.cnp_priority", roce.cnp_priority)?;
    check_entropy(roce)?;
    ensure(roce.ack_interval > 0, || {
        Fault::at("roce.ack_interval", "no packet is the 0th")
            .help("give 1 for an acknowledgement of every packet, or more")
    })?;
    ensure(roce.retry_count <= 7, || {
        Fault::at("roce.retry_count", "the retry count is a field of 3 bits").help("give 0 to 7")
    })?;
    ensure(roce.hop_limit > 0, || {
        Fault::at("roce.hop_limit", "such frames do not pass any router").help("give 1 to 255")
    })?;
    connections::check(roce)
}

pub(super) fn check_switch(switch: &SwitchConfig) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for (index, &priority) in switch.lossless.iter().enumerate() {
        let key = format!("switch.lossless[{index}]");
        check_priority(&key, priority)?;
        ensure(seen.insert(priority), || {
            Fault::at(&key, format!("priority {priority} is named twice"))
                .help("name every lossless priority once")
        })?;
    }
    ensure(switch.alpha.numerator() > 0, || {
        Fault::at("switch.alpha", "a share of nothing stores no frame")
            .help("give a fraction above 0, such as \"1/8\"")
    })?;
    ensure(switch.pause_quanta > 0, || {
        Fault::at("switch.pause_quanta", "0 quanta end a pause")
            .help("give 1 to 65535 quanta of 512 bit times, long enough to outlast a frame")
    })?;
    for (key, size) in
        [("switch.xoff", switch.xoff), ("switch.xon_offset", Some(switch.xon_offset))]
    {
        ensure(size.is_none_or(|size| size <= switch.buffer), || {
            Fault::at(key, format!("that is more than the buffer of {}", switch.buffer))
                .value(size.unwrap_or_default())
                .help("give a part of the buffer, or a larger switch.buffer")
        })?;
    }
    check_memory(switch)?;
    check_classes(switch)?;
    for (key, time) in
        [("switch.latency", switch.latency), ("switch.pause_response", switch.pause_response)]
    {
        ensure(time <= LONGEST_LATENCY, || {
            Fault::at(key, format!("{time} is no latency of a switch"))
                .help(format!("give at most {LONGEST_LATENCY}"))
        })?;
    }
    switch.ecn.as_ref().map_or(Ok(()), check_ecn)?;
    switch.qcn.as_ref().map_or(Ok(()), congestion_points::check_parameters)?;
    check_scheduler(&switch.scheduler)
}

/// The longest latency or response that is taken for one.
const LONGEST_LATENCY: Duration = Duration::from_ms(1);

fn check_memory(switch: &SwitchConfig) -> Result<(), Fault> {
    let alphas = switch.priority_alpha.iter().map(|(priority, alpha)| {
        (format!("switch.priority_alpha.{}", priority.number()), Some(*alpha))
    });
    let others = [
        ("switch.egress_alpha".to_owned(), switch.egress_alpha),
        ("switch.lossy_ingress_alpha".to_owned(), switch.lossy_ingress_alpha),
    ];
    for (key, alpha) in alphas.chain(others) {
        ensure(alpha.is_none_or(|alpha| alpha.numerator() > 0), || {
            Fault::at(key, "a share of nothing stores no frame")
                .help("give a fraction above 0, such as \"1/8\"")
        })?;
    }
    let dynamic = switch
        .priority_alpha
        .keys()
        .next()
        .map(|priority| format!("switch.priority_alpha.{}", priority.number()));
    let dynamic = dynamic.or(switch.egress_alpha.map(|_| "switch.egress_alpha".to_owned()));
    if let (Some(key), Some(xoff)) = (dynamic, switch.xoff) {
        return Err(Fault::at(key, format!("the fixed threshold of {xoff} is in its place"))
            .help("remove it, or `switch.xoff`"));
    }
    ensure((1..=65_536).contains(&switch.cell.get()), || {
        Fault::at("switch.cell", format!("{} is no size of a memory cell", switch.cell))
            .help("give 1B (no cells) to 65536B, such as \"208B\"")
    })?;
    check_shapers("switch.shapers", &switch.shapers)
}

/// Checks the rates of the shapers below a key.
fn check_shapers(key: &str, shapers: &BTreeMap<Priority, ShaperConfig>) -> Result<(), Fault> {
    for (priority, shaper) in shapers {
        ensure(shaper.rate.bits_per_second() > 0, || {
            let key = format!("{key}.{}.rate", priority.number());
            Fault::at(key, "a queue that sends nothing never empties")
                .help("give a rate above 0bps, such as \"10Gbps\"")
        })?;
    }
    Ok(())
}

fn check_classes(switch: &SwitchConfig) -> Result<(), Fault> {
    check_priority("switch.default_priority", switch.default_priority)?;
    for (priority, &queue) in &switch.queue_of {
        ensure(queue <= 7, || {
            let key = format!("switch.queue_of.{}", priority.number());
            Fault::at(key, format!("queue {queue} does not exist")).help("give 0 to 7")
        })?;
    }
    let last = match switch.trust {
        Trust::Auto | Trust::Pcp => 7,
        Trust::Dscp => 63,
        Trust::TrafficClass => 255,
    };
    for (code, &priority) in &switch.priority_of {
        let key = format!("switch.priority_of.{code}");
        ensure(code.parse::<u8>().is_ok_and(|number| number <= last), || {
            Fault::at(&key, format!("the trusted field has no code point {code}"))
                .help(format!("give 0 to {last}, or another `switch.trust`"))
        })?;
        check_priority(&key, priority)?;
    }
    Ok(())
}

fn check_ecn(ecn: &EcnConfig) -> Result<(), Fault> {
    ensure(ecn.kmin <= ecn.kmax, || {
        Fault::at("switch.ecn.kmin", format!("kmin {} is above kmax {}", ecn.kmin, ecn.kmax))
            .help(format!("give at most {}, or a larger kmax", ecn.kmax))
    })?;
    ensure((0.0..=1.0).contains(&ecn.pmax), || {
        Fault::at("switch.ecn.pmax", "pmax is a probability").help("give a number from 0 to 1")
    })?;
    ensure(
        ecn.average_weight.is_none_or(|w| (0.0..=1.0).contains(&w.as_f64()) && w.numerator() > 0),
        || {
            Fault::at("switch.ecn.average_weight", "an average moves by a part of the difference")
                .help("give a fraction above 0 and up to 1, such as \"1/512\"")
        },
    )?;
    ensure(ecn.per_rate.is_none_or(|rate| rate.bits_per_second() > 0), || {
        Fault::at("switch.ecn.per_rate", "thresholds cannot be scaled from a rate of zero")
            .help("give the port rate that kmin and kmax are meant for, such as \"25Gbps\"")
    })
}

fn check_scheduler(scheduler: &SchedulerConfig) -> Result<(), Fault> {
    let SchedulerConfig::Dwrr { weights } = scheduler else { return Ok(()) };
    let key = "switch.scheduler.dwrr.weights";
    ensure((1..=8).contains(&weights.len()), || {
        Fault::at(key, format!("{} weights do not fit the 8 priorities", weights.len()))
            .help("give the weights of priority 0 to at most 7")
    })?;
    for (index, weight) in weights.iter().enumerate() {
        ensure((1..=100).contains(weight), || {
            Fault::at(format!("{key}[{index}]"), format!("a weight of {weight} is out of range"))
                .help("give 1 to 100")
        })?;
    }
    Ok(())
}

/// The congestion control of InfiniBand goes by marks that only its switches make.
fn check_technology(scenario: &Scenario) -> Result<(), Fault> {
    let is_of_infiniband = |named: &Named<'_>| matches!(named.algorithm, Algorithm::InfiniBand(_));
    let found = algorithms::named(scenario).into_iter().find(is_of_infiniband);
    let Some(named) = found.filter(|_| scenario.infiniband.is_none()) else { return Ok(()) };
    Err(Fault::at(named.section(), "it follows FECN marks, which switches of Ethernet do not make")
        .help("add `[infiniband]`, or use `dcqcn`"))
}

/// RoCE v1 frames have no ECN field: GRH and Ethernet carry none that switches mark.
fn check_version(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.roce.version == RoceVersion::V2 {
        return Ok(());
    }
    if scenario.infiniband.is_some() {
        return Ok(()); // It has marks of its own.
    }
    for named in algorithms::named(scenario) {
        ensure(!named.algorithm.needs_ecn(), || {
            let name = named.algorithm.name();
            Fault::at(
                named.section(),
                format!("`{name}` reacts to ECN marks, which RoCE v1 does not have"),
            )
            .help(format!("use one of {} or `roce.version = 2`", working_without_ecn()))
        })?;
    }
    ensure(scenario.switch.ecn.is_none() || tcp::marks_segments(scenario), || {
        Fault::at("switch.ecn", "RoCE v1 frames cannot be marked: they have no ECN field").help(
            format!(
                "remove `ecn`, or use `roce.version = 2`; algorithms that work without it: {}",
                working_without_ecn()
            ),
        )
    })
}

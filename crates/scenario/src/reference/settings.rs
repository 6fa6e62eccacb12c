//! What a configuration says of the run, as a scenario.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use rocelab_fabric::{TopologyConfig, topology};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

use super::entries::Entries;
use super::{algorithm, paths};
use crate::workload::flows;
use crate::{
    Fault, HpccNs3Config, Items, LinkDownConfig, OriginPlace, ProfileConfig, QueueMonitorConfig,
    RateEcnConfig, Scenario, ScenarioError,
};

/// `KMIN_MAP` and `KMAX_MAP` count in these.
const THRESHOLD_UNIT: u64 = 1_000;
/// `LINK_DOWN` counts from here.
const START: Duration = Duration::from_ms(2_000);
/// The simulator's end where the configuration names none.
const DEFAULT_STOP: &str = "3.01";

/// The scenario, and where its keys come from.
pub(super) fn scenario(entries: &Entries) -> Result<(Scenario, Vec<OriginPlace>), ScenarioError> {
    let congestion_control = algorithm::of(entries)?;
    let mut places = places(entries);
    places.extend(algorithm::places(entries, &congestion_control));
    let topology = TopologyConfig::File(topology::file::Parameters {
        path: input(entries, "TOPOLOGY_FILE")?,
        format: topology::file::Format::EdgeList,
        link: None,
    });
    let mut scenario = Scenario::of_network(topology);
    scenario.stop = Some(stop(entries)?);
    scenario.profile = Some(ProfileConfig::HpccNs3(profile(entries)?));
    scenario.switch.buffer = buffer(entries)?;
    scenario.congestion_control = Some(congestion_control);
    scenario.workload.flows = Items(vec![flows::Parameters {
        reference: Some(input(entries, "FLOW_FILE")?),
        start_offset: Duration::ZERO,
        ..flows::Parameters::default()
    }]);
    Ok((scenario, places))
}

/// Which keys say what, but for the algorithm.
fn places(entries: &Entries) -> Vec<OriginPlace> {
    const PROFILE: [(&str, &str); 19] = [
        ("payload", "PACKET_PAYLOAD_SIZE"),
        ("chunk", "L2_CHUNK_SIZE"),
        ("ack_interval", "L2_ACK_INTERVAL"),
        ("back_to_chunk", "L2_BACK_TO_ZERO"),
        ("window", "HAS_WIN"),
        ("scale_window", "VAR_WIN"),
        ("common_base_rtt", "GLOBAL_T"),
        ("pace_at_rate", "RATE_BOUND"),
        ("ack_high_priority", "ACK_HIGH_PRIO"),
        ("mark", "ENABLE_QCN"),
        ("ecn", "KMAX_MAP"),
        ("loss", "ERROR_RATE_PER_LINK"),
        ("pint_probability", "PINT_PROB"),
        ("link_down", "LINK_DOWN"),
        ("link_down.a", "LINK_DOWN"),
        ("link_down.b", "LINK_DOWN"),
        ("queue_monitor", "QLEN_MON_FILE"),
        ("queue_monitor.from", "QLEN_MON_START"),
        ("queue_monitor.to", "QLEN_MON_END"),
    ];
    const OTHERS: [(&str, &str); 4] = [
        ("stop", "SIMULATOR_STOP_TIME"),
        ("topology", "TOPOLOGY_FILE"),
        ("workload", "FLOW_FILE"),
        ("switch.buffer", "BUFFER_SIZE"),
    ];
    let profile = PROFILE.map(|(key, word)| (format!("profile.hpcc-ns3.{key}"), word));
    let others = OTHERS.map(|(key, word)| (key.to_owned(), word));
    profile.into_iter().chain(others).filter_map(|(key, word)| entries.place(key, word)).collect()
}

fn stop(entries: &Entries) -> Result<SimTime, ScenarioError> {
    let seconds = |text: &str| format!("{text}s").parse::<SimTime>();
    let wrong = |_| "this is no time: give seconds, such as 2.005";
    let stop = entries.quantity("SIMULATOR_STOP_TIME", |text| seconds(text).map_err(wrong))?;
    Ok(stop.unwrap_or_else(|| seconds(DEFAULT_STOP).unwrap_or_default()))
}

fn input(entries: &Entries, key: &'static str) -> Result<PathBuf, ScenarioError> {
    let named = entries.text(key).ok_or_else(|| entries.missing(key, "nothing else names it"))?;
    Ok(paths::found(&entries.file, named))
}

fn buffer(entries: &Entries) -> Result<Bytes, ScenarioError> {
    Ok(Bytes::new(u64::from(entries.whole("BUFFER_SIZE", 16)?) << 20))
}

fn profile(entries: &Entries) -> Result<HpccNs3Config, ScenarioError> {
    Ok(HpccNs3Config {
        payload: entries.bytes("PACKET_PAYLOAD_SIZE", 1_000)?,
        chunk: entries.bytes("L2_CHUNK_SIZE", 0)?,
        ack_interval: entries.bytes("L2_ACK_INTERVAL", 0)?,
        back_to_chunk: entries.flag("L2_BACK_TO_ZERO", false)?,
        window: entries.flag("HAS_WIN", true)?,
        scale_window: entries.flag("VAR_WIN", false)?,
        common_base_rtt: entries.flag("GLOBAL_T", true)?,
        pace_at_rate: entries.flag("RATE_BOUND", true)?,
        ack_high_priority: entries.flag("ACK_HIGH_PRIO", false)?,
        mark: entries.flag("ENABLE_QCN", true)?,
        ecn: thresholds(entries)?,
        loss: entries.number("ERROR_RATE_PER_LINK", 0.0)?,
        pint_probability: entries.number("PINT_PROB", 1.0)?,
        link_down: link_down(entries)?,
        queue_monitor: queue_monitor(entries)?,
    })
}

/// The rates that all three maps have.
fn thresholds(entries: &Entries) -> Result<Vec<RateEcnConfig>, ScenarioError> {
    let kmin = thousands(entries, "KMIN_MAP")?;
    let kmax = thousands(entries, "KMAX_MAP")?;
    let pmax = probabilities(entries, "PMAX_MAP")?;
    let row = |(&rate, &kmax)| {
        let (&kmin, &pmax) = (kmin.get(&rate)?, pmax.get(&rate)?);
        Some(RateEcnConfig { rate, kmin, kmax, pmax })
    };
    Ok(kmax.iter().filter_map(row).collect())
}

type ByRate<T> = BTreeMap<Bandwidth, T>;

fn thousands(entries: &Entries, key: &str) -> Result<ByRate<Bytes>, ScenarioError> {
    pairs(entries, key, |text| {
        let thousands: u32 =
            text.parse().map_err(|_| "this is no whole number of thousand bytes")?;
        Ok(Bytes::new(u64::from(thousands) * THRESHOLD_UNIT))
    })
}

fn probabilities(entries: &Entries, key: &str) -> Result<ByRate<f64>, ScenarioError> {
    pairs(entries, key, |text| {
        let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
        number.ok_or("this is no probability from 0 to 1")
    })
}

fn pairs<T>(
    entries: &Entries,
    key: &str,
    read: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<ByRate<T>, ScenarioError> {
    let wrong = |span: Range<usize>, message: &str| {
        let help = "write `2 RATE VALUE RATE VALUE`, with rates in bit/s";
        entries.blame(key, span, Fault::at("", message).help(help))
    };
    let mut map = BTreeMap::new();
    for pair in entries.values(key).chunks_exact(2) {
        let [(rate, rate_span), (value, value_span)] = pair else { continue };
        let bits =
            rate.parse().map_err(|_| wrong(rate_span.clone(), "this is no rate in bit/s"))?;
        let value = read(value).map_err(|message| wrong(value_span.clone(), message))?;
        map.insert(Bandwidth::from_bps(bits), value);
    }
    Ok(map)
}

/// When queues are looked at, if there is a file for it.
fn queue_monitor(entries: &Entries) -> Result<Option<QueueMonitorConfig>, ScenarioError> {
    let from = entries.nanoseconds("QLEN_MON_START", 2_000_000_000)?;
    let to = entries.nanoseconds("QLEN_MON_END", 2_100_000_000)?;
    Ok(entries.text("QLEN_MON_FILE").map(|_| QueueMonitorConfig { from, to }))
}

/// The link that fails; a time of zero stands for none.
fn link_down(entries: &Entries) -> Result<Option<LinkDownConfig>, ScenarioError> {
    let mut numbers = [0u32; 3];
    for (number, (text, span)) in numbers.iter_mut().zip(entries.values("LINK_DOWN")) {
        *number = text.parse().map_err(|_| {
            let fault = Fault::at("", "this is no whole number");
            entries.blame("LINK_DOWN", span, fault.help("write microseconds and two node numbers"))
        })?;
    }
    let [after, a, b] = numbers;
    let at = SimTime::ZERO + START + Duration::from_us(after.into());
    Ok((after > 0).then_some(LinkDownConfig { at, a, b }))
}

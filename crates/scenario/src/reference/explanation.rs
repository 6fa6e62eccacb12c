//! What a plan refuses, in the words of the configuration that asked for it.

use std::ops::Range;

use rocelab_units::Bandwidth;

use super::entries::Entries;
use crate::{Fault, Origin, ScenarioError};

/// The largest of the thresholds, which count 1000 bytes, that 32 bits hold in bytes.
const LARGEST_THRESHOLD: u64 = 4_294_967;

/// The error of a fault at `key` of the scenario, where a configuration says that otherwise.
pub(super) fn of(origin: &Origin, key: &str, fault: &Fault) -> Option<ScenarioError> {
    let entries = Entries::read(&origin.text, &origin.file).ok()?;
    let key = key.strip_prefix("profile.hpcc-ns3.").unwrap_or(key);
    match (key, fault.rate) {
        ("ecn", Some(rate)) => Some(rate_without_threshold(&entries, rate, fault)),
        (_, Some(rate)) => threshold(&entries, key, rate, fault),
        ("stop", _) => {
            blamed(&entries, "SIMULATOR_STOP_TIME", fault, "give seconds, such as 2.005")
        }
        ("switch.buffer", _) => {
            let help = "it counts in MiB: give at most 4095";
            blamed(&entries, "BUFFER_SIZE", fault, help)
        }
        ("back_to_chunk", _) => {
            let help = "set L2_BACK_TO_ZERO 0, or an L2_CHUNK_SIZE above 0, such as 4000";
            blamed(&entries, "L2_BACK_TO_ZERO", fault, help)
        }
        ("ack_interval", _) => {
            let help = "set L2_ACK_INTERVAL 1, or an L2_CHUNK_SIZE above 0, such as 4000";
            blamed(&entries, "L2_ACK_INTERVAL", fault, help)
        }
        ("workload", _) => {
            let fault = Fault::at("", "this file has no flows");
            let help = "give their number in its first line, and a line for each: `source \
                        destination priority port bytes start`";
            blamed(&entries, "FLOW_FILE", &fault, help)
        }
        _ => None,
    }
}

/// The fault at the word of `key`, if the file has that.
fn blamed(entries: &Entries, key: &str, fault: &Fault, help: &str) -> Option<ScenarioError> {
    let (_, span) = entries.values(key).into_iter().next()?;
    Some(entries.blame(key, span, fault.clone().help(help)))
}

/// The map that lacks a rate which a switch port has, and what to add to it.
fn rate_without_threshold(entries: &Entries, rate: Bandwidth, fault: &Fault) -> ScenarioError {
    const MAPS: [(&str, &str); 3] =
        [("KMIN_MAP", "400"), ("KMAX_MAP", "1600"), ("PMAX_MAP", "0.2")];
    let lacks = |(map, _): &&(&str, &str)| value_of(entries, map, rate).is_none();
    let &(map, value) = MAPS.iter().find(lacks).unwrap_or(&MAPS[0]);
    let (bits, message) = (rate.bits_per_second(), &fault.message);
    let Some((_, first)) = entries.values(map).into_iter().next() else {
        let help = format!("add `{map} 1 {bits} {value}`, or set ENABLE_QCN 0");
        return entries.missing_with(map, message, &help);
    };
    let fault = Fault::at("", format!("{message}: {map} does not have that rate"));
    let help = format!("add `{bits} {value}` to {map} and raise its count, or set ENABLE_QCN 0");
    // At the place of the first rate, which itself is not at fault.
    entries.blame(map, first.start..first.start, fault.help(help))
}

/// A threshold that is too large, by itself or beside the other one of its rate.
fn threshold(
    entries: &Entries,
    key: &str,
    rate: Bandwidth,
    fault: &Fault,
) -> Option<ScenarioError> {
    let map = if key.ends_with(".kmin") { "KMIN_MAP" } else { "KMAX_MAP" };
    let (value, span) = value_of(entries, map, rate)?;
    let most = value_of(entries, "KMAX_MAP", rate)?.0;
    let help = if value.parse::<u64>().is_ok_and(|value| value <= LARGEST_THRESHOLD) {
        format!("give at most {most} in KMIN_MAP, or more in KMAX_MAP; both count 1000 bytes")
    } else {
        format!("it counts 1000 bytes: give at most {LARGEST_THRESHOLD}")
    };
    Some(entries.blame(map, span, fault.clone().help(help)))
}

/// What a map says of a rate.
fn value_of<'a>(
    entries: &'a Entries,
    map: &str,
    rate: Bandwidth,
) -> Option<(&'a str, Range<usize>)> {
    let words = entries.values(map);
    let is_it = |pair: &&[(&str, Range<usize>)]| pair[0].0.parse() == Ok(rate.bits_per_second());
    // What is last holds.
    words.chunks_exact(2).rfind(is_it).map(|pair| pair[1].clone())
}

//! The reaction to congestion that `CC_MODE` selects.

use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::{dcqcn, dctcp, hpcc, hpcc_pint, none, timely};
use rocelab_units::{Bandwidth, Duration, Ratio};

use super::entries::Entries;
use super::keys::Role;
use crate::{OriginPlace, ScenarioError};

/// The key that selects.
const MODE: &str = "CC_MODE";

/// What is written in the scenario for a mode: its key, and each parameter's with the key that it
/// comes from.
struct Mode {
    number: u32,
    name: &'static str,
    parameters: &'static [(&'static str, &'static str)],
}

/// The modes that react.
const MODES: [Mode; 5] = [
    Mode {
        number: 1,
        name: "dcqcn",
        parameters: &[
            ("g", "EWMA_GAIN"),
            ("alpha_interval", "ALPHA_RESUME_INTERVAL"),
            ("rate_decrease_interval", "RATE_DECREASE_INTERVAL"),
            ("clamp_target_rate", "CLAMP_TARGET_RATE"),
            ("increase_timer", "RP_TIMER"),
            ("fast_recovery_threshold", "FAST_RECOVERY_TIMES"),
            ("additive_increase", "RATE_AI"),
            ("hyper_increase", "RATE_HAI"),
            ("min_rate", "MIN_RATE"),
        ],
    },
    Mode {
        number: 3,
        name: "hpcc",
        parameters: &[
            ("additive_increase", "RATE_AI"),
            ("eta", "U_TARGET"),
            ("max_stage", "MI_THRESH"),
            ("min_rate", "MIN_RATE"),
            ("fast_react", "FAST_REACT"),
            ("per_hop_rate", "MULTI_RATE"),
            ("sample_feedback", "SAMPLE_FEEDBACK"),
            ("int_multiplier", "INT_MULTI"),
        ],
    },
    Mode {
        number: 7,
        name: "timely",
        parameters: &[
            ("delta", "RATE_AI"),
            ("hyper_increase", "RATE_HAI"),
            ("min_rate", "MIN_RATE"),
        ],
    },
    Mode {
        number: 8,
        name: "dctcp",
        parameters: &[
            ("g", "EWMA_GAIN"),
            ("additive_increase", "DCTCP_RATE_AI"),
            ("min_rate", "MIN_RATE"),
        ],
    },
    Mode {
        number: 10,
        name: "hpcc-pint",
        parameters: &[
            ("additive_increase", "RATE_AI"),
            ("eta", "U_TARGET"),
            ("max_stage", "MI_THRESH"),
            ("min_rate", "MIN_RATE"),
            ("log_base", "PINT_LOG_BASE"),
        ],
    },
];

/// The algorithm of a scenario that names none: the mode of a configuration that names none.
pub fn default() -> Algorithm {
    let preset = dcqcn::Preset::Hpcc;
    Algorithm::Dcqcn(dcqcn::Parameters { preset, ..dcqcn::Parameters::default() })
}

/// The algorithm with the configuration's parameters.
pub(super) fn of(entries: &Entries) -> Result<Algorithm, ScenarioError> {
    Ok(match number(entries)? {
        1 => Algorithm::Dcqcn(dcqcn(entries)?),
        3 => Algorithm::Hpcc(hpcc(entries)?),
        7 => Algorithm::Timely(timely(entries)?),
        8 => Algorithm::Dctcp(dctcp(entries)?),
        10 => Algorithm::HpccPint(hpcc_pint(entries)?),
        _ => Algorithm::None(none::Parameters::default()),
    })
}

/// Which keys say what of the algorithm.
pub(super) fn places(entries: &Entries, algorithm: &Algorithm) -> Vec<OriginPlace> {
    let section = format!("congestion_control.{}", algorithm.name());
    let mode = MODES.iter().find(|mode| mode.name == algorithm.name());
    let parameters = mode.map_or(&[][..], |mode| mode.parameters);
    let parameter =
        |(key, word): &(&str, &'static str)| entries.place(format!("{section}.{key}"), word);
    entries
        .place("congestion_control".into(), MODE)
        .into_iter()
        .chain(parameters.iter().filter_map(parameter))
        .collect()
}

/// What the configuration says about reactions to no effect.
pub(super) fn notes(entries: &Entries) -> Vec<String> {
    let number = number(entries).unwrap_or_default();
    let mode = MODES.iter().find(|mode| mode.number == number);
    let mut notes = Vec::new();
    if mode.is_none() {
        notes.push(format!(
            "{MODE} {number}: nothing reacts to congestion, as with all but 1, 3, 7, 8 and 10"
        ));
    }
    let used = |key: &str| {
        let parameters = mode.map_or(&[][..], |mode| mode.parameters);
        parameters.iter().any(|(_, word)| *word == key) || (number == 10 && key == "PINT_PROB")
    };
    let idle: Vec<_> = entries
        .keys()
        .filter(|key| key.role == Role::Algorithm && !used(key.name))
        .map(|key| key.name)
        .collect();
    if !idle.is_empty() {
        notes.push(format!("without effect with {MODE} {number}: {}", idle.join(", ")));
    }
    if used("EWMA_GAIN") && entries.get("EWMA_GAIN").is_none() {
        notes.push(
            "EWMA_GAIN is not there: 1/16 holds; HPCC's simulator means that too, but computes 0"
                .into(),
        );
    }
    notes
}

fn number(entries: &Entries) -> Result<u32, ScenarioError> {
    entries.whole(MODE, 1)
}

fn dcqcn(entries: &Entries) -> Result<dcqcn::Parameters, ScenarioError> {
    let microseconds = |key, default| {
        let time = entries.microseconds(key)?;
        Ok(Some(time.unwrap_or(Duration::from_us(default))))
    };
    Ok(dcqcn::Parameters {
        preset: dcqcn::Preset::Hpcc,
        g: Some(gain(entries)?),
        alpha_interval: microseconds("ALPHA_RESUME_INTERVAL", 55)?,
        rate_decrease_interval: microseconds("RATE_DECREASE_INTERVAL", 4)?,
        clamp_target_rate: Some(entries.flag("CLAMP_TARGET_RATE", false)?),
        increase_timer: Some(required(entries, "RP_TIMER", entries.microseconds("RP_TIMER")?)?),
        fast_recovery_threshold: Some(entries.whole("FAST_RECOVERY_TIMES", 5)?),
        additive_increase: Some(step(entries, "RATE_AI")?),
        hyper_increase: Some(step(entries, "RATE_HAI")?),
        min_rate: Some(min_rate(entries)?),
        ..dcqcn::Parameters::default()
    })
}

fn hpcc(entries: &Entries) -> Result<hpcc::Parameters, ScenarioError> {
    Ok(hpcc::Parameters {
        additive_increase: Some(step(entries, "RATE_AI")?),
        eta: target(entries)?,
        max_stage: entries.whole("MI_THRESH", 5)?,
        min_rate: min_rate(entries)?,
        fast_react: entries.flag("FAST_REACT", true)?,
        per_hop_rate: entries.flag("MULTI_RATE", true)?,
        sample_feedback: entries.flag("SAMPLE_FEEDBACK", false)?,
        int_multiplier: Some(entries.whole("INT_MULTI", 1)?),
    })
}

fn timely(entries: &Entries) -> Result<timely::Parameters, ScenarioError> {
    Ok(timely::Parameters {
        preset: timely::Preset::Hpcc,
        delta: Some(step(entries, "RATE_AI")?),
        hyper_increase: Some(step(entries, "RATE_HAI")?),
        min_rate: Some(min_rate(entries)?),
        ..timely::Parameters::default()
    })
}

fn dctcp(entries: &Entries) -> Result<dctcp::Parameters, ScenarioError> {
    Ok(dctcp::Parameters {
        g: gain(entries)?,
        additive_increase: Some(
            entries.rate("DCTCP_RATE_AI")?.unwrap_or(Bandwidth::from_mbps(1_000)),
        ),
        min_rate: min_rate(entries)?,
    })
}

fn hpcc_pint(entries: &Entries) -> Result<hpcc_pint::Parameters, ScenarioError> {
    Ok(hpcc_pint::Parameters {
        additive_increase: Some(step(entries, "RATE_AI")?),
        eta: target(entries)?,
        max_stage: entries.whole("MI_THRESH", 5)?,
        min_rate: min_rate(entries)?,
        log_base: entries.ratio("PINT_LOG_BASE")?.unwrap_or(Ratio::new(105, 100)),
    })
}

fn gain(entries: &Entries) -> Result<Ratio, ScenarioError> {
    // The simulator writes its default as a division of integers, which gives 0 and would leave
    // alpha as it is for ever.
    Ok(entries.ratio("EWMA_GAIN")?.unwrap_or(Ratio::new(1, 16)))
}

fn target(entries: &Entries) -> Result<Ratio, ScenarioError> {
    Ok(entries.ratio("U_TARGET")?.unwrap_or(Ratio::new(95, 100)))
}

fn min_rate(entries: &Entries) -> Result<Bandwidth, ScenarioError> {
    Ok(entries.rate("MIN_RATE")?.unwrap_or(Bandwidth::from_mbps(100)))
}

fn step(entries: &Entries, key: &'static str) -> Result<Bandwidth, ScenarioError> {
    required(entries, key, entries.rate(key)?)
}

fn required<T>(entries: &Entries, key: &'static str, value: Option<T>) -> Result<T, ScenarioError> {
    let mode = number(entries)?;
    value.ok_or_else(|| entries.missing(key, &format!("{MODE} {mode} has no default for it")))
}

//! What a rule's keys must say, each and together.

use rocelab_fabric::LinkFlowControl;
use rocelab_units::Duration;

use crate::plan::OpcodeSet;
use crate::scenario::{CorruptedPart, Fault, FaultConfig, FaultVerb, ensure};

/// Nothing moves for so long only where nothing will ever move again.
const LONGEST_DELAY: Duration = Duration::from_ms(1_000);

/// Refuses values that cannot be, and keys that contradict each other.
pub(super) fn check(config: &FaultConfig) -> Result<(), Fault> {
    check_action(config)?;
    check_numbers(config)?;
    check_choice(config)?;
    if let (Some(after), Some(until)) = (config.after, config.until) {
        ensure(after < until, || {
            Fault::at("until", format!("the rule ends before it begins, at {after}"))
                .help(format!("give a time after {after}"))
        })?;
    }
    ensure(config.flow.is_none() || config.dest_qp.is_none(), || {
        Fault::at("dest_qp", "a flow has its own queue pair numbers")
            .help("keep `flow` or `dest_qp`")
    })
}

/// Refuses what the chosen frames do not have: pause frames have none of what RDMA packets are told
/// apart by.
pub(super) fn check_opcodes(config: &FaultConfig, opcodes: &OpcodeSet) -> Result<(), Fault> {
    let payload = config.part.unwrap_or_default() == CorruptedPart::Payload;
    let corrupts = config.action == FaultVerb::Corrupt;
    let names: Vec<_> = opcodes.controls().map(LinkFlowControl::frame_name).collect();
    ensure(!(corrupts && payload) || opcodes.has_payload() || !names.is_empty(), || {
        Fault::at("opcode", "such packets have no payload to corrupt")
            .help("add `part = \"header\"`, `part = \"icrc\"` or `part = \"fcs\"`")
    })?;
    if names.is_empty() {
        return Ok(());
    }
    let frames = names.join(" and ");
    ensure(!corrupts || config.part == Some(CorruptedPart::Fcs), || {
        Fault::at("opcode", format!("{frames} frames have no ICRC that would tell"))
            .help("add `part = \"fcs\"`, or drop them")
    })?;
    let key = if config.flow.is_some() {
        "flow"
    } else if config.dest_qp.is_some() {
        "dest_qp"
    } else if config.psn.is_some() {
        "psn"
    } else if config.pattern.is_some() {
        "pattern"
    } else {
        return Ok(());
    };
    Err(Fault::at(key, format!("{frames} frames have nothing of the kind"))
        .help(format!("leave it out, or make a rule for {frames} frames alone")))
}

fn check_action(config: &FaultConfig) -> Result<(), Fault> {
    let verb = config.action;
    let name = verb.name();
    let only = |key: &str, with: &str| {
        Fault::at(key, format!("`{key}` means nothing to the action \"{name}\""))
            .help(format!("leave it out, or use the action {with}"))
    };
    ensure(config.part.is_none() || verb == FaultVerb::Corrupt, || only("part", "\"corrupt\""))?;
    ensure(config.behind.is_none() || verb == FaultVerb::Reorder, || {
        only("behind", "\"reorder\"")
    })?;
    let delays = matches!(verb, FaultVerb::Reorder | FaultVerb::Delay);
    ensure(config.delay.is_none() || delays, || only("delay", "\"delay\" or \"reorder\""))?;
    ensure(verb != FaultVerb::Delay || config.delay.is_some(), || {
        Fault::at("action", "nothing says for how long").help("add `delay`, such as \"10us\"")
    })?;
    let bounded = config.behind.is_some() || config.delay.is_some();
    ensure(verb != FaultVerb::Reorder || bounded, || {
        Fault::at("action", "nothing says behind what")
            .help("add `behind`, such as 1 (the next packet), or `delay`, such as \"10us\"")
    })
}

fn check_numbers(config: &FaultConfig) -> Result<(), Fault> {
    for (key, value) in [
        ("behind", config.behind.map(u64::from)),
        ("nth", config.nth),
        ("every", config.every),
        ("count", config.count),
    ] {
        ensure(value != Some(0), || {
            Fault::at(key, "such a rule never acts").help("give at least 1")
        })?;
    }
    if let Some(delay) = config.delay {
        ensure(delay > Duration::ZERO && delay <= LONGEST_DELAY, || {
            Fault::at("delay", "frames are delayed by more than nothing and at most 1s")
                .help("give a time such as \"10us\"")
        })?;
    }
    if let Some(probability) = config.probability {
        ensure(probability > 0.0 && probability <= 1.0, || {
            Fault::at("probability", "that is no probability, or one that never acts")
                .help("give a number above 0 and at most 1, such as 0.001")
        })?;
    }
    ensure(config.dest_qp.is_none_or(|dest_qp| dest_qp < 1 << 24), || {
        Fault::at("dest_qp", "queue pair numbers have 24 bits").help("give 0 to 16777215")
    })
}

/// At most one key says which of the matching frames are picked.
fn check_choice(config: &FaultConfig) -> Result<(), Fault> {
    let given = [
        ("nth", config.nth.is_some()),
        ("every", config.every.is_some()),
        ("probability", config.probability.is_some()),
        ("pattern", config.pattern.is_some()),
    ];
    let mut given = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key);
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        let message = format!("`{first}` picks frames already");
        return Err(Fault::at(second, message).help("keep one of them, or make two rules"));
    }
    ensure(config.nth.is_none() || config.count.is_none(), || {
        Fault::at("count", "`nth` picks one frame of each link direction already")
            .help("leave `count` out, or give `every` in place of `nth`")
    })
}

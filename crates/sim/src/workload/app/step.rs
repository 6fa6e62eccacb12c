//! `steps`: what an operation consists of.

use rocelab_units::Bytes;

use super::check::check_work_time;
use super::operations::{StepPlan, StepVerb};
use crate::scenario::workload::app::{CompletionEventsConfig, Notify, Side, StepConfig, VerbName};
use crate::scenario::{Fault, ensure};
use crate::workload::rules::MAX_MESSAGE_BYTES;

/// The payload of an atomic operation (bytes).
const ATOMIC_BYTES: u32 = rocelab_transport::ATOMIC_LENGTH;

/// The most steps of an operation.
const MOST: usize = 1_000;

/// The size of a step of `verb`, from the value of `key`.
pub(in crate::workload) fn step_size(
    key: &str,
    verb: StepVerb,
    bytes: Option<Bytes>,
) -> Result<u32, Fault> {
    if verb.is_atomic() {
        ensure(bytes.is_none_or(|bytes| bytes.get() == u64::from(ATOMIC_BYTES)), || {
            Fault::at(key, "an atomic operation has 8 bytes, always").help("leave it out")
        })?;
        return Ok(ATOMIC_BYTES);
    }
    let given = bytes.map(Bytes::get).filter(|bytes| (1..=MAX_MESSAGE_BYTES).contains(bytes));
    given.and_then(|bytes| u32::try_from(bytes).ok()).ok_or_else(|| {
        let fault = Fault::at(key, "a message has at least one byte and at most 2^31");
        fault.value(bytes.map_or("none".into(), |bytes| bytes.to_string())).help("give 1B to 2GiB")
    })
}

/// The steps of an operation, which can be done in this order.
pub(super) fn planned(steps: &[StepConfig]) -> Result<Vec<StepPlan>, Fault> {
    ensure(!steps.is_empty(), || {
        Fault::at("steps", "an operation without steps does nothing").help(
            "give at least one, such as { by = \"client\", verb = \"send\", bytes = \"64B\" }",
        )
    })?;
    ensure(steps.len() <= MOST, || {
        Fault::at("steps", format!("{} steps are too many", steps.len()))
            .help(format!("give at most {MOST}"))
    })?;
    let mut planned: Vec<StepPlan> = Vec::with_capacity(steps.len());
    for (place, step) in steps.iter().enumerate() {
        let plan = plan(step, planned.last()).map_err(|fault| fault.within(&key(place)))?;
        planned.push(plan);
    }
    for (place, step) in planned.iter().enumerate() {
        let next = planned.get(place + 1).map(|next| next.by);
        check_turn(step, next).map_err(|fault| fault.within(&key(place)))?;
    }
    Ok(planned)
}

fn key(place: usize) -> String {
    format!("steps[{place}]")
}

fn plan(config: &StepConfig, before: Option<&StepPlan>) -> Result<StepPlan, Fault> {
    ensure(before.is_some() || config.by == Side::Client, || {
        Fault::at("by", "nothing tells the server that an operation begins")
            .help("let the client take the first step")
    })?;
    check_operands(config)?;
    check_work_time("after", config.after.unwrap_or_default())?;
    if config.chained {
        check_chain(config, before)?;
    }
    let verb = match config.verb {
        VerbName::CompareSwap => StepVerb::CompareSwap {
            compare: config.compare.unwrap_or(0),
            swap: config.swap.unwrap_or(1),
        },
        VerbName::FetchAdd => StepVerb::FetchAdd { add: config.add.unwrap_or(1) },
        other => other.into(),
    };
    ensure(!config.solicited || verb.is_noticed(), || {
        Fault::at("solicited", "this step makes no completion at the other side")
            .help("leave it out, or use a SEND or `write-with-immediate`")
    })?;
    Ok(StepPlan {
        by: config.by,
        verb,
        bytes: step_size("bytes", verb, config.bytes)?,
        after: config.after.unwrap_or_default(),
        chained: config.chained,
        solicited: config.solicited,
    })
}

/// What sides wait for that sleep: an event must come of it.
pub(super) fn check_events(
    events: &CompletionEventsConfig,
    steps: &[StepPlan],
) -> Result<(), Fault> {
    check_work_time("wake_up", events.wake_up)
        .map_err(|fault| fault.within("completion_events"))?;
    if events.notify == Notify::Next {
        return Ok(());
    }
    let sleeps = |side: Side| events.by.is_none_or(|by| by == side);
    for (place, step) in steps.iter().enumerate() {
        let next = steps.get(place + 1);
        let waits = next.map_or(Side::Client, |next| next.by);
        if !sleeps(waits) || next.is_some_and(|next| next.chained) {
            continue;
        }
        ensure(waits != step.by, || {
            let text = format!(
                "the {} sleeps until a solicited completion, and that of its own work is none",
                waits.name()
            );
            Fault::at("completion_events.notify", text).value("solicited").help(format!(
                "use \"next\", or let step {place} be the other side's, or chain the next step to it"
            ))
        })?;
        ensure(step.solicited, || {
            let text = format!("the {} sleeps until a solicited completion", waits.name());
            Fault::at(format!("{}.solicited", key(place)), text)
                .value("false")
                .help("give `solicited = true`, or `completion_events.notify = \"next\"`")
        })?;
    }
    Ok(())
}

fn check_operands(config: &StepConfig) -> Result<(), Fault> {
    for (key, given, owner, name) in [
        ("add", config.add, VerbName::FetchAdd, "fetch-add"),
        ("compare", config.compare, VerbName::CompareSwap, "compare-swap"),
        ("swap", config.swap, VerbName::CompareSwap, "compare-swap"),
    ] {
        ensure(given.is_none() || config.verb == owner, || {
            Fault::at(key, format!("only `{name}` has this operand"))
                .help(format!("leave it out, or use the verb `{name}`"))
        })?;
    }
    Ok(())
}

fn check_chain(config: &StepConfig, before: Option<&StepPlan>) -> Result<(), Fault> {
    let before = before.filter(|before| before.by == config.by);
    let Some(before) = before else {
        return Err(Fault::at("chained", "no step of the same side stands before this one")
            .help("leave it out: this step waits for the other side, or is the first"));
    };
    ensure(!before.verb.awaits_response(), || {
        Fault::at("chained", "the step before this one ends with a response, which it awaits")
            .help("leave it out")
    })?;
    ensure(config.after.is_none(), || {
        Fault::at("after", "a chained step is posted together with the one before it")
            .help("leave `after` out, or `chained`")
    })
}

/// Whether who has the next turn (or the client, at an operation's end) notices that `step` is
/// done.
fn check_turn(step: &StepPlan, next: Option<Side>) -> Result<(), Fault> {
    let waits = next.unwrap_or(Side::Client);
    ensure(waits == step.by || step.verb.is_noticed(), || {
        let what = match next {
            Some(_) => format!("the next step is the {}'s", waits.name()),
            None => "the client ends the operation".into(),
        };
        let message = format!("{what}, whom nothing tells that this one is done");
        Fault::at("verb", message).help(
            "use `send`, `send-with-immediate`, `send-with-invalidate` or `write-with-immediate`",
        )
    })
}

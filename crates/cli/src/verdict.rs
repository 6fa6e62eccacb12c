//! How a run went: what is told of it on standard error, and the exit code.

use rocelab_report::{frozen_text, idle_queue_pair_texts};
use rocelab_results::Summary;
use rocelab_sim::{Ending, Outcome};

use crate::exit::Exit;

/// Tells what was found, all of it, and says whether there was anything. Each line begins with `of`,
/// which names the scenario where there are several. Without a `stop` the run was to go on until all
/// flows had ended.
pub(crate) fn of(outcome: &Outcome, has_stop: bool, of: &str) -> Exit {
    let summary = &outcome.summary;
    tell_idle_queue_pairs(summary, of);
    let found = [
        tell_lossless_drops(summary, of),
        tell_ending(outcome, of),
        tell_passed_deadlocks(outcome, of),
        tell_frozen(summary, of),
        tell_failures(summary, of),
        summary.flows.unfinished > 0 && !has_stop,
    ];
    let exit = if found.contains(&true) { Exit::Found } else { Exit::Done };
    if outcome.ending == Ending::Interrupted { exit.and(Exit::Interrupted) } else { exit }
}

/// Frames that pauses should have kept from being dropped.
fn tell_lossless_drops(summary: &Summary, of: &str) -> bool {
    let reasons = &summary.lossless_drops;
    if reasons.is_empty() {
        return false;
    }
    let frames = match reasons.values().sum() {
        1u64 => "1 frame of lossless priorities was".to_owned(),
        frames => format!("{frames} frames of lossless priorities were"),
    };
    let each = reasons.iter().map(|(reason, frames)| format!("{reason} {frames}"));
    tell!("warning: {of}{frames} dropped ({}): see drops.csv", each.collect::<Vec<_>>().join(", "));
    true
}

/// Why a run ended that should have gone on.
fn tell_ending(outcome: &Outcome, of: &str) -> bool {
    let summary = &outcome.summary;
    match outcome.ending {
        Ending::Stalled => tell!("warning: {of}nothing moves any more, {}", unfinished(summary)),
        Ending::Deadlocked => {
            if let Some(deadlock) = summary.deadlocks.last() {
                tell!("{of}{deadlock}");
            }
        }
        Ending::Finished | Ending::Stopped | Ending::Interrupted => return false,
    }
    if let Some(stalled) = &summary.stalled {
        tell!("{of}{stalled}");
    }
    true
}

/// Deadlocks after which the run went on: the first of them, and how many there were.
fn tell_passed_deadlocks(outcome: &Outcome, of: &str) -> bool {
    let all = &outcome.summary.deadlocks[..];
    let passed = match all.split_last() {
        Some((_, before)) if outcome.ending == Ending::Deadlocked => before,
        _ => all,
    };
    let Some(first) = passed.first() else { return false };
    tell!("warning: {of}{first}");
    let more = passed.len() as u64 - 1;
    if more > 0 {
        tell!(
            "warning: {of}and {} after it: see `deadlocks` in summary.json",
            counted(more, "deadlock")
        );
    }
    true
}

/// What pauses held at the end that would not have ended: a `stop` does not excuse it.
fn tell_frozen(summary: &Summary, of: &str) -> bool {
    let Some(text) = frozen_text(summary) else { return false };
    tell!("warning: {of}{text}");
    true
}

/// Queue pairs that could send and did not: a fault of the model, and not of the scenario.
fn tell_idle_queue_pairs(summary: &Summary, of: &str) {
    for text in idle_queue_pair_texts(summary) {
        tell!("warning: {of}{text}");
    }
}

/// What ended badly: flows and operations, and promises that were broken.
fn tell_failures(summary: &Summary, of: &str) -> bool {
    let flows = summary.flows;
    let operations: u64 = summary.operations.iter().map(|app| app.failed).sum();
    let broken = summary.integrity.as_ref().map_or(0, |integrity| integrity.violations);
    if flows.failed > 0 {
        let (failed, total) = (flows.failed, flows.total);
        tell!("warning: {of}{failed} of {total} flows failed: see `status` in flows.csv");
    }
    if summary.late_connections > 0 {
        let connections = counted(summary.late_connections, "connection");
        tell!(
            "warning: {of}{connections} timed out before an answer came: the times of `roce.cm` are \
             shorter than the round-trip time, queues included, or messages were lost"
        );
    }
    if operations > 0 {
        tell!("warning: {of}{} failed: see operations.csv", counted(operations, "operation"));
    }
    if broken > 0 {
        tell!(
            "warning: {of}{} of the transport broken: see summary.json",
            counted(broken, "promise")
        );
    }
    flows.failed > 0 || operations > 0 || broken > 0
}

/// What a run left unfinished.
fn unfinished(summary: &Summary) -> String {
    let flows =
        format!("{} of {} flows are unfinished", summary.flows.unfinished, summary.flows.total);
    let (open, total) = summary
        .operations
        .iter()
        .fold((0, 0), |(open, total), app| (open + app.unfinished, total + app.total));
    let operations = format!("{open} of {total} operations are unfinished");
    match (summary.flows.total, summary.operations.is_empty()) {
        (_, true) => flows,
        (0, false) => operations,
        _ => format!("{flows}, {operations}"),
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

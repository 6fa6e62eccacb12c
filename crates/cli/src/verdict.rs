//! The final messages of a run on standard error, and its exit code.

use rocelab_report::{frozen_text, idle_queue_pair_texts};
use rocelab_results::{RefusedEngine, Summary};
use rocelab_sim::{Ending, Outcome};

use crate::exit::Exit;

/// Prints all problems of a run, and returns the exit code. Each line begins with `of`, which names
/// the scenario if there are several. `has_stop` is false if the run should have continued until
/// all flows had ended.
pub(crate) fn of(outcome: &Outcome, has_stop: bool, of: &str) -> Exit {
    let summary = &outcome.summary;
    print_idle_queue_pairs(summary, of);
    print_refused_engine(summary, of);
    let found = [
        print_lossless_drops(summary, of),
        print_ending(outcome, of),
        print_passed_deadlocks(outcome, of),
        print_frozen(summary, of),
        print_failures(summary, of),
        summary.all_flows().unfinished > 0 && !has_stop,
        print_unmeasured(summary, of),
    ];
    let exit = if found.contains(&true) { Exit::Found } else { Exit::Done };
    if outcome.ending == Ending::Interrupted { exit.and(Exit::Interrupted) } else { exit }
}

/// A routing engine that could not be used: another one made the tables, which may let packets wait for each other in a circle.
fn print_refused_engine(summary: &Summary, of: &str) {
    let Some(infiniband) = &summary.infiniband else { return };
    if let Some(RefusedEngine { engine, reason }) = &infiniband.refused {
        let other = &infiniband.engine;
        stderr_line!("warning: {of}`{engine}` refused the subnet: {reason}; {other} in its place");
    }
}

/// Frames that were dropped although pauses should have prevented it.
fn print_lossless_drops(summary: &Summary, of: &str) -> bool {
    let reasons = &summary.lossless_drops;
    if reasons.is_empty() {
        return false;
    }
    let frames = match reasons.values().sum() {
        1u64 => "1 frame of lossless priorities was".to_owned(),
        frames => format!("{frames} frames of lossless priorities were"),
    };
    let each = reasons.iter().map(|(reason, frames)| format!("{reason} {frames}"));
    stderr_line!(
        "warning: {of}{frames} dropped ({}): see drops.csv",
        each.collect::<Vec<_>>().join(", ")
    );
    true
}

/// Why a run ended before it should have.
fn print_ending(outcome: &Outcome, of: &str) -> bool {
    let summary = &outcome.summary;
    match outcome.ending {
        Ending::Stalled => {
            stderr_line!("warning: {of}nothing moves any more, {}", unfinished(summary));
        }
        Ending::Deadlocked => {
            if let Some(deadlock) = summary.deadlocks.last() {
                stderr_line!("{of}{deadlock}");
            }
        }
        Ending::Finished | Ending::Stopped | Ending::Interrupted => return false,
    }
    if let Some(stalled) = &summary.stalled {
        stderr_line!("{of}{stalled}");
    }
    true
}

/// Deadlocks after which the run continued: the first one, and the number of all.
fn print_passed_deadlocks(outcome: &Outcome, of: &str) -> bool {
    let all = &outcome.summary.deadlocks[..];
    let passed = match all.split_last() {
        Some((_, before)) if outcome.ending == Ending::Deadlocked => before,
        _ => all,
    };
    let Some(first) = passed.first() else { return false };
    stderr_line!("warning: {of}{first}");
    let more = passed.len() as u64 - 1;
    if more > 0 {
        stderr_line!(
            "warning: {of}and {} after it: see `deadlocks` in summary.json",
            counted(more, "deadlock")
        );
    }
    true
}

/// What pauses without end held at the end. It is a problem even if the scenario has a `stop`.
fn print_frozen(summary: &Summary, of: &str) -> bool {
    let Some(text) = frozen_text(summary) else { return false };
    stderr_line!("warning: {of}{text}");
    true
}

/// Queue pairs that could send but did not: a fault of the model, not of the scenario.
fn print_idle_queue_pairs(summary: &Summary, of: &str) {
    for text in idle_queue_pair_texts(summary) {
        stderr_line!("warning: {of}{text}");
    }
}

/// A measuring window that the run did not reach.
fn print_unmeasured(summary: &Summary, of: &str) -> bool {
    let is_empty = summary.measured.is_some_and(|window| window.from_ps == window.to_ps);
    if is_empty {
        stderr_line!(
            "warning: {of}nothing was measured: the run was over before the window of [measure] began"
        );
    }
    is_empty
}

/// Failed flows and operations, and violated guarantees.
fn print_failures(summary: &Summary, of: &str) -> bool {
    let flows = summary.all_flows();
    let operations = summary.failed_operations();
    let broken = summary.integrity.as_ref().map_or(0, |integrity| integrity.violations);
    if flows.failed > 0 {
        let (failed, total) = (flows.failed, flows.total);
        stderr_line!("warning: {of}{failed} of {total} flows failed: see `status` in flows.csv");
    }
    if summary.late_connections > 0 {
        let connections = counted(summary.late_connections, "connection");
        stderr_line!(
            "warning: {of}{connections} timed out before an answer came: the times of `roce.cm` are \
             shorter than the round-trip time, queues included, or messages were lost"
        );
    }
    if operations > 0 {
        stderr_line!(
            "warning: {of}{} failed: see operations.csv",
            counted(operations, "operation")
        );
    }
    if broken > 0 {
        stderr_line!(
            "warning: {of}{} of the transport broken: see summary.json",
            counted(broken, "promise")
        );
    }
    flows.failed > 0 || operations > 0 || broken > 0
}

/// What a run left unfinished.
fn unfinished(summary: &Summary) -> String {
    let all = summary.all_flows();
    let flows = format!("{} of {} flows are unfinished", all.unfinished, all.total);
    let (open, total) = summary
        .operations
        .iter()
        .fold((0, 0), |(open, total), app| (open + app.unfinished, total + app.total));
    let operations = format!("{open} of {total} operations are unfinished");
    match (all.total, summary.operations.is_empty()) {
        (_, true) => flows,
        (0, false) => operations,
        _ => format!("{flows}, {operations}"),
    }
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

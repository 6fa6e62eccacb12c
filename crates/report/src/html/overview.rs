//! The most important numbers of a run, and its problems.

use std::borrow::Cow;

use rocelab_results::{Millionths, OperationCounts, RunInfo, Summary};
use serde::Serialize;

use super::cycles::sentence;
use crate::numbers::{count, counted, time};
use crate::percentiles::{completed_of, operations_of, percentile_texts};
use crate::summary_table::{branch_text, by_kind};
use crate::{frozen_text, goodput, idle_queue_pair_texts};

/// Severity of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Level {
    Good,
    Note,
    Bad,
}

/// A sentence about the run.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) level: Level,
    /// The severity as a word, so that it does not depend on colour.
    pub(crate) word: &'static str,
    pub(crate) text: String,
}

/// A number with its name.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fact {
    pub(crate) name: Cow<'static, str>,
    pub(crate) value: String,
}

/// A row of percentiles.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Percentiles {
    pub(crate) name: String,
    /// Least, mean, median, 95th, 99th, 99.9th percentile, greatest.
    pub(crate) values: Vec<String>,
}

/// The first part of the page.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) percentiles: Vec<Percentiles>,
    /// Numbers of flows and operations behind the percentiles, if not all completed.
    pub(crate) completed: Vec<String>,
}

/// The overview of `summary.json` and `run.json`.
pub(crate) fn overview(summary: &Summary, run: &RunInfo) -> Overview {
    Overview {
        verdicts: verdicts(summary),
        facts: facts(summary, run),
        percentiles: percentiles(summary),
        completed: completed(summary),
    }
}

fn completed(summary: &Summary) -> Vec<String> {
    let flows = completed_of(summary).map(|text| format!("Percentiles of flows: {text}."));
    let of_app = |app: &OperationCounts| {
        operations_of(app).map(|text| format!("Percentiles of {}: {text}.", app.app))
    };
    flows.into_iter().chain(summary.operations.iter().filter_map(of_app)).collect()
}

fn verdict(level: Level, text: String) -> Verdict {
    let word = match level {
        Level::Good => "good",
        Level::Note => "note",
        Level::Bad => "problem",
    };
    Verdict { level, word, text }
}

/// Sentences about the run, problems first.
fn verdicts(summary: &Summary) -> Vec<Verdict> {
    let mut list = Vec::new();
    let mut say = |level, text: String| list.push(verdict(level, text));
    if summary.incomplete {
        let until = time(summary.simulated_ps);
        say(Level::Bad, format!("The run was interrupted: all of this is true up to {until}."));
    }
    if let Some(branch) = &summary.branch {
        say(Level::Note, format!("This is a {}.", branch_text(branch)));
    }
    for deadlock in &summary.deadlocks {
        say(Level::Bad, sentence(deadlock));
    }
    if let Some(stalled) = &summary.stalled {
        let (queue_pairs, queues) =
            (counted(stalled.queue_pairs, "queue pair"), counted(stalled.queues, "queue"));
        let since = time(stalled.since_ps);
        say(Level::Bad, format!("Stuck since {since}: {queue_pairs}, {queues} with frames."));
    }
    for text in idle_queue_pair_texts(summary) {
        say(Level::Note, format!("Warning: {text}."));
    }
    let flows = &summary.flows;
    if let Some(text) = frozen_text(summary) {
        say(Level::Bad, format!("Frozen: {text}."));
    }
    if flows.failed > 0 {
        say(Level::Bad, format!("{} failed.", counted(flows.failed, "flow")));
    }
    for app in summary.operations.iter().filter(|app| app.failed > 0) {
        say(Level::Bad, format!("{} of {} failed.", counted(app.failed, "operation"), app.app));
    }
    if let Some(integrity) = &summary.integrity {
        match integrity.violations {
            0 => say(
                Level::Good,
                format!(
                    "Integrity: {} compared, every byte as sent.",
                    counted(integrity.flows, "flow")
                ),
            ),
            broken => say(Level::Bad, format!("Integrity: {}.", counted(broken, "violation"))),
        }
    }
    if summary.drops.total > 0 {
        let missed = |reason: &str| summary.lossless_drops.get(reason).copied().unwrap_or(0);
        let missed = summary.drops.by_reason.keys().map(|reason| (reason, missed(reason)));
        if let Some(frames) =
            dropped(missed, "frame of lossless priorities", "frames of lossless priorities")
        {
            say(Level::Bad, frames);
        }
        let others = summary.drops.by_reason.iter().map(|(reason, frames)| {
            let missed = summary.lossless_drops.get(reason).copied().unwrap_or(0);
            (reason, frames.saturating_sub(missed))
        });
        if let Some(frames) = dropped(others, "frame", "frames") {
            say(Level::Note, frames);
        }
    } else {
        say(Level::Good, "No frame was dropped.".to_owned());
    }
    if !summary.failures.is_empty() {
        say(Level::Note, format!("Failures of the scenario: {}.", by_kind(summary)));
    }
    if summary.storms > 0 {
        let times = counted(summary.storms, "time");
        say(Level::Bad, format!("{times} a watchdog took a queue for one in a storm of pauses."));
    }
    if flows.unfinished > 0 {
        let (open, total) = (count(flows.unfinished), count(flows.total));
        say(Level::Note, format!("{open} of {total} flows had not completed when the run ended."));
    } else if flows.total > 0 && flows.failed == 0 {
        let all = if flows.total == 1 {
            "The flow"
        } else {
            &format!("All {} flows", count(flows.total))
        };
        say(Level::Good, format!("{all} completed."));
    }
    if summary.pfc.pauses > 0 {
        let (pauses, paused) = (counted(summary.pfc.pauses, "pause"), time(summary.pfc.paused_ps));
        let control = summary.flow_control();
        let text = format!("{pauses} by {control}, {paused} in all over ports and priorities.");
        say(Level::Note, text);
    } else {
        say(Level::Good, format!("{} paused nobody.", summary.flow_control()));
    }
    list.sort_by_key(|verdict| std::cmp::Reverse(verdict.level));
    list
}

/// The number of dropped frames with their reasons; `None` if there are none.
fn dropped<'a>(
    reasons: impl Iterator<Item = (&'a String, u64)>,
    one: &str,
    several: &str,
) -> Option<String> {
    let reasons: Vec<_> = reasons.filter(|&(_, frames)| frames > 0).collect();
    let total: u64 = reasons.iter().map(|&(_, frames)| frames).sum();
    let each = reasons.iter().map(|(reason, frames)| format!("{reason} {}", count(*frames)));
    let what = if total == 1 { one } else { several };
    (total > 0).then(|| {
        let each = each.collect::<Vec<_>>().join(", ");
        format!("{} {what} dropped: {each}.", count(total))
    })
}

fn facts(summary: &Summary, run: &RunInfo) -> Vec<Fact> {
    let flows = &summary.flows;
    let mut list = Vec::new();
    let mut say = |name: &'static str, value| list.push(Fact { name: name.into(), value });
    say("Simulated", time(summary.simulated_ps));
    say("RoCE version", format!("v{}", summary.roce_version));
    say("Seed", summary.seed.to_string());
    say("Flows completed", format!("{} of {}", count(flows.completed), count(flows.total)));
    for (name, text) in goodput::lines(summary.goodput_bps, summary.goodput.as_ref()) {
        say(name, text);
    }
    for app in &summary.operations {
        let done = format!("{}: {} of {}", app.app, count(app.completed), count(app.total));
        say("Operations completed", done);
    }
    say("Pauses", count(summary.pfc.pauses));
    say("ECN marks", count(summary.ecn.marks));
    say("CNPs", count(summary.cnps));
    for (name, value) in [
        ("CNMs (QCN)", summary.cnms),
        ("CNPs of switches", summary.switch_cnps),
        ("Storms", summary.storms),
        ("Path migrations", summary.path_migrations.len() as u64),
        ("Completion events", summary.completion_events),
        ("Completions found after events", summary.completions_after_events),
    ] {
        if value > 0 {
            say(name, count(value));
        }
    }
    say("Drops", count(summary.drops.total));
    say("Retransmissions", count(summary.retransmissions));
    say("NAKs", count(summary.naks));
    say("Timeouts", count(summary.timeouts));
    say("Link traversals", count(summary.link_traversals.total));
    say("Computed in", format!("{:.2} s of CPU time", run.cpu_s));
    say("Digest", summary.digest.clone());
    list
}

fn percentiles(summary: &Summary) -> Vec<Percentiles> {
    let mut rows = Vec::new();
    if let Some(fct) = &summary.fct_ps {
        let values = percentile_texts(fct, time).to_vec();
        rows.push(Percentiles { name: "Flow completion time".to_owned(), values });
    }
    if let Some(slowdown) = &summary.slowdown {
        let values = percentile_texts(slowdown, |ratio: Millionths| format!("{ratio:.2}")).to_vec();
        rows.push(Percentiles { name: "Slowdown".to_owned(), values });
    }
    for app in &summary.operations {
        let Some(latency) = &app.latency_ps else { continue };
        let values = percentile_texts(latency, time).to_vec();
        rows.push(Percentiles { name: format!("Latency of {}", app.app), values });
    }
    rows
}

#[cfg(test)]
mod tests {
    use rocelab_results::{DeadlockRecord, DeadlockedQueue, FrozenRecord, FrozenRoot};

    use super::*;

    #[test]
    fn problems_come_first() {
        let mut summary = Summary::default();
        summary.flows.total = 2;
        summary.flows.failed = 1;
        summary.flows.unfinished = 1;
        let levels: Vec<_> = verdicts(&summary).into_iter().map(|verdict| verdict.level).collect();
        assert_eq!(levels, [Level::Bad, Level::Note, Level::Good, Level::Good]);
    }

    #[test]
    fn a_deadlock_is_named_and_dated() {
        let queue = |switch: &str| DeadlockedQueue {
            switch: switch.to_owned(),
            port: 1,
            paused_by: String::new(),
            priority: 3,
        };
        let mut summary = Summary { storms: 2, cnms: 7, ..Summary::default() };
        summary.deadlocks.push(DeadlockRecord {
            began_ps: 5_000_000,
            found_ps: 9_000_000,
            cycle: vec![queue("a"), queue("b")],
            queues: 3,
            ..DeadlockRecord::default()
        });
        let list = verdicts(&summary);
        assert_eq!((list[0].level, list[1].level), (Level::Bad, Level::Bad));
        let text = &list[0].text;
        assert!(
            text.starts_with("Deadlock since 5.00 us, found at 9.00 us: 3 queues can"),
            "{text}"
        );
        assert!(text.ends_with("a:1 p3, b:1 p3."), "{text}");
        assert!(list[1].text.starts_with("2 times a watchdog"), "{}", list[1].text);
        let facts = facts(&summary, &RunInfo::default());
        let value = |name| facts.iter().find(|fact| fact.name == name).map(|fact| &*fact.value);
        assert_eq!((value("CNMs (QCN)"), value("Storms")), (Some("7"), Some("2")));
    }

    #[test]
    fn failures_of_the_scenario_are_said() {
        let failures = [("pause-storm".to_owned(), 2)];
        let summary = Summary { failures: failures.into(), ..Summary::default() };
        let said = verdicts(&summary);
        let failure = said.iter().find(|verdict| verdict.text.contains("pause-storm")).unwrap();
        let text = "Failures of the scenario: 2 pause-storm.".to_owned();
        assert_eq!((failure.level, &failure.text), (Level::Note, &text));
    }

    #[test]
    fn a_run_that_is_frozen_is_a_problem() {
        let root = FrozenRoot { root: "host-0".to_owned(), held: 510 };
        let frozen = FrozenRecord {
            flows: 510,
            since_ps: 1_000_000,
            roots: vec![root],
            ..FrozenRecord::default()
        };
        let mut summary = Summary { frozen: Some(frozen), ..Summary::default() };
        (summary.flows.total, summary.flows.completed) = (560, 50);
        summary.flows.unfinished = 510;
        let first = verdicts(&summary).remove(0);
        let text =
            "Frozen: of 560 flows: 510 flows frozen by pauses since 1.00 us, held by host-0.";
        assert_eq!((first.level, first.word, first.text.as_str()), (Level::Bad, "problem", text));
    }

    #[test]
    fn an_idle_queue_pair_is_a_warning_as_everywhere_else() {
        let idle = rocelab_results::IdleQueuePairRecord::default();
        let summary = Summary { idle_queue_pairs: vec![idle], ..Summary::default() };
        let first = verdicts(&summary).remove(0);
        assert_eq!(first.level, Level::Note);
        assert!(first.text.starts_with("Warning: queue pair 0x0 of "), "{}", first.text);
    }

    #[test]
    fn a_good_run_has_nothing_but_good_news() {
        let mut summary = Summary::default();
        (summary.flows.total, summary.flows.completed) = (2, 2);
        assert!(verdicts(&summary).iter().all(|verdict| verdict.level == Level::Good));
    }

    /// Sentences about drops: first about frames of lossless priorities, by reason.
    fn drop_sentences(drops: &[(&str, u64)], lossless: &[(&str, u64)]) -> Vec<(Level, String)> {
        let mut summary = Summary::default();
        for &(reason, frames) in drops {
            summary.drops.add_frames(reason, frames);
        }
        let lossless = lossless.iter().map(|&(reason, frames)| (reason.to_owned(), frames));
        summary.lossless_drops = lossless.collect();
        let of_drops = |one: &Verdict| one.text.contains("dropped");
        let said = verdicts(&summary).into_iter().filter(of_drops);
        said.map(|one| (one.level, one.text)).collect()
    }

    #[test]
    fn lossless_frames_that_were_dropped_are_a_problem_and_others_a_note() {
        let drops = [("headroom_exceeded", 1_200), ("egress_threshold", 1), ("link", 30)];
        let missed = (
            Level::Bad,
            "1,201 frames of lossless priorities dropped: egress_threshold 1, headroom_exceeded 1,200."
                .to_owned(),
        );
        let lossless = [("headroom_exceeded", 1_200), ("egress_threshold", 1)];
        let others = (Level::Note, "30 frames dropped: link 30.".to_owned());
        assert_eq!(drop_sentences(&drops, &lossless), [missed, others]);
    }

    #[test]
    fn frames_of_one_reason_are_told_apart_by_their_priorities() {
        let said = drop_sentences(&[("headroom_exceeded", 3)], &[("headroom_exceeded", 1)]);
        let [missed, other] = said.as_slice() else { panic!("{said:?}") };
        let text = "1 frame of lossless priorities dropped: headroom_exceeded 1.";
        assert_eq!((missed.0, missed.1.as_str()), (Level::Bad, text));
        assert_eq!(
            (other.0, other.1.as_str()),
            (Level::Note, "2 frames dropped: headroom_exceeded 2.")
        );
    }

    #[test]
    fn drops_of_one_kind_are_one_sentence() {
        let missed = drop_sentences(&[("receiver_stopped", 2)], &[("receiver_stopped", 2)]);
        let text = "2 frames of lossless priorities dropped: receiver_stopped 2.";
        assert_eq!(missed, [(Level::Bad, text.to_owned())]);
        let others = drop_sentences(&[("fault", 1)], &[]);
        assert_eq!(others, [(Level::Note, "1 frame dropped: fault 1.".to_owned())]);
        assert_eq!(drop_sentences(&[], &[]), [(Level::Good, "No frame was dropped.".to_owned())]);
    }
}

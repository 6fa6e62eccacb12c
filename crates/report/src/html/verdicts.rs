//! What is good and what is not in a run, by the rules of [`rules`].

use rocelab_results::{MeasuredWindow, Summary};
use serde::Serialize;

use super::cycles::sentence;
use super::rules::{self, Rule};
use super::tail_latency::tail_latency;
use crate::numbers::{count, counted, time};
use crate::summary_table::{branch_text, by_kind};
use crate::{frozen_text, idle_queue_pair_texts};

/// Severity of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Level {
    /// The results do not say.
    Unjudged,
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
    /// The rule behind the severity, in words.
    pub(crate) rule: String,
}

/// A sentence that follows from a rule.
pub(crate) fn verdict(level: Level, text: String, rule: Rule) -> Verdict {
    let word = match level {
        Level::Unjudged => "not judged",
        Level::Good => "good",
        Level::Note => "note",
        Level::Bad => "problem",
    };
    Verdict { level, word, text, rule: rule.text() }
}

/// Sentences about the run, problems first.
pub(crate) fn verdicts(summary: &Summary) -> Vec<Verdict> {
    let mut list = Vec::new();
    let mut say = |level, rule, text: String| list.push(verdict(level, text, rule));
    if summary.incomplete {
        let until = time(summary.simulated_ps);
        say(
            Level::Bad,
            Rule::Interrupted,
            format!("The run was interrupted: all of this is true up to {until}."),
        );
    }
    if let Some(window) = &summary.measured {
        let (level, text) = measured(window);
        say(level, Rule::Measured, text);
    }
    for deadlock in &summary.deadlocks {
        say(Level::Bad, Rule::Deadlock, sentence(deadlock));
    }
    if summary.deadlocks.is_empty() {
        say(Level::Good, Rule::Deadlock, "No deadlock was found.".to_owned());
    }
    if let Some(stalled) = &summary.stalled {
        let (queue_pairs, queues) =
            (counted(stalled.queue_pairs, "queue pair"), counted(stalled.queues, "queue"));
        let since = time(stalled.since_ps);
        say(
            Level::Bad,
            Rule::Stall,
            format!("Stuck since {since}: {queue_pairs}, {queues} with frames."),
        );
    }
    for text in idle_queue_pair_texts(summary) {
        say(Level::Note, Rule::IdleQueuePair, format!("Warning: {text}."));
    }
    // A flow that fails in the warm-up has failed all the same.
    let flows = &summary.all_flows();
    if let Some(text) = frozen_text(summary) {
        say(Level::Bad, Rule::Stall, format!("Frozen: {text}."));
    }
    say_timeouts(summary, &mut say);
    if flows.failed > 0 {
        say(Level::Bad, Rule::Completion, format!("{} failed.", counted(flows.failed, "flow")));
    }
    if let Some(integrity) = &summary.integrity {
        match integrity.violations {
            0 => say(
                Level::Good,
                Rule::Integrity,
                format!(
                    "Integrity: {} compared, every byte as sent.",
                    counted(integrity.flows, "flow")
                ),
            ),
            broken => {
                let violations = counted(broken, "violation");
                say(Level::Bad, Rule::Integrity, format!("Integrity: {violations}."));
            }
        }
    }
    if summary.drops.total > 0 {
        let missed = |reason: &str| summary.lossless_drops.get(reason).copied().unwrap_or(0);
        let missed = summary.drops.by_reason.keys().map(|reason| (reason, missed(reason)));
        if let Some(frames) =
            dropped(missed, "frame of lossless priorities", "frames of lossless priorities")
        {
            say(Level::Bad, Rule::Drops, frames);
        }
        let others = summary.drops.by_reason.iter().map(|(reason, frames)| {
            let missed = summary.lossless_drops.get(reason).copied().unwrap_or(0);
            (reason, frames.saturating_sub(missed))
        });
        if let Some(frames) = dropped(others, "frame", "frames") {
            say(Level::Note, Rule::Drops, frames);
        }
    } else {
        say(Level::Good, Rule::Drops, "No frame was dropped.".to_owned());
    }
    if !summary.failures.is_empty() {
        let failures = by_kind(summary);
        say(Level::Note, Rule::Failures, format!("Failures of the scenario: {failures}."));
    }
    if summary.storms > 0 {
        let times = counted(summary.storms, "time");
        let text = format!("{times} a watchdog took a queue for one in a storm of pauses.");
        say(Level::Bad, Rule::Storms, text);
    }
    if flows.unfinished > 0 {
        let (open, total) = (count(flows.unfinished), count(flows.total));
        let level = rules::completion(flows.unfinished, flows.total);
        let text = format!("{open} of {total} flows had not completed when the run ended.");
        say(level, Rule::Completion, text);
    } else if flows.total > 0 && flows.failed == 0 {
        let all = if flows.total == 1 {
            "The flow"
        } else {
            &format!("All {} flows", count(flows.total))
        };
        say(Level::Good, Rule::Completion, format!("{all} completed."));
    }
    say_operations(summary, &mut say);
    if summary.infiniband.is_some() {
        // Nobody pauses anybody; what lanes waited for is told with the links.
    } else if summary.pfc.pauses > 0 {
        let (pauses, paused) = (counted(summary.pfc.pauses, "pause"), time(summary.pfc.paused_ps));
        let control = summary.flow_control();
        let text = format!("{pauses} by {control}, {paused} in all over ports and priorities.");
        say(Level::Note, Rule::Pauses, text);
    } else {
        let control = summary.flow_control();
        say(Level::Good, Rule::Pauses, format!("{control} paused nobody."));
    }
    list.extend(tail_latency(summary));
    list.extend(summary.branch.as_ref().map(|branch| {
        verdict(Level::Note, format!("This is a {}.", branch_text(branch)), Rule::Branch)
    }));
    list.sort_by_key(|verdict| std::cmp::Reverse(verdict.level));
    list
}

/// The window that figures are of, and what they leave out.
fn measured(window: &MeasuredWindow) -> (Level, String) {
    if window.from_ps == window.to_ps {
        let over = "Nothing was measured: the run was over before the window of [measure] began.";
        return (Level::Bad, over.to_owned());
    }
    let outside = [
        counted(window.flows_outside.total, "flow"),
        counted(window.operations_outside, "operation"),
    ];
    let text = format!(
        "Figures of flows, operations and links are of {} to {}: {} outside are left out. All else is of the \
         whole run.",
        time(window.from_ps),
        time(window.to_ps),
        outside.join(" and ")
    );
    (Level::Note, text)
}

/// How operations of applications ended. What fails outside of a measuring window has failed all the same.
fn say_operations(summary: &Summary, say: &mut impl FnMut(Level, Rule, String)) {
    for app in &summary.operations {
        let (name, total) = (&app.app, counted(app.total, "operation"));
        if app.failed > 0 {
            let text = format!("{} of {total} of {name} failed.", count(app.failed));
            say(Level::Bad, Rule::Completion, text);
        }
        if app.unfinished > 0 {
            let open = count(app.unfinished);
            let text = format!("{open} of {total} of {name} had not completed when the run ended.");
            say(rules::completion(app.unfinished, app.total), Rule::Completion, text);
        } else if app.failed == 0 && app.total > 0 {
            say(Level::Good, Rule::Completion, format!("{name}: {total}, all of which completed."));
        }
    }
    let Some(window) = &summary.measured else { return };
    if window.failed_operations_outside > 0 {
        let failed = counted(window.failed_operations_outside, "operation");
        let text = format!("{failed} outside of the measuring window failed.");
        say(Level::Bad, Rule::Completion, text);
    }
    if window.unfinished_operations_outside > 0 {
        let open = counted(window.unfinished_operations_outside, "operation");
        let text =
            format!("{open} outside of the measuring window had not completed when the run ended.");
        say(Level::Note, Rule::Completion, text);
    }
}

/// Timeouts, and that nothing stood still.
fn say_timeouts(summary: &Summary, say: &mut impl FnMut(Level, Rule, String)) {
    let of_tcp = summary.tcp.map_or(0, |tcp| tcp.timeouts);
    for (timeouts, of) in [(summary.timeouts, "local ACK timeout"), (of_tcp, "TCP timeout")] {
        if timeouts > 0 {
            let text = format!("{}: each is a wait without progress.", counted(timeouts, of));
            say(Level::Note, Rule::Stall, text);
        }
    }
    let stood_still = summary.stalled.is_some() || summary.frozen.is_some();
    if !stood_still && summary.timeouts + of_tcp == 0 {
        say(Level::Good, Rule::Stall, "Nothing was stuck, and no timeout expired.".to_owned());
    }
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

#[cfg(test)]
mod tests {
    use rocelab_results::{
        DeadlockRecord, DeadlockedQueue, Distribution, FrozenRecord, FrozenRoot,
    };

    use super::*;

    #[test]
    fn problems_come_first() {
        let mut summary = Summary::default();
        summary.flows.total = 2;
        summary.flows.failed = 1;
        summary.flows.unfinished = 1;
        let list = verdicts(&summary);
        assert_eq!((list[0].level, &*list[0].text), (Level::Bad, "1 flow failed."));
        assert!(list[1].text.starts_with("1 of 2 flows had not completed"), "{}", list[1].text);
        assert!(list.is_sorted_by_key(|verdict| std::cmp::Reverse(verdict.level)));
        assert!(list.iter().any(|verdict| verdict.level == Level::Good));
    }

    #[test]
    fn a_deadlock_is_named_and_dated() {
        let queue = |switch: &str| DeadlockedQueue {
            switch: switch.to_owned(),
            port: 1,
            paused_by: String::new(),
            priority: 3,
            is_lane: false,
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
        summary.slowdown =
            Distribution::of(&mut [1_000_000, 2_000_000]).map(Distribution::into_millionths);
        assert!(verdicts(&summary).iter().all(|verdict| verdict.level == Level::Good));
    }

    #[test]
    fn many_open_flows_are_a_problem_and_a_few_a_note() {
        let level = |unfinished| {
            let mut summary = Summary::default();
            (summary.flows.total, summary.flows.unfinished) = (100, unfinished);
            let said = verdicts(&summary);
            said.into_iter().find(|one| one.text.contains("had not completed")).unwrap().level
        };
        assert_eq!((level(50), level(51)), (Level::Note, Level::Bad));
    }

    #[test]
    fn a_timeout_is_a_stall() {
        let said = verdicts(&Summary { timeouts: 3, ..Summary::default() });
        let text = "3 local ACK timeouts: each is a wait without progress.";
        assert!(said.iter().any(|one| one.level == Level::Note && one.text == text), "{said:?}");
        assert!(!said.iter().any(|one| one.text.contains("no timeout expired")));
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

//! A run in one row of a list.

use rocelab_results::{Distribution, OperationCounts, Statistic, Summary};

use crate::numbers::{count, time};
use crate::percentiles::percentile_text;
use crate::summary_table::branch_text;

/// The names of the columns of [`run_facts`].
pub const RUN_FACTS: [&str; 8] = [
    "scenario",
    "seed",
    "simulated",
    "flows or operations completed",
    "slowdown or latency p50",
    "p99",
    "problems",
    "remarks",
];

/// What tells a run from others in a list, and how it went: one text for each of [`RUN_FACTS`].
pub fn run_facts(summary: &Summary) -> [String; 8] {
    let [completed, p50, p99] = results(summary);
    [
        summary.scenario.clone(),
        summary.seed.to_string(),
        time(summary.simulated_ps),
        completed,
        p50,
        p99,
        problems(summary),
        remarks(summary),
    ]
}

/// How many flows completed, and their slowdowns; of operations if there are no flows.
fn results(summary: &Summary) -> [String; 3] {
    if summary.flows.total == 0
        && let [app, ..] = &summary.operations[..]
    {
        let more = if summary.operations.len() > 1 { ", ..." } else { "" };
        let OperationCounts { app: name, completed, total, .. } = app;
        let completed = format!("{name}: {} of {}{more}", count(*completed), count(*total));
        let [p50, p99] = percentiles(app.latency_ps.as_ref(), time);
        return [completed, p50, p99];
    }
    let flows = &summary.flows;
    let completed = format!("{} of {}", count(flows.completed), count(flows.total));
    let [p50, p99] = percentiles(summary.slowdown.as_ref(), |ratio| format!("{ratio:.2}"));
    [completed, p50, p99]
}

fn percentiles<T: Copy>(of: Option<&Distribution<T>>, text: impl Fn(T) -> String) -> [String; 2] {
    let one = |statistic| of.map_or("-".to_owned(), |of| percentile_text(of, statistic, &text));
    [one(Statistic::P50), one(Statistic::P99)]
}

fn problems(summary: &Summary) -> String {
    let lossless =
        summary.lossless_drops.values().fold(0, |sum: u64, one| sum.saturating_add(*one));
    let violations = summary.integrity.as_ref().map_or(0, |integrity| integrity.violations);
    let counts = [
        (summary.all_flows().failed, "flow failed", "flows failed"),
        (summary.failed_operations(), "operation failed", "operations failed"),
        (summary.deadlocks.len() as u64, "deadlock", "deadlocks"),
        (lossless, "lossless drop", "lossless drops"),
        (summary.storms, "storm", "storms"),
        (violations, "violation of integrity", "violations of integrity"),
    ];
    let found = counts.iter().filter(|(number, ..)| *number > 0);
    let text = |&(number, one, several): &(u64, &str, &str)| {
        format!("{} {}", count(number), if number == 1 { one } else { several })
    };
    let interrupted = summary.incomplete.then_some("interrupted");
    let stalled = summary.stalled.is_some().then_some("stuck");
    let frozen = summary.frozen.is_some().then_some("frozen by pauses");
    let words = [interrupted, stalled, frozen].into_iter().flatten().map(str::to_owned);
    let texts: Vec<String> = words.chain(found.map(text)).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

fn remarks(summary: &Summary) -> String {
    let labels = summary.labels.iter().map(|(name, text)| format!("{name} = {text}"));
    labels.chain(summary.branch.as_ref().map(branch_text)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use rocelab_results::BranchRecord;

    use super::*;

    #[test]
    fn a_run_is_told_in_one_row() {
        let latency_ps = Distribution::of(&mut [12_000_000; 200]);
        let disk = OperationCounts {
            app: "disk".to_owned(),
            total: 201,
            completed: 200,
            failed: 1,
            latency_ps,
            ..OperationCounts::default()
        };
        let set = vec!["stop=9ms".to_owned()];
        let summary = Summary {
            scenario: "storage".to_owned(),
            seed: 3,
            simulated_ps: 5_000_000_000,
            operations: vec![disk],
            branch: Some(BranchRecord { of: "big".to_owned(), at_ps: 2_000_000, set }),
            ..Summary::default()
        };
        let expected = [
            "storage",
            "3",
            "5.00 ms",
            "disk: 200 of 201",
            "12.00 us",
            "12.00 us",
            "1 operation failed",
            "branch of big at 2.00 us: stop=9ms",
        ];
        assert_eq!(run_facts(&summary), expected);
        let empty = run_facts(&Summary::default());
        assert_eq!([&empty[3], &empty[4], &empty[6]], ["0 of 0", "-", "none"]);
    }
}

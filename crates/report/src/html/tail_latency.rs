//! Verdicts on what takes longest: flows against an empty network, operations against their median.

use rocelab_results::{Distribution, Millionths, OperationCounts, Statistic, Summary};

use super::rules::{self, Rule};
use super::verdicts::{Level, Verdict, verdict};
use crate::numbers::{count, time};

/// One for each transport that carried flows, and one for each application.
pub(crate) fn tail_latency(summary: &Summary) -> Vec<Verdict> {
    let mut list = Vec::new();
    if summary.transports.is_empty() && summary.flows.total > 0 {
        list.push(of_flows("", summary.slowdown.as_ref()));
    }
    for (transport, of) in &summary.transports {
        if of.flows.total > 0 {
            list.push(of_flows(&format!("{}: ", transport.to_uppercase()), of.slowdown.as_ref()));
        }
    }
    list.extend(summary.operations.iter().filter_map(of_operations));
    list
}

fn of_flows(of: &str, slowdown: Option<&Distribution<Millionths>>) -> Verdict {
    let Some(slowdown) = slowdown else {
        let text = format!("{of}Tail latency: no flow has a slowdown.");
        return verdict(Level::Unjudged, text, Rule::TailLatency);
    };
    let (statistic, value) = tail(slowdown);
    let is_bound = slowdown.is_lower_bound(statistic);
    let level = match rules::tail_slowdown(value) {
        // What is at least good may be worse.
        Level::Good if is_bound => Level::Unjudged,
        level => level,
    };
    let at_least = if is_bound { "at least " } else { "" };
    let what = name(statistic, slowdown.total(), "flow");
    let text = format!("{of}Tail latency: slowdown {at_least}{value:.2}, {what}.");
    verdict(level, text, Rule::TailLatency)
}

fn of_operations(app: &OperationCounts) -> Option<Verdict> {
    let latency = app.latency_ps.as_ref()?;
    let (statistic, value) = tail(latency);
    let is_bound = latency.is_lower_bound(statistic) || latency.is_lower_bound(Statistic::P50);
    let level = match rules::tail_operation(value, latency.p50) {
        Level::Good if is_bound => Level::Unjudged,
        level => level,
    };
    let at_least = if is_bound { "at least " } else { "" };
    let what = name(statistic, latency.total(), "operation");
    let median = time(latency.p50);
    let text = format!(
        "Tail latency of {}: {at_least}{}, {what}; the median is {median}.",
        app.app,
        time(value)
    );
    Some(verdict(level, text, Rule::OperationLatency))
}

/// The 99th percentile, or the highest that is supported.
fn tail<T: Copy>(of: &Distribution<T>) -> (Statistic, T) {
    let supported = |one| of.supported(one).map(|value| (one, value));
    let tail = [Statistic::P99, Statistic::P95].into_iter().find_map(supported);
    tail.unwrap_or((Statistic::Max, of.max))
}

/// What the statistic of so many flows or operations is.
fn name(statistic: Statistic, values: u64, one: &str) -> String {
    match statistic {
        Statistic::P99 => format!("99th percentile of {} {one}s", count(values)),
        Statistic::P95 => format!("95th percentile of {} {one}s", count(values)),
        _ if values == 1 => format!("of the only {one}"),
        _ => format!("the slowest of {} {one}s, too few for a 95th percentile", count(values)),
    }
}

#[cfg(test)]
mod tests {
    use rocelab_results::Missing;

    use super::*;

    fn judged(values: &mut [u64], missing: &Missing) -> (Level, String) {
        let slowdown =
            Distribution::with_missing(values, missing).map(Distribution::into_millionths);
        let verdict = of_flows("", slowdown.as_ref());
        (verdict.level, verdict.text)
    }

    #[test]
    fn a_slowdown_of_200_is_not_good() {
        let mut values: Vec<u64> = vec![1_000_000; 90];
        values.extend([200_000_000; 10]);
        let text = "Tail latency: slowdown 200.00, 99th percentile of 100 flows.";
        assert_eq!(judged(&mut values, &Missing::default()), (Level::Bad, text.to_owned()));
    }

    #[test]
    fn few_flows_have_a_slowest_one_and_no_99th_percentile() {
        let text =
            "Tail latency: slowdown 22.25, the slowest of 2 flows, too few for a 95th percentile.";
        let judged_two = judged(&mut [1_000_000, 22_250_000], &Missing::default());
        assert_eq!(judged_two, (Level::Note, text.to_owned()));
        let text = "Tail latency: slowdown 3.00, of the only flow.";
        assert_eq!(judged(&mut [3_000_000], &Missing::default()), (Level::Good, text.to_owned()));
    }

    #[test]
    fn a_bound_is_not_good() {
        let (level, text) = judged(&mut [1_000_000], &Missing::never(1));
        assert_eq!(level, Level::Unjudged);
        assert!(text.contains("at least 1.00"), "{text}");
        assert_eq!(judged(&mut [90_000_000], &Missing::never(1)).0, Level::Bad);
    }

    #[test]
    fn operations_are_judged_by_their_median() {
        let latency_ps = Distribution::of(&mut [10, 10, 10, 120]);
        let app =
            OperationCounts { app: "disk".to_owned(), latency_ps, ..OperationCounts::default() };
        let verdict = of_operations(&app).unwrap();
        assert_eq!(verdict.level, Level::Bad);
        assert!(verdict.text.starts_with("Tail latency of disk: 120 ps, the slowest of 4 op"));
    }
}

//! Percentiles in words: those that are known, and what they are of.

use rocelab_results::{Distribution, FlowCounts, OperationCounts, Statistic};

use crate::numbers::count;

/// What stands before a value that is only a lower bound.
const LOWER_BOUND: &str = ">=";

/// Least, mean, median, 95th, 99th, 99.9th percentile and greatest. Those that so few values do not
/// support are a dash; those that are only lower bounds are marked.
pub(crate) fn percentile_texts<T: Copy>(
    of: &Distribution<T>,
    text: impl Fn(T) -> String,
) -> [String; 7] {
    let [mean, p50, p95, p99, p999, max] =
        Statistic::ALL.map(|statistic| percentile_text(of, statistic, &text));
    [text(of.min), mean, p50, p95, p99, p999, max]
}

/// One of them.
pub(crate) fn percentile_text<T: Copy>(
    of: &Distribution<T>,
    statistic: Statistic,
    text: impl Fn(T) -> String,
) -> String {
    let mark = if of.is_lower_bound(statistic) { LOWER_BOUND } else { "" };
    of.supported(statistic).map_or("-".to_owned(), |value| format!("{mark}{}", text(value)))
}

/// Of how many flows percentiles are, if not all completed.
pub(crate) fn completed_of<T>(of: &Distribution<T>, flows: &FlowCounts) -> Option<String> {
    let FlowCounts { total, failed, unfinished, .. } = *flows;
    finished_of(of, "flows", [total, unfinished, failed])
}

/// Of how many operations of an application they are, if not all completed.
pub(crate) fn operations_of(app: &OperationCounts) -> Option<String> {
    let of = app.latency_ps.as_ref()?;
    finished_of(of, "operations", [app.total, app.unfinished, app.failed])
}

fn finished_of<T>(of: &Distribution<T>, what: &str, numbers: [u64; 3]) -> Option<String> {
    (of.missing > 0).then(|| {
        let [total, unfinished, failed] = numbers.map(count);
        let values = count(of.values);
        format!(
            "of {total} {what}, {values} finished ({unfinished} unfinished, {failed} failed, ranked \
             last); >= at least"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_told() {
        let of = Distribution::with_missing(&mut (1..=50).collect::<Vec<_>>(), 40).unwrap();
        let told = percentile_texts(&of, |value| value.to_string());
        // The median of 90 is at rank 45.
        assert_eq!(told, ["1", ">=26", "45", ">=50", "-", "-", ">=50"]);
        let flows = FlowCounts { total: 90, completed: 50, failed: 1, unfinished: 39 };
        let expected =
            "of 90 flows, 50 finished (39 unfinished, 1 failed, ranked last); >= at least";
        assert_eq!(completed_of(&of, &flows).as_deref(), Some(expected));
        assert_eq!(completed_of(&Distribution { missing: 0, ..of }, &flows), None);
    }
}

//! Percentiles in words, with the number of values behind them.

use rocelab_results::{Distribution, FlowCounts, OperationCounts, Statistic, Summary};

use crate::numbers::count;

/// The mark before a value that is only a lower bound.
const LOWER_BOUND: &str = ">=";

/// Minimum, mean, median, 95th, 99th, 99.9th percentile and maximum. A percentile with too few
/// values is a dash; lower bounds are marked.
pub(crate) fn percentile_texts<T: Copy>(
    of: &Distribution<T>,
    text: impl Fn(T) -> String,
) -> [String; 7] {
    Statistic::ALL.map(|statistic| percentile_text(of, statistic, &text))
}

/// One of these texts.
pub(crate) fn percentile_text<T: Copy>(
    of: &Distribution<T>,
    statistic: Statistic,
    text: impl Fn(T) -> String,
) -> String {
    let mark = if of.is_lower_bound(statistic) { LOWER_BOUND } else { "" };
    of.supported(statistic).map_or("-".to_owned(), |value| format!("{mark}{}", text(value)))
}

/// A sentence about the flows behind the percentiles, if not all completed, or not all of these
/// have a slowdown.
pub(crate) fn completed_of(summary: &Summary) -> Option<String> {
    let fct = summary.fct_ps.as_ref()?;
    flows_of(fct, summary.slowdown.as_ref(), &summary.flows)
}

fn flows_of<T, S>(
    fct: &Distribution<T>,
    slowdown: Option<&Distribution<S>>,
    flows: &FlowCounts,
) -> Option<String> {
    let FlowCounts { total, failed, unfinished, .. } = *flows;
    let finished = finished_of(fct, [unfinished, failed]);
    let slowdown = slowdown.and_then(|slowdown| with_slowdown(fct, slowdown));
    sentence("flows", total, finished.into_iter().chain(slowdown))
}

/// A sentence about the operations of an application behind the percentiles, if not all completed.
pub(crate) fn operations_of(app: &OperationCounts) -> Option<String> {
    let of = app.latency_ps.as_ref()?;
    let finished = finished_of(of, [app.unfinished, app.failed]);
    sentence("operations", app.total, finished.into_iter())
}

/// How many finished, if not all did. Those that have not started are not counted.
fn finished_of<T>(of: &Distribution<T>, [unfinished, failed]: [u64; 2]) -> Option<String> {
    let open = of.missing.saturating_sub(failed).min(unfinished);
    let not_started = unfinished - open;
    let mut told = format!("{} finished", count(of.values));
    if of.missing > 0 {
        told += &format!(" ({} unfinished, {} failed)", count(open), count(failed));
    }
    if not_started > 0 {
        told += &format!(", {} had not started", count(not_started));
    }
    (of.missing > 0 || not_started > 0).then_some(told)
}

/// How many flows have a slowdown, if not all finished ones have.
fn with_slowdown<T, S>(fct: &Distribution<T>, slowdown: &Distribution<S>) -> Option<String> {
    let without = slowdown.missing.saturating_sub(fct.missing);
    let values = count(slowdown.values);
    (without > 0).then(|| {
        format!("{values} have a slowdown ({} without an ideal time, ranked last)", count(without))
    })
}

/// A sentence about values of which some are missing.
fn sentence(what: &str, total: u64, parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<_> = parts.collect();
    let told = format!("of {} {what}, {}; >= at least", count(total), parts.join(", "));
    (!parts.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests {
    use rocelab_results::Missing;

    use super::*;

    #[test]
    fn what_is_not_known_is_not_told() {
        let of = Distribution::with_missing(&mut (1..=50).collect::<Vec<_>>(), &Missing::never(40));
        let of = of.unwrap();
        let told = percentile_texts(&of, |value| value.to_string());
        // The median of 90 is at rank 45.
        assert_eq!(told, ["1", ">=26", "45", ">=50", "-", "-", ">=50"]);
        let flows = FlowCounts { total: 90, completed: 50, failed: 1, unfinished: 39 };
        let expected = "of 90 flows, 50 finished (39 unfinished, 1 failed); >= at least";
        assert_eq!(flows_of(&of, Some(&of), &flows).as_deref(), Some(expected));
        assert_eq!(flows_of::<_, u64>(&of, None, &flows).as_deref(), Some(expected));
        let all = Distribution { missing: 0, ..of };
        let flows = FlowCounts { failed: 0, unfinished: 0, ..flows };
        assert_eq!(flows_of(&all, Some(&all), &flows), None);
    }

    #[test]
    fn what_had_not_started_is_told_apart() {
        let of = |missing| Distribution::with_missing(&mut [1, 2, 3], &Missing::never(missing));
        let told = |missing, unfinished| {
            let flows = FlowCounts { total: 90, completed: 3, failed: 1, unfinished };
            flows_of::<_, u64>(&of(missing).unwrap(), None, &flows)
        };
        let expected =
            "of 90 flows, 3 finished (6 unfinished, 1 failed), 80 had not started; >= at least";
        assert_eq!(told(7, 86).as_deref(), Some(expected));
    }

    #[test]
    fn what_has_no_slowdown_is_told_too() {
        let of = |values: u64, missing| {
            let mut values = (1..=values).collect::<Vec<_>>();
            Distribution::with_missing(&mut values, &Missing::never(missing)).unwrap()
        };
        let flows = FlowCounts { total: 90, completed: 90, failed: 0, unfinished: 0 };
        let told = flows_of(&of(90, 0), Some(&of(88, 2)), &flows);
        let expected =
            "of 90 flows, 88 have a slowdown (2 without an ideal time, ranked last); >= at least";
        assert_eq!(told.as_deref(), Some(expected));
        let flows = FlowCounts { completed: 50, failed: 1, unfinished: 39, ..flows };
        let told = flows_of(&of(50, 40), Some(&of(48, 42)), &flows);
        let expected = "of 90 flows, 50 finished (39 unfinished, 1 failed), 48 have a \
                        slowdown (2 without an ideal time, ranked last); >= at least";
        assert_eq!(told.as_deref(), Some(expected));
    }
}

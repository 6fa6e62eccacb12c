//! Kinds of operations: what came of each in a run, in one row.

use std::borrow::Cow;

use crate::declaration::record;
use crate::{KindCounts, Millionths, Statistic};

record! {
    /// A row of `kinds.parquet`: the operations of one kind of an application in one run of a sweep. It says what
    /// `summary.json` of the run says. A percentile is empty if no operation completed, or if there are too few for it.
    pub struct KindRecord<'a> as "kinds" in "kinds.csv" and "kinds.parquet" {
        /// Name of the application.
        app: Cow<'a, str>;
        /// Kind of the operations, such as `read`.
        kind: Cow<'a, str>;
        /// Operations that completed.
        completed: u64;
        /// Completed operations per second, over the time of all kinds of the application; empty if none completed.
        per_second: Option<u64> => "1/s";
        /// Mean of the latencies.
        latency_mean_ps: Option<u64> => "ps";
        /// Median of the latencies.
        latency_p50_ps: Option<u64> => "ps";
        /// 95th percentile of the latencies.
        latency_p95_ps: Option<u64> => "ps";
        /// 99th percentile of the latencies.
        latency_p99_ps: Option<u64> => "ps";
        /// 99.9th percentile of the latencies.
        latency_p999_ps: Option<u64> => "ps";
        /// Longest latency.
        latency_max_ps: Option<u64> => "ps";
        /// Which of these statistics are only lower bounds, because operations did not complete, such as `p99 max`.
        lower_bounds: Cow<'a, str>;
        /// How many operations of this kind were open on average.
        open_mean: Option<Millionths> => "ratio";
    }
}

impl<'a> KindRecord<'a> {
    /// What a summary says of a kind of an application.
    pub fn of(
        app: impl Into<Cow<'a, str>>,
        kind: impl Into<Cow<'a, str>>,
        counts: &KindCounts,
    ) -> Self {
        let latencies = counts.latency_ps.as_ref();
        let latency = |one| latencies.and_then(|all| all.supported(one));
        let at_least = latencies.map(|all| all.at_least).unwrap_or_default();
        Self {
            app: app.into(),
            kind: kind.into(),
            completed: counts.completed,
            per_second: counts.per_second,
            latency_mean_ps: latency(Statistic::Mean),
            latency_p50_ps: latency(Statistic::P50),
            latency_p95_ps: latency(Statistic::P95),
            latency_p99_ps: latency(Statistic::P99),
            latency_p999_ps: latency(Statistic::P999),
            latency_max_ps: latency(Statistic::Max),
            lower_bounds: at_least.names().collect::<Vec<_>>().join(" ").into(),
            open_mean: counts.open_mean,
        }
    }
}

//! Runs: what came of each, in one row.

use std::borrow::Cow;

use crate::declaration::record;
use crate::{Millionths, OperationCounts, Statistic, Summary};

record! {
    /// A row of `runs.parquet`: one run of a sweep. It says what `summary.json` of the run says. A percentile is
    /// empty if no flow completed, or if there are too few for it.
    pub struct RunRecord<'a> as "runs" in "runs.csv" and "runs.parquet" {
        /// Simulated time at the end.
        simulated_ps: u64 => "ps";
        /// Flows of the scenario; with a measuring window those that start in it, as in the columns that follow.
        flows: u64;
        /// Flows that completed.
        flows_completed: u64;
        /// Flows whose queue pair or connection gave up.
        flows_failed: u64;
        /// Flows that were open, or had not started, when the run ended.
        flows_unfinished: u64;
        /// Flows outside of the measuring window, which no other column has; 0 without a window.
        flows_outside: u64;
        /// Flows and operations outside of the measuring window that failed.
        failed_outside: u64;
        /// Goodput of all flows; empty if nothing was delivered.
        goodput_bps: Option<u64> => "bit/s";
        /// Mean of the completion times; empty if no flow completed.
        fct_mean_ps: Option<u64> => "ps";
        /// Median of the completion times.
        fct_p50_ps: Option<u64> => "ps";
        /// 95th percentile of the completion times.
        fct_p95_ps: Option<u64> => "ps";
        /// 99th percentile of the completion times.
        fct_p99_ps: Option<u64> => "ps";
        /// Longest completion time.
        fct_max_ps: Option<u64> => "ps";
        /// Mean of completion time over ideal completion time.
        slowdown_mean: Option<Millionths> => "ratio";
        /// Median of the slowdowns.
        slowdown_p50: Option<Millionths> => "ratio";
        /// 95th percentile of the slowdowns.
        slowdown_p95: Option<Millionths> => "ratio";
        /// 99th percentile of the slowdowns.
        slowdown_p99: Option<Millionths> => "ratio";
        /// 99.9th percentile of the slowdowns.
        slowdown_p999: Option<Millionths> => "ratio";
        /// Largest slowdown.
        slowdown_max: Option<Millionths> => "ratio";
        /// Which of these statistics are only lower bounds, because flows did not complete, such as `p99 max`.
        lower_bounds: Cow<'a, str>;
        /// Operations of applications that completed; empty without applications.
        operations_completed: Option<u64>;
        /// Operations of applications that failed or were open at the end; empty without applications.
        operations_not_completed: Option<u64>;
        /// Completed operations per second; empty without applications, and if there are several, as the columns that follow.
        operations_per_second: Option<u64> => "1/s";
        /// Goodput of all steps of the operations.
        operation_goodput_bps: Option<u64> => "bit/s";
        /// Mean of the operations' latencies; empty if none completed.
        operation_latency_mean_ps: Option<u64> => "ps";
        /// Median of the latencies.
        operation_latency_p50_ps: Option<u64> => "ps";
        /// 95th percentile of the latencies.
        operation_latency_p95_ps: Option<u64> => "ps";
        /// 99th percentile of the latencies.
        operation_latency_p99_ps: Option<u64> => "ps";
        /// 99.9th percentile of the latencies.
        operation_latency_p999_ps: Option<u64> => "ps";
        /// Longest latency.
        operation_latency_max_ps: Option<u64> => "ps";
        /// Which of the statistics of latencies are only lower bounds, because operations did not complete.
        operation_lower_bounds: Cow<'a, str>;
        /// How many operations were open on average.
        operations_open_mean: Option<Millionths> => "ratio";
        /// Frames that were dropped, for all reasons.
        drops: u64 => "frames";
        /// Frames of lossless priorities that were dropped, without losses on links.
        lossless_drops: u64 => "frames";
        /// Times that a priority of a port, or a link, was paused.
        pauses: u64;
        /// Time paused, added up over ports and priorities.
        paused_ps: u64 => "ps";
        /// Frames marked CE.
        ecn_marks: u64 => "frames";
        /// Congestion notification packets that hosts sent.
        cnps: u64 => "frames";
        /// Data packets that were sent again.
        retransmissions: u64 => "packets";
        /// Local ACK timeouts.
        timeouts: u64;
        /// Deadlocks.
        deadlocks: u64;
        /// Storms of pauses that watchdogs found.
        storms: u64;
        /// Link traversals: each frame counts once for each link that it crosses.
        link_traversals: u64 => "frames";
    }
}

impl RunRecord<'_> {
    /// What a summary says of its run.
    pub fn of(summary: &Summary) -> Self {
        let fct = |one| summary.fct_ps.as_ref().and_then(|all| all.supported(one));
        let slowdown = |one| summary.slowdown.as_ref().and_then(|all| all.supported(one));
        let at_least = summary.slowdown.as_ref().map(|all| all.at_least).unwrap_or_default();
        let operations = |count: fn(&OperationCounts) -> u64| {
            (!summary.operations.is_empty()).then(|| summary.operations.iter().map(count).sum())
        };
        // Percentiles of several applications together are not in the summary.
        let only = match &summary.operations[..] {
            [only] => Some(only),
            _ => None,
        };
        let latencies = only.and_then(|app| app.latency_ps.as_ref());
        let latency = |one| latencies.and_then(|all| all.supported(one));
        let latency_bounds = latencies.map(|all| all.at_least).unwrap_or_default();
        Self {
            simulated_ps: summary.simulated_ps,
            flows: summary.flows.total,
            flows_completed: summary.flows.completed,
            flows_failed: summary.flows.failed,
            flows_unfinished: summary.flows.unfinished,
            flows_outside: summary.measured.map_or(0, |window| window.flows_outside.total),
            failed_outside: summary.measured.map_or(0, |window| {
                window.flows_outside.failed.saturating_add(window.failed_operations_outside)
            }),
            goodput_bps: summary.goodput_bps,
            fct_mean_ps: fct(Statistic::Mean),
            fct_p50_ps: fct(Statistic::P50),
            fct_p95_ps: fct(Statistic::P95),
            fct_p99_ps: fct(Statistic::P99),
            fct_max_ps: fct(Statistic::Max),
            slowdown_mean: slowdown(Statistic::Mean),
            slowdown_p50: slowdown(Statistic::P50),
            slowdown_p95: slowdown(Statistic::P95),
            slowdown_p99: slowdown(Statistic::P99),
            slowdown_p999: slowdown(Statistic::P999),
            slowdown_max: slowdown(Statistic::Max),
            lower_bounds: at_least.names().collect::<Vec<_>>().join(" ").into(),
            operations_completed: operations(|app| app.completed),
            operations_not_completed: operations(|app| app.failed + app.unfinished),
            operations_per_second: only.map(|app| app.per_second),
            operation_goodput_bps: only.and_then(|app| app.goodput_bps),
            operation_latency_mean_ps: latency(Statistic::Mean),
            operation_latency_p50_ps: latency(Statistic::P50),
            operation_latency_p95_ps: latency(Statistic::P95),
            operation_latency_p99_ps: latency(Statistic::P99),
            operation_latency_p999_ps: latency(Statistic::P999),
            operation_latency_max_ps: latency(Statistic::Max),
            operation_lower_bounds: latency_bounds.names().collect::<Vec<_>>().join(" ").into(),
            operations_open_mean: only.and_then(|app| app.open_mean),
            drops: summary.drops.total,
            lossless_drops: summary.lossless_drops.values().sum(),
            pauses: summary.pfc.pauses,
            paused_ps: summary.pfc.paused_ps,
            ecn_marks: summary.ecn.marks,
            cnps: summary.cnps,
            retransmissions: summary.retransmissions,
            timeouts: summary.timeouts,
            deadlocks: summary.deadlocks.len() as u64,
            storms: summary.storms,
            link_traversals: summary.link_traversals.total,
        }
    }
}

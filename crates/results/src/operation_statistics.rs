//! Statistics of an application's operations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::operation_activity::{OperationActivity, Period};
use crate::{
    DeliveryLog, Distribution, Goodput, Millionths, Missing, OperationRecord, OperationStatus,
    RunSpan, is_most,
};

/// An application in `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationCounts {
    /// The application's name.
    pub app: String,
    /// Planned operations; if the application runs for a time instead of a number, operations that
    /// started.
    pub total: u64,
    /// Operations that completed.
    pub completed: u64,
    /// Operations whose queue pair failed.
    pub failed: u64,
    /// Operations that were open, or had not started, when the run ended.
    pub unfinished: u64,
    /// Completed operations per second, rounded down, over the time from their first start to their
    /// last end. With a measuring window: those that completed in it, whenever they started.
    pub per_second: u64,
    /// Goodput of all steps together, in bit/s; `None` if nothing was delivered.
    pub goodput_bps: Option<u64>,
    /// The period of the goodput; left out without goodput, and by older builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Goodput>,
    /// Latencies from start to end, in picoseconds, of the operations that started: see
    /// [`KindCounts::latency_ps`].
    pub latency_ps: Option<Distribution<u64>>,
    /// The queue depth that was used: how many operations were open on average, from the first start
    /// to the last end, or to the end of the run if not all completed. `None` if nothing started, or
    /// if it is not known how long a failed operation was open; left out then, and by older builds.
    /// With a measuring window: how many were open in it, whenever they started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_mean: Option<Millionths>,
    /// The same for each kind of operation; left out if there is only one kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, KindCounts>,
}

/// Operations of one kind in `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCounts {
    /// Operations that completed.
    pub completed: u64,
    /// Completed operations per second, rounded down, over the same time as
    /// [`OperationCounts::per_second`], so that kinds add up; `None` if no time passed, and in
    /// results of older builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<u64>,
    /// Latencies from start to end, in picoseconds. That of an open operation is at least the time
    /// since its start, and failed ones rank last. Operations that never started have no kind.
    pub latency_ps: Option<Distribution<u64>>,
    /// How many of this kind were open on average, over the same time as
    /// [`OperationCounts::open_mean`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_mean: Option<Millionths>,
}

impl KindCounts {
    /// Those of the only kind of an application.
    pub(crate) fn of_only(app: &OperationCounts) -> Self {
        Self {
            completed: app.completed,
            per_second: (app.completed > 0).then_some(app.per_second),
            latency_ps: app.latency_ps,
            open_mean: app.open_mean,
        }
    }
}

/// Operations of one kind.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct OfKind {
    /// Latencies of completed operations.
    latencies_ps: Vec<u64>,
    /// Starts of open operations (ps).
    open: Vec<u64>,
    failed: u64,
    /// Of all operations, whether they are in the measuring window or not.
    activity: OperationActivity,
}

impl OfKind {
    /// The missing latencies at the end of a run: of operations that started and did not complete.
    fn missing(&self, end_ps: u64) -> Missing {
        let at_least = self.open.iter().map(|start| end_ps.saturating_sub(*start)).collect();
        Missing { at_least, never: self.failed }
    }

    fn counts(&self, periods: &Periods, end_ps: u64) -> KindCounts {
        let mut latencies = self.latencies_ps.clone();
        KindCounts {
            completed: latencies.len() as u64,
            per_second: periods.of_rates.and_then(|period| self.activity.per_second(period)),
            latency_ps: Distribution::with_missing(&mut latencies, &self.missing(end_ps)),
            open_mean: periods.of_means.and_then(|period| self.activity.open_mean(period, end_ps)),
        }
    }
}

/// The periods of all kinds of an application, so that rates of kinds add up to that of all.
struct Periods {
    /// From the first start to the last end of completed operations; or the measuring window.
    of_rates: Option<Period>,
    /// From the first start to the last end, of all; or the measuring window.
    of_means: Option<Period>,
}

/// Collects what a summary says about an application's operations. Percentiles are exact, so it
/// stores a number for each completed operation.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct OperationStatistics {
    /// Begin and end of the measuring window (ps), if there is one.
    window: Option<Period>,
    /// By the name of the kind.
    kinds: BTreeMap<String, OfKind>,
    completed: u64,
    failed: u64,
    unfinished: u64,
    /// First start and last end of completed operations (ps).
    span_ps: Option<Period>,
    /// First and last start of all that started, and the last end (ps).
    starts: Option<RunSpan>,
}

impl OperationStatistics {
    /// Statistics of a measuring window from a time to another (ps).
    pub fn of_window(from_ps: u64, to_ps: u64) -> Self {
        Self { window: Some((from_ps, to_ps)), ..Self::default() }
    }

    /// Adds an operation; also one that is not [measured](OperationRecord::measured), which may end in
    /// the measuring window.
    pub fn add(&mut self, operation: &OperationRecord<'_>) {
        let kind = match self.kinds.get_mut(operation.kind.as_ref()) {
            Some(kind) => kind,
            None => self.kinds.entry(operation.kind.clone().into_owned()).or_default(),
        };
        let (start, end) = (operation.start_ps, operation.end_ps);
        let activity = &mut kind.activity;
        match (operation.status, end) {
            (OperationStatus::Completed, Some(end)) => activity.complete(self.window, start, end),
            (OperationStatus::Unfinished, _) => activity.remain_open(start),
            _ => activity.fail(self.window, start, end),
        }
        if operation.measured == 0 {
            return;
        }
        let span = RunSpan::starting_at(start);
        let span = end.map_or(span, |end| span.until(end));
        self.starts = Some(self.starts.map_or(span, |starts| starts.with(span)));
        match (operation.latency_ps, end) {
            (Some(latency), Some(end)) => {
                self.completed += 1;
                kind.latencies_ps.push(latency);
                self.span_ps = Some(extended(self.span_ps, start, end));
            }
            _ if operation.status == OperationStatus::Unfinished => {
                self.unfinished += 1;
                kind.open.push(start);
            }
            _ => {
                self.failed += 1;
                kind.failed += 1;
            }
        }
    }

    /// The summary of a run that ended at `end_ps`, in picoseconds. `accepted` is the payload of
    /// these operations that receivers accepted; `planned` is the number of planned operations, if
    /// it was given. With a measuring window, rates and means are of that time.
    pub fn counts(
        &self,
        app: &str,
        planned: Option<u64>,
        accepted: &DeliveryLog,
        end_ps: u64,
    ) -> OperationCounts {
        let started = self.completed + self.failed + self.unfinished;
        let total = planned.unwrap_or(started);
        let missing = total.saturating_sub(self.completed);
        let run = self.starts.map(|run| if missing > 0 { run.until(end_ps) } else { run });
        let window = self.window.map(|(from, to)| (from.min(end_ps), to.min(end_ps)));
        let goodput = match window {
            Some((from, to)) => Goodput::of_window(accepted, from, to),
            None => {
                let has_mostly_arrived = is_most(self.completed, started);
                run.and_then(|run| Goodput::of(accepted, run, has_mostly_arrived))
            }
        };
        let periods = Periods {
            of_rates: window.or(self.span_ps),
            of_means: window.or_else(|| run.map(|run| (run.first_start_ps, run.end_ps))),
        };
        let all = self.of_all_kinds().counts(&periods, end_ps);
        let kind = |(name, kind): (&String, &OfKind)| (name.clone(), kind.counts(&periods, end_ps));
        let several = self.kinds.len() > 1;
        OperationCounts {
            app: app.to_owned(),
            total,
            completed: self.completed,
            failed: self.failed,
            unfinished: total.saturating_sub(self.completed + self.failed),
            per_second: all.per_second.unwrap_or(0),
            goodput_bps: goodput.map(|goodput| goodput.bps()),
            goodput,
            latency_ps: all.latency_ps,
            open_mean: all.open_mean,
            kinds: if several { self.kinds.iter().map(kind).collect() } else { BTreeMap::new() },
        }
    }

    fn of_all_kinds(&self) -> OfKind {
        self.kinds.values().fold(OfKind::default(), |mut all, kind| {
            all.latencies_ps.extend(&kind.latencies_ps);
            all.open.extend(&kind.open);
            all.failed += kind.failed;
            all.activity.add(&kind.activity);
            all
        })
    }
}

/// First start and last end (ps), with one operation more.
fn extended(span_ps: Option<Period>, start_ps: u64, end_ps: u64) -> Period {
    let (first, last) = span_ps.unwrap_or((start_ps, end_ps));
    (first.min(start_ps), last.max(end_ps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(kind: &str, start_ps: u64, latency_ps: u64) -> OperationRecord<'_> {
        OperationRecord {
            app: "storage".into(),
            kind: kind.into(),
            client: "host-0".into(),
            server: "host-1".into(),
            connection: 0,
            operation: 0,
            slot: 0,
            start_ps,
            end_ps: Some(start_ps + latency_ps),
            latency_ps: Some(latency_ps),
            found: None,
            status: OperationStatus::Completed,
            measured: 1,
        }
    }

    #[test]
    fn rates_span_first_start_to_last_end() {
        let mut statistics = OperationStatistics::default();
        statistics.add(&operation("read", 1_000, 3_000));
        statistics.add(&operation("write", 0, 2_000));
        let open = OperationRecord {
            end_ps: None,
            latency_ps: None,
            status: OperationStatus::Unfinished,
            ..operation("read", 0, 0)
        };
        statistics.add(&open);
        statistics.add(&OperationRecord { status: OperationStatus::Flushed, ..open });
        let mut accepted = DeliveryLog::default();
        (1..=4).for_each(|k| accepted.add(k * 1_000, 100));
        let counts = statistics.counts("storage", None, &accepted, 10_000);
        assert_eq!((counts.total, counts.completed), (4, 2));
        assert_eq!((counts.failed, counts.unfinished), (1, 1));
        assert_eq!(counts.per_second, 2 * 1_000_000_000_000 / 4_000);
        // Half of the operations that started did not complete: all 400 bytes count over the whole
        // run.
        let goodput = counts.goodput.unwrap();
        assert_eq!((goodput.bytes, goodput.duration_ps, goodput.tail), (400, 10_000, None));
        assert_eq!(counts.goodput_bps, Some(400 * 8 * 1_000_000_000_000 / 10_000));
        assert_eq!(counts.latency_ps.unwrap().missing, 2);
        let read = counts.kinds["read"].latency_ps.unwrap();
        // The open operation has taken 10 ns.
        assert_eq!((read.max, read.missing), (10_000, 2));
        assert_eq!(counts.kinds["write"].latency_ps.unwrap().missing, 0);
        assert_eq!(counts.latency_ps.unwrap().min, 2_000);
        assert_eq!(counts.kinds["read"].per_second, Some(1_000_000_000_000 / 4_000));
        assert_eq!(counts.kinds["write"].per_second, Some(1_000_000_000_000 / 4_000));
        // Nobody knows how long the flushed one was open; of writes, 2 of 10 ns.
        assert_eq!((counts.open_mean, counts.kinds["read"].open_mean), (None, None));
        assert_eq!(counts.kinds["write"].open_mean, Some(Millionths(200_000)));
        assert_eq!(statistics.counts("storage", Some(10), &accepted, 10_000).unfinished, 7);
    }

    /// A failed operation counts for as long as it was open, and an open one until the end.
    #[test]
    fn open_operations_are_counted_over_the_whole_run() {
        let mut statistics = OperationStatistics::default();
        statistics.add(&operation("read", 0, 4_000));
        let failed = OperationRecord {
            end_ps: Some(6_000),
            latency_ps: None,
            status: OperationStatus::RetryExceeded,
            ..operation("read", 4_000, 0)
        };
        statistics.add(&failed);
        let open = OperationRecord {
            end_ps: None,
            latency_ps: None,
            status: OperationStatus::Unfinished,
            ..operation("read", 6_000, 0)
        };
        statistics.add(&open);
        let counts = statistics.counts("storage", None, &DeliveryLog::default(), 8_000);
        // 4 and 2 and 2 ns of 8.
        assert_eq!(counts.open_mean, Some(Millionths::ONE));
    }

    /// Latencies are of operations that start in the window, rates of what ends in it.
    #[test]
    fn rates_of_a_window_are_of_the_whole_window() {
        let mut statistics = OperationStatistics::of_window(10_000, 20_000);
        for (start, latency, measured) in
            [(8_000, 4_000, 0), (12_000, 4_000, 1), (19_000, 4_000, 1)]
        {
            statistics.add(&OperationRecord { measured, ..operation("read", start, latency) });
        }
        let counts = statistics.counts("storage", None, &DeliveryLog::default(), 30_000);
        assert_eq!((counts.completed, counts.latency_ps.unwrap().values), (2, 2));
        // Two end in the 10 ns; 2, 4 and 1 ns of them are in it.
        assert_eq!(counts.per_second, 2 * 1_000_000_000_000 / 10_000);
        assert_eq!(counts.open_mean, Some(Millionths(700_000)));
        // A run that ends before the window does ends the window.
        let cut = statistics.counts("storage", None, &DeliveryLog::default(), 16_000);
        assert_eq!(cut.per_second, 2 * 1_000_000_000_000 / 6_000);
    }

    #[test]
    fn nothing_has_no_distribution() {
        let nothing = DeliveryLog::default();
        let counts = OperationStatistics::default().counts("idle", Some(5), &nothing, 10);
        assert_eq!((counts.per_second, counts.goodput_bps, counts.unfinished), (0, None, 5));
        assert_eq!(counts.latency_ps, None);
        assert!(counts.kinds.is_empty());
    }
}

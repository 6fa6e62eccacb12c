//! Statistics of an application's operations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    DeliveryLog, Distribution, Goodput, Millionths, Missing, OperationRecord, OperationStatus,
    RunSpan, is_most,
};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

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
    /// last end.
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
    /// Completed operations per second, rounded down, over the time from their first start to their
    /// last end; `None` if none completed, and in results of older builds.
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

/// Operations of one kind.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct OfKind {
    /// Latencies of completed operations.
    latencies_ps: Vec<u64>,
    /// Starts of open operations (ps).
    open: Vec<u64>,
    failed: u64,
    /// How long failed operations were open (ps), all together.
    failed_ps: u128,
    /// Failed operations of which nobody knows when they ended.
    failed_without_end: u64,
    /// First start and last end of completed operations (ps).
    span_ps: Option<(u64, u64)>,
}

impl OfKind {
    /// The missing latencies at the end of a run: of operations that started and did not complete.
    fn missing(&self, end_ps: u64) -> Missing {
        let at_least = self.open.iter().map(|start| end_ps.saturating_sub(*start)).collect();
        Missing { at_least, never: self.failed }
    }

    /// Notes the start and the end of a completed operation (ps).
    fn complete(&mut self, start_ps: u64, end_ps: u64, latency_ps: u64) {
        self.latencies_ps.push(latency_ps);
        self.span_ps = Some(extended(self.span_ps, start_ps, end_ps));
    }

    /// Notes a failed operation, and how long it was open.
    fn fail(&mut self, start_ps: u64, end_ps: Option<u64>) {
        self.failed += 1;
        match end_ps {
            Some(end) => self.failed_ps += u128::from(end.saturating_sub(start_ps)),
            None => self.failed_without_end += 1,
        }
    }

    /// The sum of the times for which operations were open until the end of the run; `None` if it is
    /// not known of all.
    fn open_ps(&self, end_ps: u64) -> Option<u128> {
        let sum = |times: &mut dyn Iterator<Item = u64>| times.map(u128::from).sum::<u128>();
        let completed = sum(&mut self.latencies_ps.iter().copied());
        let open = sum(&mut self.open.iter().map(|start| end_ps.saturating_sub(*start)));
        (self.failed_without_end == 0).then_some(completed + open + self.failed_ps)
    }

    fn counts(&self, end_ps: u64, run_ps: u64) -> KindCounts {
        let mut latencies = self.latencies_ps.clone();
        let completed = latencies.len() as u64;
        KindCounts {
            completed,
            per_second: self.span_ps.and_then(|span| per_second(completed, span)),
            latency_ps: Distribution::with_missing(&mut latencies, &self.missing(end_ps)),
            open_mean: self.open_ps(end_ps).and_then(|open| mean_open(open, run_ps)),
        }
    }
}

/// First start and last end (ps), with one operation more.
fn extended(span_ps: Option<(u64, u64)>, start_ps: u64, end_ps: u64) -> (u64, u64) {
    let (first, last) = span_ps.unwrap_or((start_ps, end_ps));
    (first.min(start_ps), last.max(end_ps))
}

/// Operations per second, rounded down; `None` if no time passed.
fn per_second(completed: u64, (first, last): (u64, u64)) -> Option<u64> {
    let rate = u128::from(completed) * PS_PER_SECOND;
    rate.checked_div(last.saturating_sub(first).into()).map(saturated)
}

/// Time open of all operations over the time of the run; `None` if no time passed.
fn mean_open(open_ps: u128, run_ps: u64) -> Option<Millionths> {
    let scaled = open_ps.saturating_mul(Millionths::ONE.0.into()) + u128::from(run_ps / 2);
    scaled.checked_div(run_ps.into()).map(saturated).map(Millionths)
}

/// Collects what a summary says about an application's operations. Percentiles are exact, so it
/// stores a number for each completed operation.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct OperationStatistics {
    /// By the name of the kind.
    kinds: BTreeMap<String, OfKind>,
    completed: u64,
    failed: u64,
    unfinished: u64,
    /// First start and last end of completed operations (ps).
    span_ps: Option<(u64, u64)>,
    /// First and last start of all that started, and the last end (ps).
    starts: Option<RunSpan>,
}

impl OperationStatistics {
    /// Adds an operation.
    pub fn add(&mut self, operation: &OperationRecord<'_>) {
        let span = RunSpan::starting_at(operation.start_ps);
        let span = operation.end_ps.map_or(span, |end| span.until(end));
        self.starts = Some(self.starts.map_or(span, |starts| starts.with(span)));
        let kind = match self.kinds.get_mut(operation.kind.as_ref()) {
            Some(kind) => kind,
            None => self.kinds.entry(operation.kind.clone().into_owned()).or_default(),
        };
        let (Some(latency), Some(end)) = (operation.latency_ps, operation.end_ps) else {
            if operation.status == OperationStatus::Unfinished {
                self.unfinished += 1;
                kind.open.push(operation.start_ps);
            } else {
                self.failed += 1;
                kind.fail(operation.start_ps, operation.end_ps);
            }
            return;
        };
        self.completed += 1;
        kind.complete(operation.start_ps, end, latency);
        self.span_ps = Some(extended(self.span_ps, operation.start_ps, end));
    }

    /// The summary of a run that ended at `end_ps`, in picoseconds. `accepted` is the payload of
    /// these operations that receivers accepted; `planned` is the number of planned operations, if
    /// it was given. With a measuring `window` (ps), goodput is of that time.
    pub fn counts(
        &self,
        app: &str,
        planned: Option<u64>,
        accepted: &DeliveryLog,
        (window, end_ps): (Option<(u64, u64)>, u64),
    ) -> OperationCounts {
        let started = self.completed + self.failed + self.unfinished;
        let total = planned.unwrap_or(started);
        let missing = total.saturating_sub(self.completed);
        let run = self.starts.map(|run| if missing > 0 { run.until(end_ps) } else { run });
        let has_mostly_arrived = is_most(self.completed, started);
        let goodput = match window {
            Some((from, to)) => Goodput::of_window(accepted, from, to),
            None => run.and_then(|run| Goodput::of(accepted, run, has_mostly_arrived)),
        };
        let run_ps = run.map_or(0, |run| run.end_ps.saturating_sub(run.first_start_ps));
        let open_ps = self.kinds.values().map(|kind| kind.open_ps(end_ps)).sum::<Option<u128>>();
        let mut all: Vec<u64> =
            self.kinds.values().flat_map(|kind| &kind.latencies_ps).copied().collect();
        let of_all = self.kinds.values().map(|kind| kind.missing(end_ps));
        let of_all = of_all.fold(Missing::default(), |mut all, kind| {
            all.at_least.extend(kind.at_least);
            all.never += kind.never;
            all
        });
        let kind = |(name, kind): (&String, &OfKind)| (name.clone(), kind.counts(end_ps, run_ps));
        let several = self.kinds.len() > 1;
        OperationCounts {
            app: app.to_owned(),
            total,
            completed: self.completed,
            failed: self.failed,
            unfinished: total.saturating_sub(self.completed + self.failed),
            per_second: self.span_ps.and_then(|span| per_second(self.completed, span)).unwrap_or(0),
            goodput_bps: goodput.map(|goodput| goodput.bps()),
            goodput,
            latency_ps: Distribution::with_missing(&mut all, &of_all),
            open_mean: open_ps.and_then(|open| mean_open(open, run_ps)),
            kinds: if several { self.kinds.iter().map(kind).collect() } else { BTreeMap::new() },
        }
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
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
        let counts = statistics.counts("storage", None, &accepted, (None, 10_000));
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
        assert_eq!(counts.kinds["read"].per_second, Some(1_000_000_000_000 / 3_000));
        assert_eq!(counts.kinds["write"].per_second, Some(1_000_000_000_000 / 2_000));
        // Nobody knows how long the flushed one was open; of writes, 2 of 10 ns.
        assert_eq!((counts.open_mean, counts.kinds["read"].open_mean), (None, None));
        assert_eq!(counts.kinds["write"].open_mean, Some(Millionths(200_000)));
        assert_eq!(statistics.counts("storage", Some(10), &accepted, (None, 10_000)).unfinished, 7);
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
        let counts = statistics.counts("storage", None, &DeliveryLog::default(), (None, 8_000));
        // 4 and 2 and 2 ns of 8.
        assert_eq!(counts.open_mean, Some(Millionths::ONE));
    }

    #[test]
    fn nothing_has_no_distribution() {
        let nothing = DeliveryLog::default();
        let counts = OperationStatistics::default().counts("idle", Some(5), &nothing, (None, 10));
        assert_eq!((counts.per_second, counts.goodput_bps, counts.unfinished), (0, None, 5));
        assert_eq!(counts.latency_ps, None);
        assert!(counts.kinds.is_empty());
    }
}

//! Statistics of an application's operations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    DeliveryLog, Distribution, Goodput, Missing, OperationRecord, OperationStatus, RunSpan, is_most,
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
    /// The same for each kind of operation; left out if there is only one kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, KindCounts>,
}

/// Operations of one kind in `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCounts {
    /// Operations that completed.
    pub completed: u64,
    /// Latencies from start to end, in picoseconds. That of an open operation is at least the time
    /// since its start, and failed ones rank last. Operations that never started have no kind.
    pub latency_ps: Option<Distribution<u64>>,
}

/// Operations of one kind.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct OfKind {
    /// Latencies of completed operations.
    latencies_ps: Vec<u64>,
    /// Starts of open operations (ps).
    open: Vec<u64>,
    failed: u64,
}

impl OfKind {
    /// The missing latencies at the end of a run: of operations that started and did not complete.
    fn missing(&self, end_ps: u64) -> Missing {
        let at_least = self.open.iter().map(|start| end_ps.saturating_sub(*start)).collect();
        Missing { at_least, never: self.failed }
    }
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
                kind.failed += 1;
            }
            return;
        };
        self.completed += 1;
        kind.latencies_ps.push(latency);
        let (first, last) = self.span_ps.unwrap_or((operation.start_ps, end));
        self.span_ps = Some((first.min(operation.start_ps), last.max(end)));
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
        let span = self.span_ps.map_or(0, |(first, last)| last - first);
        let rate = u128::from(self.completed) * PS_PER_SECOND;
        let mut all: Vec<u64> =
            self.kinds.values().flat_map(|kind| &kind.latencies_ps).copied().collect();
        let of_all = self.kinds.values().map(|kind| kind.missing(end_ps));
        let of_all = of_all.fold(Missing::default(), |mut all, kind| {
            all.at_least.extend(kind.at_least);
            all.never += kind.never;
            all
        });
        let kind = |(name, kind): (&String, &OfKind)| {
            let mut latencies = kind.latencies_ps.clone();
            let counts = KindCounts {
                completed: latencies.len() as u64,
                latency_ps: Distribution::with_missing(&mut latencies, &kind.missing(end_ps)),
            };
            (name.clone(), counts)
        };
        let several = self.kinds.len() > 1;
        OperationCounts {
            app: app.to_owned(),
            total,
            completed: self.completed,
            failed: self.failed,
            unfinished: total.saturating_sub(self.completed + self.failed),
            per_second: rate.checked_div(span.into()).map_or(0, saturated),
            goodput_bps: goodput.map(|goodput| goodput.bps()),
            goodput,
            latency_ps: Distribution::with_missing(&mut all, &of_all),
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
        assert_eq!(statistics.counts("storage", Some(10), &accepted, (None, 10_000)).unfinished, 7);
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

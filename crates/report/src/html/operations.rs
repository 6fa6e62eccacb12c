//! Operations of applications: latencies, and what was done over time, by kind.

use std::collections::BTreeMap;

use rocelab_results::{OperationRecord, OperationStatus, Results, ResultsError};
use rocelab_units::Bytes;
use serde::Serialize;
use toml::{Table, Value};

use super::envelope::{BINS, Steps};
use super::flows::{Cdf, cdf};
use super::resolved::Resolved;
use super::samples::Quantity;
use super::timelines::{Curve, Span, TimeLine};

/// Number of parts of the run in which completed operations are counted.
const PARTS: u32 = 100;
const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// The operations of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Operations {
    /// By application and kind; empty without operations.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) timelines: Vec<TimeLine>,
}

/// Operations of one kind.
#[derive(Debug, Serialize)]
pub(crate) struct Kind {
    /// The application and the kind.
    pub(crate) name: String,
    /// Number of operations that completed.
    pub(crate) completed: u64,
    /// Number of others, which started.
    pub(crate) missing: u64,
    /// The distribution of latencies (ps).
    pub(crate) latency: Cdf,
}

/// What is kept of the operations of one kind.
#[derive(Default)]
struct Log {
    /// Latencies of those that completed (ps).
    latencies: Vec<u64>,
    missing: u64,
    /// Number of operations that completed in each part of the figure's time.
    completed: Vec<u64>,
    /// When one began or ended.
    open: Vec<(u64, i64)>,
}

impl Log {
    fn add(&mut self, operation: &OperationRecord<'_>, span: Span) {
        self.open.push((operation.start_ps, 1));
        self.open.extend(operation.end_ps.map(|end| (end, -1)));
        let is_measured = operation.measured != 0;
        let (Some(latency), Some(end)) = (operation.latency_ps, operation.end_ps) else {
            self.missing += u64::from(is_measured);
            return;
        };
        if is_measured {
            self.latencies.push(latency);
        }
        self.completed.resize(PARTS as usize, 0);
        let figure = span.figure;
        let after = u128::from(end.saturating_sub(figure.begin_ps)) * u128::from(PARTS);
        let part = usize::try_from(after / u128::from(figure.length_ps().max(1))).unwrap_or(0);
        self.completed[part.min(PARTS as usize - 1)] += 1;
    }

    /// `amount` of each completed operation as a rate per second, part by part.
    fn rate(&self, amount: u64, span: Span) -> Steps {
        let mut steps = Steps::default();
        for (part, completed) in (0..).zip(&self.completed) {
            let (from, to) = (span.figure.edge(PARTS, part), span.figure.edge(PARTS, part + 1));
            let total = u128::from(*completed) * u128::from(amount) * PS_PER_SECOND;
            let rate = total / u128::from((to - from).max(1));
            steps.set(from, u64::try_from(rate).unwrap_or(u64::MAX));
        }
        steps
    }
}

/// The operations in `operations.csv`; none if there is no such file.
///
/// # Errors As [`Results::operations`].
pub(crate) fn operations(results: &Results, span: Span) -> Result<Operations, ResultsError> {
    if results.summary().operations.is_empty() {
        return Ok(Operations::default());
    }
    let mut logs: BTreeMap<(String, String), Log> = BTreeMap::new();
    for operation in results.operations()? {
        let operation = operation?;
        // The file has operations that never started, too.
        let started =
            operation.status != OperationStatus::Unfinished || operation.start_ps < span.run_ps;
        if started {
            let key = (operation.app.to_string(), operation.kind.to_string());
            logs.entry(key).or_default().add(&operation, span);
        }
    }
    let resolved = Resolved::read(results);
    Ok(of_logs(logs, &resolved, span))
}

fn of_logs(logs: BTreeMap<(String, String), Log>, resolved: &Resolved, span: Span) -> Operations {
    let curve = |name: &str, steps: &Steps| Curve::new(name, steps, span);
    let [mut rates, mut payloads, mut open] = [const { Vec::new() }; 3];
    let mut kinds = Vec::new();
    for ((app, kind), log) in logs {
        let name = format!("{app}, {kind}");
        rates.push(curve(&name, &log.rate(1, span)));
        if let Some(block) = block_of(resolved, &app) {
            payloads.push(curve(&name, &log.rate(block.get().saturating_mul(8), span)));
        }
        open.push(curve(&name, &Steps::of_changes(log.open)));
        let completed = log.latencies.len() as u64;
        let latency = cdf(log.latencies, log.missing);
        kinds.push(Kind { name, completed, missing: log.missing, latency });
    }
    let each = format!("Counted in each of {PARTS} equal parts of the time.");
    let mut timelines =
        vec![timeline("operations", "Operations per second", Quantity::Count, each, rates)];
    if !payloads.is_empty() {
        let note = "Blocks of completed operations, each counted at its end.".to_owned();
        timelines.push(timeline(
            "operation-payload",
            "Payload of operations",
            Quantity::Rate,
            note,
            payloads,
        ));
    }
    let note = "Operations that had begun and not ended.".to_owned();
    timelines.push(timeline("open-operations", "Open operations", Quantity::Count, note, open));
    Operations { kinds, timelines }
}

fn timeline(
    id: &'static str,
    title: &'static str,
    quantity: Quantity,
    note: String,
    curves: Vec<Curve>,
) -> TimeLine {
    TimeLine { id, title, quantity, note, curves }
}

/// The payload of each operation of an application, if all have the same: a block of `[workload.storage]`.
fn block_of(resolved: &Resolved, app: &str) -> Option<Bytes> {
    let storage = resolved.value(&["workload", "storage"])?;
    let tables: Vec<&Table> = match storage {
        Value::Array(all) => all.iter().filter_map(Value::as_table).collect(),
        one => one.as_table().into_iter().collect(),
    };
    let name = |(index, table): (usize, &Table)| {
        let given = table.get("name").and_then(Value::as_str).map(str::to_owned);
        given.unwrap_or_else(|| format!("storage[{index}]"))
    };
    let place = tables.iter().enumerate().position(|(index, table)| name((index, table)) == app)?;
    tables[place].get("block")?.as_str()?.parse().ok()
}

/// Parts are not finer than what a figure can draw.
const _: () = assert!(PARTS <= BINS);

#[cfg(test)]
mod tests {
    use super::super::envelope::Window;
    use super::*;

    const SPAN: Span =
        Span { figure: Window { begin_ps: 0, end_ps: 1_000_000 }, run_ps: 1_000_000 };

    fn operation(
        kind: &'static str,
        start_ps: u64,
        end_ps: Option<u64>,
    ) -> OperationRecord<'static> {
        OperationRecord {
            app: "disk".into(),
            kind: kind.into(),
            client: "host-0".into(),
            server: "host-1".into(),
            connection: 0,
            operation: 0,
            slot: 0,
            start_ps,
            end_ps,
            latency_ps: end_ps.map(|end| end - start_ps),
            found: None,
            measured: 1,
            status: if end_ps.is_some() {
                OperationStatus::Completed
            } else {
                OperationStatus::Unfinished
            },
        }
    }

    fn drawn(scenario: &str) -> Operations {
        let mut logs: BTreeMap<(String, String), Log> = BTreeMap::new();
        for one in [
            operation("read", 0, Some(500_000)),
            operation("read", 0, Some(509_999)),
            operation("read", 0, None),
            operation("write", 100_000, Some(1_000_000)),
        ] {
            let key = (one.app.to_string(), one.kind.to_string());
            logs.entry(key).or_default().add(&one, SPAN);
        }
        of_logs(logs, &Resolved::of(scenario), SPAN)
    }

    #[test]
    fn kinds_are_told_apart_and_counted_where_they_end() {
        let drawn = drawn("");
        let kinds: Vec<_> =
            drawn.kinds.iter().map(|kind| (&*kind.name, kind.completed, kind.missing)).collect();
        assert_eq!(kinds, [("disk, read", 2, 1), ("disk, write", 1, 0)]);
        assert_eq!(drawn.kinds[0].latency.shares, [333_333, 666_666]);
        let ids: Vec<_> = drawn.timelines.iter().map(|line| line.id).collect();
        assert_eq!(ids, ["operations", "open-operations"]);
        // Two in a part of 10 ns: 200 million per second.
        let values = &drawn.timelines[0].curves[0].values;
        let part = |part: usize| values[part * 2 * BINS as usize / PARTS as usize + 1];
        assert_eq!([49, 50, 51].map(part), [Some(0), Some(200_000_000), Some(0)]);
        // What ends with the run is in its last part.
        assert_eq!(drawn.timelines[0].curves[1].values.last(), Some(&Some(100_000_000)));
        let open = &drawn.timelines[1].curves[0].values;
        assert_eq!((open[0], open[2 * BINS as usize - 1]), (Some(3), Some(1)));
    }

    #[test]
    fn blocks_of_storage_are_payload() {
        let drawn = drawn(
            "[[workload.storage]]\nblock = \"1KB\"\n[[workload.storage]]\nname = \"disk\"\nblock = \"4KB\"\n",
        );
        assert_eq!(drawn.timelines[1].id, "operation-payload");
        // 8,000 bytes in 10 ns.
        let values = &drawn.timelines[1].curves[0].values;
        assert_eq!(values.iter().flatten().max(), Some(&6_400_000_000_000));
    }
}

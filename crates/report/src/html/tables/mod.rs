//! Tables that can be sorted. Long ones are cut; the most important rows are kept.

mod hosts;
mod memory;
mod receivers;
mod stalled;
mod stuck;
mod victims;

use rocelab_results::{DropRecord, FlowRecord, FlowStatus, Results, ResultsError};
use serde::Serialize;
use serde_json::{Value, json};

use super::pauses::Pauses;
use super::ports::Ports;
use super::samples::Quantity;
pub(crate) use hosts::hosts;
pub(crate) use memory::memory;
pub(crate) use receivers::slow_receivers;
pub(crate) use stalled::stalled;
pub(crate) use stuck::{deadlocks, storms};
pub(crate) use victims::victims;

/// Number of rows that a table keeps.
const MOST_ROWS: usize = 1_500;

/// A table, in the order in which it is first shown.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// The file with all rows.
    pub(crate) file: &'static str,
    pub(crate) columns: Vec<Column>,
    /// The column by which it is sorted at first, and whether in descending order.
    pub(crate) sorted: (usize, bool),
    pub(crate) rows: Vec<Vec<Value>>,
    /// Number of all rows.
    pub(crate) total: usize,
}

/// A column of a table. Ratios are in millionths.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    name: &'static str,
    quantity: Quantity,
}

/// A column, and the function that gives its value for an item.
pub(super) type Cell<'a, T> = (&'static str, Quantity, &'a dyn Fn(&T) -> Value);

impl Table {
    /// A table with a row for each of the first `items`.
    pub(super) fn of<T>(
        (id, title, file): (&'static str, &'static str, &'static str),
        sorted: (usize, bool),
        items: &[T],
        cells: &[Cell<'_, T>],
    ) -> Self {
        let row = |item: &T| cells.iter().map(|(_, _, value)| value(item)).collect();
        Self {
            id,
            title,
            file,
            columns: cells.iter().map(|&(name, quantity, _)| Column { name, quantity }).collect(),
            sorted,
            rows: items.iter().take(MOST_ROWS).map(row).collect(),
            total: items.len(),
        }
    }
}

/// The flows: first those that failed, then the slowest, then those that were open at the end of
/// the run.
pub(crate) fn flows(flows: &[FlowRecord<'_>]) -> Table {
    let mut order: Vec<&FlowRecord<'_>> = flows.iter().collect();
    let class = |flow: &FlowRecord<'_>| match flow.status {
        FlowStatus::Completed => 1,
        FlowStatus::Unfinished => 2,
        _ => 0,
    };
    order.sort_by_key(|flow| (class(flow), std::cmp::Reverse(flow.slowdown()), flow.flow));
    Table::of(
        ("flows", "Flows", "flows.csv"),
        (8, true),
        &order,
        &[
            ("Flow", Quantity::Count, &|flow| json!(flow.flow)),
            ("Workload", Quantity::Text, &|flow| json!(flow.name)),
            ("Source", Quantity::Text, &|flow| json!(flow.source)),
            ("Destination", Quantity::Text, &|flow| json!(flow.destination)),
            ("Congestion control", Quantity::Text, &|flow| json!(congestion_control(flow))),
            ("Size", Quantity::Bytes, &|flow| json!(flow.bytes)),
            ("Start", Quantity::Moment, &|flow| json!(flow.start_ps)),
            ("FCT", Quantity::Time, &|flow| json!(flow.fct_ps)),
            ("Slowdown", Quantity::Ratio, &|flow| json!(flow.slowdown().map(|ratio| ratio.0))),
            ("Goodput", Quantity::Rate, &|flow| json!(flow.goodput_bps())),
            ("Sent again", Quantity::Count, &|flow| json!(flow.retransmitted_packets)),
            ("Collisions", Quantity::Count, &|flow| json!(flow.collisions)),
            ("Status", Quantity::Text, &|flow| json!(flow.status.name())),
            ("Path", Quantity::Text, &|flow| json!(path(flow))),
        ],
    )
}

/// The nodes on its way; a flow of which it is not known has a dash.
fn path(flow: &FlowRecord<'_>) -> Option<String> {
    Some(flow.path.as_ref()?.replace('>', " > "))
}

/// Its algorithm, marked as TCP if TCP carries the flow.
fn congestion_control(flow: &FlowRecord<'_>) -> String {
    let of_tcp = if flow.transport == "tcp" { "TCP " } else { "" };
    format!("{of_tcp}{}", flow.congestion_control)
}

/// The directions of links, busiest first.
pub(crate) fn links(ports: &Ports) -> Table {
    let record = |direction: &usize| &ports.directions[*direction].record;
    let mut order: Vec<usize> = (0..ports.directions.len()).collect();
    order.sort_by_key(|one| (std::cmp::Reverse(record(one).utilisation), *one));
    Table::of(
        ("links", "Links", "links.csv"),
        (5, true),
        &order,
        &[
            ("From", Quantity::Text, &|one| json!(ports.label(*one))),
            ("To", Quantity::Text, &|one| {
                json!(format!("{}:{}", record(one).to, record(one).to_port))
            }),
            ("Rate", Quantity::Rate, &|one| json!(record(one).rate_bps)),
            ("Frames", Quantity::Count, &|one| json!(record(one).frames)),
            ("Sent", Quantity::Bytes, &|one| json!(record(one).bytes)),
            ("Utilisation", Quantity::Ratio, &|one| json!(record(one).utilisation.0)),
            ("Paused", Quantity::Time, &|one| json!(record(one).paused_ps)),
            ("Longest queue", Quantity::Bytes, &|one| json!(record(one).max_queue_bytes)),
            ("ECN marks", Quantity::Count, &|one| json!(record(one).ecn_marks)),
        ],
    )
}

/// The pauses, longest first.
pub(crate) fn pauses(pauses: &Pauses, ports: &Ports) -> Table {
    let pause = |index: &usize| &pauses.list[*index];
    let mut order: Vec<usize> = (0..pauses.list.len()).collect();
    order.sort_by_key(|one| (std::cmp::Reverse(pause(one).duration_ps()), *one));
    let asked_by = |one: &usize| &ports.nodes[ports.directions[pause(one).direction].to];
    let root = |one: &usize| pauses.root_name(pauses.root_of(*one)).to_owned();
    let led_to_by = |one: &usize| match pause(one).parent {
        Some(parent) => format!("pause of {}", ports.label(pauses.list[parent].direction)),
        None if pause(one).is_root() => "root cause".to_owned(),
        None => root(one),
    };
    Table::of(
        ("pauses", "Pauses", "pfc.csv"),
        (4, true),
        &order,
        &[
            ("Paused port", Quantity::Text, &|one| json!(ports.label(pause(one).direction))),
            ("Asked by", Quantity::Text, &|one| json!(asked_by(one))),
            ("Priority", Quantity::Count, &|one| json!(pause(one).priority)),
            ("Start", Quantity::Moment, &|one| json!(pause(one).start_ps)),
            ("Duration", Quantity::Time, &|one| json!(pause(one).duration_ps())),
            ("Waits for", Quantity::Text, &|one| json!(pauses.waits_for(*one))),
            ("Led to by", Quantity::Text, &|one| json!(led_to_by(one))),
            ("In the end", Quantity::Text, &|one| json!(root(one))),
        ],
    )
}

/// The dropped frames, in order of time.
pub(crate) fn drops(results: &Results) -> Result<Table, ResultsError> {
    let (mut first, mut total) = (Vec::new(), 0);
    for record in results.drops()? {
        let record = record?;
        total += 1;
        if first.len() < MOST_ROWS {
            first.push(record);
        }
    }
    let table = Table::of(
        ("drops", "Drops", "drops.csv"),
        (0, false),
        &first,
        &[
            ("Time", Quantity::Moment, &|drop: &DropRecord<'_>| json!(drop.time_ps)),
            ("Node", Quantity::Text, &|drop| json!(drop.node)),
            ("Ingress port", Quantity::Count, &|drop| json!(drop.ingress_port)),
            ("Egress port", Quantity::Count, &|drop| json!(drop.egress_port)),
            ("Priority", Quantity::Count, &|drop| json!(drop.priority)),
            ("Frame", Quantity::Bytes, &|drop| json!(drop.frame_bytes)),
            ("Reason", Quantity::Text, &|drop| json!(drop.reason)),
            ("Condition that failed", Quantity::Text, &|drop| json!(drop.inequality)),
        ],
    );
    Ok(Table { total, ..table })
}

#[cfg(test)]
mod tests {
    use super::super::flows::tests::flow;
    use super::*;

    #[test]
    fn failed_flows_come_first_and_unfinished_ones_last() {
        let mut failed = flow(3, 10, None);
        failed.status = FlowStatus::RetryExceeded;
        let list = [flow(0, 10, Some(2_000)), flow(1, 10, None), flow(2, 10, Some(9_000)), failed];
        let table = flows(&list);
        let order: Vec<_> = table.rows.iter().map(|row| row[0].as_u64().unwrap()).collect();
        assert_eq!(order, [3, 2, 0, 1]);
    }

    #[test]
    fn long_tables_are_cut_and_say_so() {
        let list: Vec<_> = (0..5_000).map(|number| flow(number, 10, Some(number + 1))).collect();
        let table = flows(&list);
        assert_eq!((table.rows.len(), table.total), (MOST_ROWS, 5_000));
        assert_eq!(table.rows[0][0], 4_999);
    }
}

//! Tables that can be sorted. Long ones are cut, what matters most first.

use rocelab_results::{FlowRecord, FlowStatus, Results, ResultsError};
use serde::Serialize;
use serde_json::{Value, json};

use super::pauses::Pauses;
use super::ports::Ports;
use super::samples::Quantity;

/// Rows that a table keeps.
const MOST_ROWS: usize = 3_000;

/// A table, in the order in which it is first shown.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Where all rows are.
    pub(crate) file: &'static str,
    pub(crate) columns: Vec<Column>,
    /// Column that it is sorted by at first, and whether the greatest comes first.
    pub(crate) sorted: (usize, bool),
    pub(crate) rows: Vec<Vec<Value>>,
    /// Rows that there are at all.
    pub(crate) total: usize,
}

/// A column of a table. Ratios are in millionths.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    name: &'static str,
    quantity: Quantity,
}

const fn column(name: &'static str, quantity: Quantity) -> Column {
    Column { name, quantity }
}

/// The flows: those that failed, then the slowest, then those that the end of the run cut off.
pub(crate) fn flows(flows: &[FlowRecord<'_>]) -> Table {
    let mut order: Vec<&FlowRecord<'_>> = flows.iter().collect();
    let class = |flow: &FlowRecord<'_>| match flow.status {
        FlowStatus::Completed => 1,
        FlowStatus::Unfinished => 2,
        _ => 0,
    };
    order.sort_by_key(|flow| (class(flow), std::cmp::Reverse(flow.slowdown()), flow.flow));
    let row = |flow: &&FlowRecord<'_>| {
        vec![
            json!(flow.flow),
            json!(flow.source),
            json!(flow.destination),
            json!(flow.congestion_control),
            json!(flow.bytes),
            json!(flow.start_ps),
            json!(flow.fct_ps),
            json!(flow.slowdown().map(|slowdown| slowdown.0)),
            json!(flow.goodput_bps()),
            json!(flow.retransmitted_packets),
            json!(flow.status.name()),
        ]
    };
    Table {
        id: "flows",
        title: "Flows",
        file: "flows.csv",
        columns: vec![
            column("Flow", Quantity::Count),
            column("Source", Quantity::Text),
            column("Destination", Quantity::Text),
            column("Congestion control", Quantity::Text),
            column("Size", Quantity::Bytes),
            column("Start", Quantity::Moment),
            column("FCT", Quantity::Time),
            column("Slowdown", Quantity::Ratio),
            column("Goodput", Quantity::Rate),
            column("Sent again", Quantity::Count),
            column("Status", Quantity::Text),
        ],
        sorted: (7, true),
        rows: order.iter().take(MOST_ROWS).map(row).collect(),
        total: flows.len(),
    }
}

/// The directions of links, those that sent the most first.
pub(crate) fn links(ports: &Ports) -> Table {
    let mut order: Vec<usize> = (0..ports.directions.len()).collect();
    let utilisation = |direction: usize| ports.directions[direction].record.utilisation;
    order.sort_by_key(|one| (std::cmp::Reverse(utilisation(*one)), *one));
    let row = |direction: &usize| {
        let record = &ports.directions[*direction].record;
        vec![
            json!(ports.label(*direction)),
            json!(format!("{}:{}", record.to, record.to_port)),
            json!(record.rate_bps),
            json!(record.frames),
            json!(record.bytes),
            json!(record.utilisation.0),
            json!(record.paused_ps),
            json!(record.max_queue_bytes),
            json!(record.ecn_marks),
        ]
    };
    Table {
        id: "links",
        title: "Links",
        file: "links.csv",
        columns: vec![
            column("From", Quantity::Text),
            column("To", Quantity::Text),
            column("Rate", Quantity::Rate),
            column("Frames", Quantity::Count),
            column("Sent", Quantity::Bytes),
            column("Utilisation", Quantity::Ratio),
            column("Paused", Quantity::Time),
            column("Longest queue", Quantity::Bytes),
            column("ECN marks", Quantity::Count),
        ],
        sorted: (5, true),
        rows: order.iter().take(MOST_ROWS).map(row).collect(),
        total: ports.directions.len(),
    }
}

/// The pauses, longest first.
pub(crate) fn pauses(pauses: &Pauses, ports: &Ports) -> Table {
    let mut order: Vec<usize> = (0..pauses.list.len()).collect();
    let duration = |pause: usize| pauses.list[pause].duration_ps();
    order.sort_by_key(|one| (std::cmp::Reverse(duration(*one)), *one));
    let row = |index: &usize| {
        let pause = &pauses.list[*index];
        let cause = pause.parent.map_or_else(
            || "root cause".to_owned(),
            |parent| format!("pause of {}", ports.label(pauses.list[parent].direction)),
        );
        vec![
            json!(ports.label(pause.direction)),
            json!(ports.nodes[ports.directions[pause.direction].to]),
            json!(pause.priority),
            json!(pause.start_ps),
            json!(pause.duration_ps()),
            json!(cause),
        ]
    };
    Table {
        id: "pauses",
        title: "Pauses",
        file: "pfc.csv",
        columns: vec![
            column("Paused port", Quantity::Text),
            column("Asked by", Quantity::Text),
            column("Priority", Quantity::Count),
            column("Start", Quantity::Moment),
            column("Duration", Quantity::Time),
            column("Led to by", Quantity::Text),
        ],
        sorted: (4, true),
        rows: order.iter().take(MOST_ROWS).map(row).collect(),
        total: pauses.list.len(),
    }
}

/// The dropped frames, first ones first.
pub(crate) fn drops(results: &Results) -> Result<Table, ResultsError> {
    let (mut rows, mut total) = (Vec::new(), 0);
    for record in results.drops()? {
        let record = record?;
        total += 1;
        if rows.len() < MOST_ROWS {
            rows.push(vec![
                json!(record.time_ps),
                json!(record.node),
                json!(record.ingress_port),
                json!(record.egress_port),
                json!(record.priority),
                json!(record.frame_bytes),
                json!(record.reason),
                json!(record.inequality),
            ]);
        }
    }
    Ok(Table {
        id: "drops",
        title: "Drops",
        file: "drops.csv",
        columns: vec![
            column("Time", Quantity::Moment),
            column("Node", Quantity::Text),
            column("Ingress port", Quantity::Count),
            column("Egress port", Quantity::Count),
            column("Priority", Quantity::Count),
            column("Frame", Quantity::Bytes),
            column("Reason", Quantity::Text),
            column("Condition that failed", Quantity::Text),
        ],
        sorted: (0, false),
        rows,
        total,
    })
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

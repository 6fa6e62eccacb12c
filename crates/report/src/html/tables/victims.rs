//! Flows that pauses held back at their host.

use rocelab_results::{FlowRecord, Millionths};
use serde_json::json;

use super::{MOST_ROWS, Table};
use crate::html::pauses::Pauses;
use crate::html::ports::Ports;
use crate::html::samples::Quantity;
use crate::html::victims::{Victim, Victims};

/// A victim, and the root that it waited for.
struct Row<'a> {
    victim: &'a Victim,
    flow: &'a FlowRecord<'a>,
    root: &'a str,
}

/// The victims, those that were held back for longest first; `None` if there are none.
pub(crate) fn victims(
    victims: &Victims,
    flows: &[FlowRecord<'_>],
    (pauses, ports): (&Pauses, &Ports),
    run_ps: u64,
) -> Option<Table> {
    let shown = victims.list.iter().take(MOST_ROWS).map(|victim| {
        let flow = &flows[victim.flow];
        let root = victims.root_of(flow, ports, run_ps);
        Row { victim, flow, root: root.map_or("", |root| pauses.root_name(root)) }
    });
    let rows: Vec<Row<'_>> = shown.collect();
    let share = |row: &Row<'_>| {
        Millionths::ratio(row.victim.paused_ps, row.victim.open_ps).map(|one| one.0)
    };
    let table = Table::of(
        ("victims", "Flows whose host was paused", "flows.csv and pfc.csv"),
        (5, true),
        &rows,
        &[
            ("Flow", Quantity::Count, &|row: &Row<'_>| json!(row.flow.flow)),
            ("Source", Quantity::Text, &|row| json!(row.flow.source)),
            ("Destination", Quantity::Text, &|row| json!(row.flow.destination)),
            ("Priority", Quantity::Count, &|row| json!(row.flow.priority)),
            ("Open", Quantity::Time, &|row| json!(row.victim.open_ps)),
            ("Paused", Quantity::Time, &|row| json!(row.victim.paused_ps)),
            ("Share", Quantity::Ratio, &|row| json!(share(row))),
            ("Mostly for", Quantity::Text, &|row| json!(row.root)),
        ],
    );
    (!rows.is_empty()).then_some(Table { total: victims.list.len(), ..table })
}

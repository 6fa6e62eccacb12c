//! The most that switches held in their memory.

use rocelab_results::{Millionths, Results, ResultsError, SwitchRecord};
use serde_json::json;

use super::Table;
use crate::html::samples::Quantity;

/// Ingress ports and priorities, and whole switches, those first that used the largest share of their headroom; `None` if
/// that was not measured.
pub(crate) fn memory(results: &Results) -> Result<Option<Table>, ResultsError> {
    let Some(records) = results.switches()? else { return Ok(None) };
    let rows = records.collect::<Result<Vec<_>, _>>()?;
    let mut order: Vec<&SwitchRecord<'_>> = rows.iter().collect();
    order.sort_by_key(|row| std::cmp::Reverse((share(row), row.peak_bytes)));
    Ok(Some(Table::of(
        ("memory", "Memory of switches", "switches.csv"),
        (5, true),
        &order,
        &[
            ("Ingress", Quantity::Text, &|row| json!(row.place())),
            ("Most held", Quantity::Bytes, &|row| json!(row.peak_bytes)),
            ("XOFF then", Quantity::Bytes, &|row| json!(row.xoff_bytes)),
            ("Headroom used", Quantity::Bytes, &|row| json!(row.peak_headroom_bytes)),
            ("of", Quantity::Bytes, &|row| json!(row.headroom_bytes)),
            ("Share", Quantity::Ratio, &|row| json!(share(row).map(|ratio| ratio.0))),
            ("Shared pool used", Quantity::Bytes, &|row| json!(row.peak_shared_bytes)),
            ("of", Quantity::Bytes, &|row| json!(row.shared_bytes)),
            ("Pauses", Quantity::Count, &|row| json!(row.pauses)),
            ("Drops", Quantity::Count, &|row| json!(row.drops)),
        ],
    )))
}

/// The share of the headroom that was used.
fn share(row: &SwitchRecord<'_>) -> Option<Millionths> {
    Millionths::ratio(row.peak_headroom_bytes?, row.headroom_bytes?)
}

//! What hosts did that take time.

use rocelab_results::{HostRecord, Results, ResultsError};
use serde_json::json;

use super::Table;
use crate::html::samples::Quantity;

/// Hosts that take time, those first whose memory held the NIC up for longest; `None` if there are none.
pub(crate) fn hosts(results: &Results) -> Result<Option<Table>, ResultsError> {
    let Some(records) = results.hosts()? else { return Ok(None) };
    let rows = records.collect::<Result<Vec<_>, _>>()?;
    let mut order: Vec<&HostRecord<'_>> = rows.iter().collect();
    order.sort_by_key(|row| std::cmp::Reverse((row.memory_wait_ps, row.peak_buffer_bytes)));
    Ok(Some(Table::of(
        ("hosts", "Hosts", "hosts.csv"),
        (5, true),
        &order,
        &[
            ("Host", Quantity::Text, &|row| json!(row.host)),
            ("Waited for memory", Quantity::Time, &|row| json!(row.memory_wait_ps)),
            ("Most in the NIC", Quantity::Bytes, &|row| json!(row.peak_buffer_bytes)),
            ("Pauses", Quantity::Count, &|row| json!(row.pauses)),
            ("PCIe to memory", Quantity::Bytes, &|row| json!(row.pcie_up_bytes)),
            ("PCIe from memory", Quantity::Bytes, &|row| json!(row.pcie_down_bytes)),
            ("Doorbells", Quantity::Count, &|row| json!(row.doorbells)),
            ("Context misses", Quantity::Count, &|row| json!(row.context_misses)),
            ("of", Quantity::Count, &|row| json!(row.context_misses + row.context_hits)),
            ("Translation misses", Quantity::Count, &|row| json!(row.translation_misses)),
            ("of", Quantity::Count, &|row| json!(row.translation_misses + row.translation_hits)),
            ("Page walks", Quantity::Count, &|row| json!(row.iommu_misses)),
        ],
    )))
}

//! What hosts did that take time.

use rocelab_results::{HostRecord, ResultsError, Sink};

use crate::Plan;
use crate::profile::Profile;
use crate::simulation::WholeNetwork;

/// Writes a row for each of them, if there are any.
pub(super) fn write<P: Profile>(
    plan: &Plan,
    sink: Sink<'_>,
    network: WholeNetwork<'_, P>,
) -> Result<(), ResultsError> {
    if plan.host_models.is_empty() {
        return Ok(());
    }
    let mut rows = sink.records()?;
    for (node, counts, pauses) in network.host_counts() {
        rows.write(&HostRecord {
            host: plan.topology.nodes[node as usize].name.as_str().into(),
            doorbells: counts.doorbells,
            pcie_up_bytes: counts.pcie_up,
            pcie_down_bytes: counts.pcie_down,
            context_hits: counts.contexts.hits,
            context_misses: counts.contexts.misses,
            translation_hits: counts.translations.hits,
            translation_misses: counts.translations.misses,
            iommu_hits: counts.pages.hits,
            iommu_misses: counts.pages.misses,
            peak_buffer_bytes: counts.max_buffered,
            memory_wait_ps: counts.waited_for_memory.ps(),
            pauses,
        })?;
    }
    rows.finish()
}

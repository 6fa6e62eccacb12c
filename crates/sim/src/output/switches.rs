//! The most that switches held in their memory.

use rocelab_fabric::{BufferPolicy, MemoryParts, Peaks};
use rocelab_results::{ResultsError, Sink, SwitchRecord};

use crate::Plan;
use crate::profile::Profile;
use crate::simulation::WholeNetwork;

/// Writes the peaks of each switch, if they were measured.
pub(super) fn write<P: Profile>(
    plan: &Plan,
    sink: Sink<'_>,
    network: WholeNetwork<'_, P>,
) -> Result<(), ResultsError> {
    if plan.sampling.ingress.is_none() {
        return Ok(());
    }
    let mut rows = sink.records()?;
    for (node, memory) in network.memories() {
        let Some(peaks) = memory.peaks() else { continue };
        let name = plan.topology.nodes[node as usize].name.as_str();
        let of_ports = of_ports(name, memory, peaks);
        rows.write(&of_switch(name, memory.sizes(), peaks, &of_ports))?;
        for row in of_ports {
            rows.write(&row)?;
        }
    }
    rows.finish()
}

/// The row of a whole switch.
fn of_switch<'a>(
    name: &'a str,
    sizes: MemoryParts,
    peaks: &Peaks,
    of_ports: &[SwitchRecord<'a>],
) -> SwitchRecord<'a> {
    let most = peaks.parts();
    SwitchRecord {
        switch: name.into(),
        port: None,
        priority: None,
        peak_bytes: peaks.stored(),
        xoff_bytes: None,
        headroom_bytes: Some(sizes.headroom),
        peak_headroom_bytes: Some(most.headroom),
        shared_bytes: Some(sizes.shared),
        peak_shared_bytes: Some(most.shared),
        pauses: of_ports.iter().map(|row| row.pauses).sum(),
        drops: of_ports.iter().map(|row| row.drops).sum(),
        headroom_drops: of_ports.iter().map(|row| row.headroom_drops).sum(),
    }
}

/// The rows of a switch's ingress ports and priorities; those that no frame came in by are left out.
fn of_ports<'a>(name: &'a str, memory: &impl BufferPolicy, peaks: &Peaks) -> Vec<SwitchRecord<'a>> {
    let places = (0..peaks.ports()).flat_map(|port| (0..8).map(move |priority| (port, priority)));
    let rows = places.filter_map(|(port, priority)| {
        let peak = peaks.of(port, priority);
        if peak.held == 0 && peak.drops == 0 {
            return None;
        }
        let now = memory.occupancy(port, priority);
        let is_lossless = now.thresholds.is_some();
        Some(SwitchRecord {
            switch: name.into(),
            port: Some(port),
            priority: Some(priority),
            peak_bytes: peak.held,
            xoff_bytes: is_lossless.then_some(peak.xoff),
            headroom_bytes: is_lossless.then_some(now.headroom_limit.into()),
            peak_headroom_bytes: is_lossless.then_some(peak.headroom.into()),
            shared_bytes: None,
            peak_shared_bytes: None,
            pauses: peak.pauses,
            drops: peak.drops,
            headroom_drops: peak.headroom_drops,
        })
    });
    rows.collect()
}

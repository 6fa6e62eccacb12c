//! What went over NVLink.

use rocelab_results::{Millionths, NvlinkCounts, NvlinkRecord, ResultsError, Sink};
use rocelab_units::SimTime;

use crate::Plan;
use crate::profile::Profile;
use crate::simulation::WholeNetwork;

/// Writes a row for each host that NVLink joins to others, if there are any, and gives what all of them come to.
pub(super) fn write<P: Profile>(
    plan: &Plan,
    sink: Sink<'_>,
    network: WholeNetwork<'_, P>,
    end: SimTime,
) -> Result<Option<NvlinkCounts>, ResultsError> {
    let domains = plan.nvlink.domains();
    if domains.is_empty() {
        return Ok(None);
    }
    let used = network.nvlink_use();
    let mut counts = NvlinkCounts { servers: domains.len() as u64, ..NvlinkCounts::default() };
    let efficiencies = domains.iter().map(|domain| domain.link.efficiency);
    let least = efficiencies.filter(|&one| one < 1.0).min_by(f64::total_cmp);
    counts.efficiency = least.and_then(millionths);
    let mut longest = 0;
    let mut rows = sink.records()?;
    for domain in domains {
        for host in &domain.hosts {
            let used = used.get(host).copied().unwrap_or_default();
            counts.messages += used.sent.messages;
            counts.bytes += used.sent.bytes;
            longest = longest.max(used.sent.busy.ps());
            rows.write(&NvlinkRecord {
                server: domain.server.as_str().into(),
                host: plan.topology.nodes[*host as usize].name.as_str().into(),
                rate_bps: domain.link.rate.bits_per_second(),
                sent_messages: used.sent.messages,
                sent_bytes: used.sent.bytes,
                sent_busy_ps: used.sent.busy.ps(),
                received_messages: used.received.messages,
                received_bytes: used.received.bytes,
                received_busy_ps: used.received.busy.ps(),
            })?;
        }
    }
    rows.finish()?;
    counts.busiest_share = Millionths::ratio(longest, end.ps());
    Ok(Some(counts))
}

/// A part from 0 to 1.
fn millionths(part: f64) -> Option<Millionths> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000,000")]
    let count = (part * 1e6).round() as u64;
    Millionths::ratio(count, 1_000_000)
}

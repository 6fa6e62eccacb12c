//! What is wrong with runs of a sweep that are over.

use rocelab_results::{Results, Summary};
use rocelab_sweep::Points;

use crate::exit::Exit;

/// Points with findings that are named.
const NAMED: usize = 10;

/// Prints what a single run would warn of, with the point that it was found in; a finding is one of the exit code too.
pub(crate) fn print(points: &Points<'_>, done: &[usize]) -> Exit {
    let found = |&point: &usize| {
        // Results that cannot be read fail where tables are made.
        let results = Results::open(points.directory(point)).ok()?;
        let findings = findings(results.summary());
        (!findings.is_empty()).then(|| (point, findings.join(", ")))
    };
    let found: Vec<(usize, String)> = done.iter().filter_map(found).collect();
    for (point, findings) in found.iter().take(NAMED) {
        let settings = &points.sweep().points()[*point];
        stderr_line!("warning: point {point} ({settings}): {findings}");
    }
    if found.len() > NAMED {
        stderr_line!(
            "warning: and {} more points: see `deadlocks`, `stalled`, `lossless_drops`, `frozen` and `flows` in their \
             summary.json",
            found.len() - NAMED
        );
    }
    if found.is_empty() { Exit::Done } else { Exit::Found }
}

/// What a run warns of, in a few words each.
fn findings(summary: &Summary) -> Vec<String> {
    let lossless: u64 = summary.lossless_drops.values().sum();
    let broken = summary.integrity.as_ref().map_or(0, |integrity| integrity.violations);
    let frozen = summary.frozen.as_ref().map_or(0, |frozen| frozen.flows);
    let counted = [
        (summary.deadlocks.len() as u64, "deadlock", "deadlocks"),
        (lossless, "lossless frame dropped", "lossless frames dropped"),
        (frozen, "flow frozen by pauses", "flows frozen by pauses"),
        (summary.all_flows().failed, "flow failed", "flows failed"),
        (summary.failed_operations(), "operation failed", "operations failed"),
        (broken, "promise of the transport broken", "promises of the transport broken"),
    ];
    let stalled = summary.stalled.is_some() && summary.deadlocks.is_empty();
    let unmeasured = summary.measured.is_some_and(|window| window.from_ps == window.to_ps);
    let counted = counted
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }));
    let words = [(stalled, "nothing moved any more"), (unmeasured, "nothing was measured")];
    let words = words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word.to_owned());
    words.chain(counted).collect()
}

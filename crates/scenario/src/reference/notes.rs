//! What a configuration says to no effect.

use super::algorithm;
use super::entries::Entries;
use super::keys::Role;

/// A sentence for each thing, in a fixed order.
pub(super) fn of(entries: &Entries) -> Vec<String> {
    let mut notes = Vec::new();
    for key in entries.keys() {
        if entries.get(key.name).is_some_and(|entry| entry.repeated) {
            notes.push(format!("{} stands there more than once: the last one holds", key.name));
        }
        if let Role::Output(ours) = key.role {
            let theirs = entries.text(key.name).unwrap_or_default();
            notes.push(format!("{} {theirs}: it is {ours} in the results directory", key.name));
        }
    }
    let idle = entries.keys().filter(|key| key.role == Role::Nothing);
    let idle: Vec<_> = idle.map(|key| key.name).collect();
    if !idle.is_empty() {
        notes.push(format!("without effect on results: {}", idle.join(", ")));
    }
    notes.extend(algorithm::notes(entries));
    notes.extend(incomplete_rates(entries));
    notes
}

/// Port rates for which not all three thresholds are there.
fn incomplete_rates(entries: &Entries) -> Option<String> {
    const MAPS: [&str; 3] = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"];
    let rates = MAPS.map(|key| {
        let words = entries.values(key);
        words.chunks_exact(2).map(|pair| pair[0].0.parse().unwrap_or(0u64)).collect::<Vec<_>>()
    });
    let mut incomplete: Vec<_> = rates
        .iter()
        .flatten()
        .filter(|rate| !rates.iter().all(|map| map.contains(rate)))
        .map(u64::to_string)
        .collect();
    incomplete.sort();
    incomplete.dedup();
    let rates = incomplete.join(", ");
    (!incomplete.is_empty())
        .then(|| format!("not in all of {}, and left out: {rates}", MAPS.join(", ")))
}

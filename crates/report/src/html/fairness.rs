//! How equally flows share a receiver's link.

use std::collections::BTreeMap;

use rocelab_results::{FlowRecord, FlowStatus, Millionths};

use super::rules::{self, Rule};
use super::verdicts::{Level, Verdict, verdict};
use crate::numbers::{count, memory};

/// Flows began together if their starts differ by at most this part of the shortest completion time.
const TOGETHER: u64 = 100;

/// Flows of equal size, priority and transport to one receiver that began together. Priorities may share the link in other
/// ways than equally.
struct Group<'a> {
    receiver: &'a str,
    bytes: u64,
    flows: Vec<&'a FlowRecord<'a>>,
}

/// The verdict on `flows` of a run that ended at `end_ps`.
pub(crate) fn fairness(flows: &[FlowRecord<'_>], end_ps: u64) -> Verdict {
    let judged =
        groups(flows).into_iter().filter_map(|group| Some((index(&group, end_ps)?, group)));
    let judged: Vec<_> = judged.collect();
    let groups = judged.len() as u64;
    let Some(((index, is_bound), group)) = judged.into_iter().min_by_key(|(index, _)| *index)
    else {
        let text = "Fairness: no two flows of equal size began together at one receiver, so none can be \
                    expected to have equal shares.";
        return verdict(Level::Unjudged, text.to_owned(), Rule::Fairness);
    };
    let level = match rules::fairness(index) {
        Level::Good if is_bound => Level::Unjudged,
        level => level,
    };
    let at_most = if is_bound { "at most " } else { "" };
    let of = format!("{} flows of {}", count(group.flows.len() as u64), memory(group.bytes));
    let mut text =
        format!("Fairness: Jain's index {at_most}{index:.3}, of {of} to {}", group.receiver);
    if groups > 1 {
        text += &format!(", the lowest of {} groups", count(groups));
    }
    verdict(level, text + ".", Rule::Fairness)
}

/// All groups of at least two flows.
fn groups<'a>(flows: &'a [FlowRecord<'a>]) -> Vec<Group<'a>> {
    let mut by_receiver: BTreeMap<_, Vec<&FlowRecord<'_>>> = BTreeMap::new();
    let counts = |flow: &&FlowRecord<'_>| {
        let is_known = matches!(flow.status, FlowStatus::Completed | FlowStatus::Unfinished);
        is_known && flow.bytes > 0 && flow.measured != 0
    };
    for flow in flows.iter().filter(counts) {
        // The data of a READ goes to its source.
        let receiver = if flow.verb == "read" { &flow.source } else { &flow.destination };
        let kind = (flow.priority, flow.transport.as_ref());
        by_receiver.entry((receiver.as_ref(), flow.bytes, kind)).or_default().push(flow);
    }
    let mut groups = Vec::new();
    for ((receiver, bytes, _), mut flows) in by_receiver {
        flows.sort_by_key(|flow| (flow.start_ps, flow.flow));
        let shortest = flows.iter().filter_map(|flow| flow.fct_ps).min().unwrap_or(0);
        let mut rest = flows.as_slice();
        while let Some(first) = rest.first() {
            let last = first.start_ps.saturating_add(shortest / TOGETHER);
            let (together, later) = rest.split_at(rest.partition_point(|one| one.start_ps <= last));
            if together.len() > 1 {
                groups.push(Group { receiver, bytes, flows: together.to_vec() });
            }
            rest = later;
        }
    }
    groups
}

/// Jain's index of the goodputs, and whether it is only an upper bound, because a flow was still open: such a flow
/// had less than it would have had if it had completed at the end. `None` if no flow completed.
fn index(group: &Group<'_>, end_ps: u64) -> Option<(Millionths, bool)> {
    let is_bound = group.flows.iter().any(|flow| flow.fct_ps.is_none());
    let shortest = group.flows.iter().filter_map(|flow| flow.fct_ps).min()?;
    // Sizes are equal, so goodputs are as the inverse of times: 2^32 for the fastest flow.
    let rate = |flow: &&FlowRecord<'_>| {
        let time = flow.fct_ps.unwrap_or_else(|| end_ps.saturating_sub(flow.start_ps));
        (u128::from(shortest) << 32) / u128::from(time.max(1))
    };
    let (sum, squares) = group
        .flows
        .iter()
        .map(rate)
        .fold((0, 0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    let part = u128::from(Millionths::ONE.0).checked_mul(sum)?.checked_mul(sum)?;
    let index = part.checked_div(squares)? / group.flows.len() as u128;
    Some((Millionths(u64::try_from(index).ok()?), is_bound))
}

#[cfg(test)]
mod tests {
    use super::super::flows::tests::flow;
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_others_are_not() {
        let fair = [flow(0, 100, Some(500)), flow(1, 100, Some(500))];
        let text = "Fairness: Jain's index 1.000, of 2 flows of 100 B to host-1.";
        let judged = fairness(&fair, 1_000);
        assert_eq!((judged.level, &*judged.text), (Level::Good, text));
        // Rates of 4 and 1: 25 / (2 x 17).
        let judged = fairness(&[flow(0, 100, Some(100)), flow(1, 100, Some(400))], 1_000);
        assert_eq!(judged.level, Level::Note);
        assert!(judged.text.contains("Jain's index 0.735,"), "{}", judged.text);
    }

    /// Strict priority is not unfair.
    #[test]
    fn other_priorities_and_transports_are_not_compared() {
        let other = FlowRecord { priority: 5, ..flow(1, 100, Some(400)) };
        assert_eq!(fairness(&[flow(0, 100, Some(100)), other], 1_000).level, Level::Unjudged);
        let other = FlowRecord { transport: "tcp".into(), ..flow(1, 100, Some(400)) };
        assert_eq!(fairness(&[flow(0, 100, Some(100)), other], 1_000).level, Level::Unjudged);
    }

    #[test]
    fn a_flow_that_starves_counts() {
        let judged = fairness(&[flow(0, 100, Some(10)), flow(1, 100, None)], 1_000);
        assert_eq!(judged.level, Level::Bad);
        assert!(judged.text.contains("at most 0.510"), "{}", judged.text);
    }

    #[test]
    fn flows_that_do_not_compete_are_not_compared() {
        let mut later = flow(1, 100, Some(500));
        later.start_ps = 6;
        let mut elsewhere = flow(2, 100, Some(500));
        elsewhere.destination = "host-7".into();
        let judged =
            fairness(&[flow(0, 100, Some(500)), later, elsewhere, flow(3, 200, Some(9))], 1_000);
        assert_eq!(judged.level, Level::Unjudged);
        assert!(judged.text.starts_with("Fairness: no two flows"), "{}", judged.text);
    }
}

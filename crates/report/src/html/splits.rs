//! Flows side by side: by class, algorithm, transport and so on.

use std::collections::BTreeMap;

use rocelab_results::FlowRecord;
use serde::Serialize;

use super::flows::{Cdf, Group, looked_at};

/// A way to divide flows: its identifier within the page, its name, and the part of a flow.
type By = (&'static str, &'static str, fn(&FlowRecord<'_>) -> String);

/// All ways. To add one, add a line.
const WAYS: [By; 5] = [
    ("workload", "Workload", |flow| flow.name.to_string()),
    ("transport", "Transport", |flow| flow.transport.to_uppercase()),
    ("class", "Class", |flow| format!("priority {}", flow.priority)),
    ("algorithm", "Algorithm", algorithm),
    ("verb", "Verb", |flow| flow.verb.to_string()),
];

/// More parts than these are not told apart by eye: the ones with the most flows are shown.
const MOST_PARTS: usize = 12;

/// TCP has algorithms of its own, of which one may have the name of one for RDMA.
fn algorithm(flow: &FlowRecord<'_>) -> String {
    let of_tcp = if flow.transport == "tcp" { "TCP " } else { "" };
    format!("{of_tcp}{}", flow.congestion_control)
}

/// The flows of a run, divided in one way.
#[derive(Debug, Serialize)]
pub(crate) struct Split {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// By name; at least two.
    pub(crate) parts: Vec<Part>,
    /// Number of parts that are left out.
    pub(crate) omitted: usize,
}

/// Some flows of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Number of flows that completed.
    pub(crate) flows: u64,
    /// Number of flows that did not complete.
    pub(crate) missing: u64,
    /// As in [`Bucket`](super::flows::Bucket).
    pub(crate) fct: [Option<u64>; 4],
    /// As in [`Bucket`](super::flows::Bucket).
    pub(crate) slowdown: [Option<u64>; 4],
    /// The distribution of completion times (ps).
    pub(crate) fct_cdf: Cdf,
    /// The distribution of slowdowns (millionths).
    pub(crate) slowdown_cdf: Cdf,
}

impl Part {
    fn of((name, mut group): (String, Group)) -> Self {
        Self {
            name,
            flows: group.fct.count(),
            missing: group.fct.missing(),
            fct: group.fct.percentiles(),
            slowdown: group.slowdown.percentiles(),
            fct_cdf: group.fct.cdf(),
            slowdown_cdf: group.slowdown.cdf(),
        }
    }

    fn all(&self) -> u64 {
        self.flows + self.missing
    }
}

/// `flows` that started by the end of the run (ps), in every way in which they are not all alike.
pub(crate) fn splits(flows: &[FlowRecord<'_>], end_ps: u64) -> Vec<Split> {
    WAYS.iter().filter_map(|by| split(by, flows, end_ps)).collect()
}

fn split(&(id, name, part): &By, flows: &[FlowRecord<'_>], end_ps: u64) -> Option<Split> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for flow in looked_at(flows, end_ps) {
        groups.entry(part(flow)).or_default().add(flow, end_ps);
    }
    let mut parts: Vec<Part> = groups.into_iter().map(Part::of).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.all()));
    let omitted = parts.len().saturating_sub(MOST_PARTS);
    parts.truncate(MOST_PARTS);
    parts.sort_by(|one, other| one.name.cmp(&other.name));
    (parts.len() > 1).then_some(Split { id, name, parts, omitted })
}

#[cfg(test)]
mod tests {
    use super::super::flows::tests::flow;
    use super::*;

    #[test]
    fn flows_are_divided_where_they_differ() {
        let mut tcp = flow(1, 100, Some(4_000));
        (tcp.transport, tcp.congestion_control) = ("tcp".into(), "dctcp".into());
        let open = FlowRecord { priority: 0, ..flow(2, 100, None) };
        let splits = splits(&[flow(0, 100, Some(2_000)), tcp, open], 10_000);
        // All flows have the same verb.
        let names: Vec<_> = splits.iter().map(|split| split.name).collect();
        assert_eq!(names, ["Transport", "Class", "Algorithm"]);
        let parts = |split: &Split| -> Vec<_> {
            let part = |part: &Part| (part.name.clone(), part.flows, part.missing);
            split.parts.iter().map(part).collect()
        };
        assert_eq!(parts(&splits[0]), [("RDMA".to_owned(), 1, 1), ("TCP".to_owned(), 1, 0)]);
        let classes = [("priority 0".to_owned(), 0, 1), ("priority 3".to_owned(), 2, 0)];
        assert_eq!(parts(&splits[1]), classes);
        assert_eq!(splits[2].parts[0].name, "TCP dctcp");
        // A single flow has a median and a maximum, and no 99th percentile.
        assert_eq!(splits[0].parts[1].slowdown, [Some(4_000_000), None, None, Some(4_000_000)]);
    }

    #[test]
    fn the_parts_with_the_most_flows_are_kept() {
        let named = |number: u64, name: u64| FlowRecord {
            congestion_control: format!("algorithm-{name:02}").into(),
            ..flow(number, 100, Some(2_000))
        };
        let mut flows: Vec<_> = (0..14).map(|number| named(number, number)).collect();
        flows.push(named(14, 13));
        let split = splits(&flows, 10_000).remove(0);
        assert_eq!((split.id, split.parts.len(), split.omitted), ("algorithm", MOST_PARTS, 2));
        assert_eq!(split.parts.last().map(|part| &*part.name), Some("algorithm-13"));
    }
}

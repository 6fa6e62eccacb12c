//! Compares the ranks of a trace: what would never end, or not fit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::executor::any;
use crate::{ANY, CollectiveKind, Operation, RankGraph, Trace};

/// Something that does not fit, in words that name file, rank, node, peer, tag and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(
    /// The words.
    pub String,
);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All problems, by rank: sends and receives without a counterpart or with another length, and collective operations that
/// differ from rank to rank in kind, size, number or order.
///
/// The order is that in which a rank would begin operations if none took time. Receives of any peer or tag are matched
/// last, which finds a counterpart in all traces but contrived ones.
pub fn check(trace: &Trace) -> Vec<Problem> {
    let orders: Vec<_> = trace.ranks.iter().map(order).collect();
    let mut problems = Vec::new();
    messages(trace, &orders, &mut problems);
    collectives(trace, &orders, &mut problems);
    problems
}

/// The nodes in the order in which they would begin if none took time: of the free ones, the lowest index first.
pub(crate) fn order(graph: &RankGraph) -> Vec<u32> {
    let mut missing = graph.parents.clone();
    let free = (0_u32..).zip(&missing).filter(|(_, missing)| **missing == 0);
    let mut free: BTreeSet<u32> = free.map(|(node, _)| node).collect();
    let mut order = Vec::with_capacity(missing.len());
    while let Some(node) = free.pop_first() {
        order.push(node);
        for &dependant in graph.on_done(node).iter().chain(graph.on_start(node)) {
            let missing = &mut missing[dependant as usize];
            *missing -= 1;
            if *missing == 0 {
                free.insert(dependant);
            }
        }
    }
    order
}

/// A send or receive.
#[derive(Clone, Copy)]
struct Half {
    rank: u32,
    node: u32,
    peer: u32,
    tag: u32,
    bytes: u64,
}

impl Half {
    fn words(&self, trace: &Trace, verb: &str, peer: &str) -> String {
        let Self { rank, node, bytes, .. } = *self;
        let name = trace.name(rank, node);
        format!(
            "{name}: {verb} {bytes} bytes {peer} rank {} with tag {}",
            any(self.peer),
            any(self.tag)
        )
    }
}

fn messages(trace: &Trace, orders: &[Vec<u32>], problems: &mut Vec<Problem>) {
    // Sends by receiver, sender and tag.
    let mut sends: BTreeMap<(u32, u32, u32), VecDeque<Half>> = BTreeMap::new();
    let mut receives = Vec::new();
    for (graph, order) in trace.ranks.iter().zip(orders) {
        for &node in order {
            let rank = graph.rank;
            match graph.nodes[node as usize].operation {
                Operation::Send { peer, tag, bytes } => {
                    let half = Half { rank, node, peer, tag, bytes };
                    sends.entry((peer, rank, tag)).or_default().push_back(half);
                }
                Operation::Receive { peer, tag, bytes } => {
                    receives.push(Half { rank, node, peer, tag, bytes });
                }
                _ => {}
            }
        }
    }
    // Those of one peer and tag first, then those of one of both, then those of any.
    receives.sort_by_key(|half| u8::from(half.peer == ANY) + u8::from(half.tag == ANY));
    for receive in &receives {
        let Some(send) = take(&mut sends, receive) else {
            let words = receive.words(trace, "receives", "from");
            problems.push(Problem(format!("{words}, and no send matches it")));
            continue;
        };
        if send.bytes != receive.bytes {
            let words = receive.words(trace, "receives", "from");
            let other = send.words(trace, "sends", "to");
            problems.push(Problem(format!("{words}, but {other}")));
        }
    }
    for send in sends.values().flatten() {
        let words = send.words(trace, "sends", "to");
        problems.push(Problem(format!("{words}, and no receive matches it")));
    }
}

/// Takes the first send that matches a receive.
fn take(sends: &mut BTreeMap<(u32, u32, u32), VecDeque<Half>>, receive: &Half) -> Option<Half> {
    let Half { rank, peer, tag, .. } = *receive;
    let from = if peer == ANY { 0..=u32::MAX } else { peer..=peer };
    let range = (rank, *from.start(), 0)..=(rank, *from.end(), u32::MAX);
    let mut fitting = sends.range_mut(range).filter(|((.., its), _)| tag == ANY || *its == tag);
    let key = fitting.find(|(_, queue)| !queue.is_empty()).map(|(key, _)| *key)?;
    let queue = sends.get_mut(&key)?;
    let taken = queue.pop_front();
    if queue.is_empty() {
        sends.remove(&key);
    }
    taken
}

/// One rank's part of a collective operation.
#[derive(Clone, Copy)]
struct Part {
    node: u32,
    kind: CollectiveKind,
    bytes: u64,
}

fn collectives(trace: &Trace, orders: &[Vec<u32>], problems: &mut Vec<Problem>) {
    let mut parts: BTreeMap<(u32, u32), Vec<Part>> = BTreeMap::new();
    for (graph, order) in trace.ranks.iter().zip(orders) {
        for &node in order {
            if let Operation::Collective { kind, group, bytes } =
                graph.nodes[node as usize].operation
            {
                parts.entry((group, graph.rank)).or_default().push(Part { node, kind, bytes });
            }
        }
    }
    let groups: BTreeSet<u32> = parts.keys().map(|(group, _)| *group).collect();
    for number in groups {
        let group = &trace.groups[number as usize];
        let Some(&first) = group.ranks.first() else { continue };
        let none = Vec::new();
        let of = |rank: u32| parts.get(&(number, rank)).unwrap_or(&none);
        let expected = of(first);
        for &rank in &group.ranks[1..] {
            if let Some(problem) = differs(trace, (&group.name, first, expected), (rank, of(rank)))
            {
                problems.push(problem);
            }
        }
    }
}

/// The first difference between two ranks of a group.
fn differs(
    trace: &Trace,
    (group, first, expected): (&str, u32, &[Part]),
    (rank, parts): (u32, &[Part]),
) -> Option<Problem> {
    let words = |rank: u32, part: &Part| {
        format!("{}: {} of {} bytes", trace.name(rank, part.node), part.kind, part.bytes)
    };
    for (number, (one, other)) in (1_usize..).zip(expected.iter().zip(parts)) {
        if (one.kind, one.bytes) != (other.kind, other.bytes) {
            let (one, other) = (words(first, one), words(rank, other));
            return Some(Problem(format!(
                "{one} and {other} are both number {number} of group {group}"
            )));
        }
    }
    let common = expected.len().min(parts.len());
    let (longer, shorter, part) = match (expected.get(common), parts.get(common)) {
        (Some(part), _) => (first, rank, part),
        (None, Some(part)) => (rank, first, part),
        (None, None) => return None,
    };
    let number = common + 1;
    let words = words(longer, part);
    Some(Problem(format!(
        "{words} is number {number} of group {group}, in which rank {shorter} has only {common}"
    )))
}

//! What a trace has: counts, bytes, and a lower bound of its time.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_units::{Bandwidth, Bytes, Duration};

use crate::{
    CollectiveKind, Event, Executor, Join, Message, Network, Operation, Rules, Slots, Stall, Trace,
};

/// Counts of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Nodes by the kind of operation.
    pub nodes: BTreeMap<&'static str, u64>,
    /// Of collective operations, by kind and group: how many there are, and the sum of their sizes (bytes). An operation of
    /// many ranks counts once.
    pub collectives: BTreeMap<(CollectiveKind, String), (u64, u64)>,
    /// What is sent by nodes, without collective operations (bytes).
    pub sent: u64,
    /// Computation of the rank that has most of it (ps).
    pub compute_ps: u64,
    /// Dependencies on nodes that are not there, which are ignored.
    pub dangling: u64,
}

/// Counts what a trace has.
pub fn summary(trace: &Trace) -> Summary {
    let mut summary = Summary::default();
    for graph in trace.ranks() {
        summary.dangling += graph.dangling;
        let mut compute: u64 = 0;
        for node in &graph.nodes {
            *summary.nodes.entry(node.operation.name()).or_insert(0) += 1;
            match node.operation {
                Operation::Compute { duration_ps } => compute = compute.saturating_add(duration_ps),
                Operation::Send { bytes, .. } => summary.sent = summary.sent.saturating_add(bytes),
                Operation::Collective { kind, group, bytes } => {
                    let group = &trace.groups[group as usize];
                    // Counted where the first rank of the group takes part.
                    if group.ranks.first() == Some(&graph.rank) {
                        let key = (kind, group.name.clone());
                        let (count, sum) = summary.collectives.entry(key).or_insert((0, 0));
                        *count += 1;
                        *sum = sum.saturating_add(bytes);
                    }
                }
                _ => {}
            }
        }
        summary.compute_ps = summary.compute_ps.max(compute);
    }
    summary
}

/// A time that no network and no algorithm can beat (ps): the longest chain of computation, messages and collective
/// operations. With a `rate` of all ports of a rank together, data takes the time for the bytes that a rank must send at
/// least; without, none. Engines and latencies cost nothing. In-switch reductions may send less than is supposed.
///
/// # Errors If the trace cannot end, even so.
pub fn lower_bound(trace: &Trace, rate: Option<Bandwidth>) -> Result<u64, Stall> {
    let rules = Rules {
        slots: Slots::UNLIMITED,
        least_compute_ps: 0,
        reduce_ps_per_byte: 0,
        copy_ps_per_byte: 0,
    };
    let network = Ideal { rate, events: BTreeMap::new(), count: 0, operations: BTreeMap::new() };
    let rows = Executor::new(trace, rules, network).run()?;
    Ok(rows.iter().map(|row| row.end_ps).max().unwrap_or(0))
}

/// A network without latency, in which nothing waits for anything else.
#[derive(Debug)]
struct Ideal {
    rate: Option<Bandwidth>,
    /// By time, and the order in which they were made.
    events: BTreeMap<(u64, u64), Event>,
    count: u64,
    operations: BTreeMap<u32, Joined>,
}

/// Ranks that have joined an operation.
#[derive(Debug, Default)]
struct Joined {
    ranks: BTreeSet<u32>,
    /// Those that were told that it is over.
    over: BTreeSet<u32>,
}

impl Ideal {
    fn push(&mut self, time: u64, event: Event) {
        self.events.insert((time, self.count), event);
        self.count += 1;
    }

    fn time(&self, bytes: u64) -> u64 {
        let time = |rate: Bandwidth| rate.transmission_time(Bytes::new(bytes));
        self.rate.map_or(Duration::ZERO, time).ps()
    }
}

impl Network for Ideal {
    fn message(&mut self, now: u64, message: Message) {
        let Message { token, bytes, .. } = message;
        self.push(now, Event::Sent { token });
        self.push(now.saturating_add(self.time(bytes)), Event::Arrived { token });
    }

    fn join(&mut self, now: u64, join: Join<'_>) {
        let Join { token, rank, group, kind, bytes } = join;
        let time = self.time(kind.least_sent(bytes, group.ranks.len() as u64));
        let root = group.ranks.first().copied();
        let joined = self.operations.entry(token).or_default();
        joined.ranks.insert(rank);
        let is_complete = joined.ranks.len() == group.ranks.len();
        // Whether a rank can have all that it waits for, once these ranks have joined.
        let ranks = &joined.ranks;
        let may_end = |rank: u32| match kind {
            CollectiveKind::Broadcast => root.is_some_and(|root| ranks.contains(&root)),
            CollectiveKind::Reduce => is_complete || Some(rank) != root,
            _ => is_complete,
        };
        let ends: Vec<_> =
            ranks.difference(&joined.over).copied().filter(|rank| may_end(*rank)).collect();
        joined.over.extend(&ends);
        for rank in ends {
            // A rank that only waits for itself has sent nothing yet when others have.
            let time =
                if matches!(kind, CollectiveKind::Reduce) && Some(rank) != root { 0 } else { time };
            self.push(now.saturating_add(time), Event::Over { token, rank });
        }
    }

    fn next(&mut self) -> Option<u64> {
        self.events.first_key_value().map(|((time, _), _)| *time)
    }

    fn advance(&mut self, now: u64, events: &mut Vec<Event>) {
        while let Some(entry) = self.events.first_entry()
            && entry.key().0 <= now
        {
            events.push(entry.remove());
        }
    }
}

//! Collective operations as messages.

use std::collections::BTreeMap;

use crate::check::order;
use crate::{
    ANY, CollectiveKind, Engine, Group, Label, Node, Operation, RankBuilder, RankGraph, Reference,
    Trace, TraceError,
};

/// How a collective operation is cut into messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Blocks go round a ring; all-to-all goes directly from rank to rank, one after the other.
    Ring,
    /// Each block goes directly from rank to rank, all at once.
    Direct,
}

/// A message of a rank in one step, and what it needs. Ranks are numbers in the group.
#[derive(Clone, Copy)]
struct Step {
    /// Who gets a message, and its length (bytes).
    sends: Option<(u32, u64)>,
    /// Who sends one to this rank, and its length (bytes).
    receives: Option<(u32, u64)>,
    /// Whether what arrives is added to what is there.
    reduces: bool,
    waits: Waits,
}

/// What the message of a step waits for.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    Nothing,
    /// What arrived in the step before.
    Last,
    /// All that arrived before.
    All,
}

/// A trace in which all collective operations are messages. Block k of n has floor(S/n) + (k < S mod n) bytes. Broadcast and
/// reduce go along a chain from and to the group's first rank; a barrier is messages without bytes to the ranks 1, 2, 4 and so
/// on behind (dissemination). Reductions are nodes of their own.
///
/// The node of the operation becomes a marker that is done when the operation is.
///
/// # Errors If there are not enough tags, which begin above those of the trace, or more than 2^25 messages.
pub fn expand(trace: &Trace, algorithm: Algorithm) -> Result<Trace, TraceError> {
    limit(trace)?;
    let mut tags = Tags::new(trace);
    let ranks = trace.ranks.iter().map(|graph| rank(trace, graph, algorithm, &mut tags));
    Ok(Trace { groups: trace.groups.clone(), ranks: ranks.collect::<Result<_, _>>()? })
}

/// Messages of all ranks that are made at most.
const MOST_MESSAGES: u64 = 1 << 25;

/// Refuses a trace whose collective operations have more messages.
fn limit(trace: &Trace) -> Result<(), TraceError> {
    let mut messages = 0_u64;
    for graph in &trace.ranks {
        for node in &graph.nodes {
            if let Operation::Collective { kind, group, .. } = node.operation {
                let others = trace.groups[group as usize].ranks.len() as u64;
                let phases = if kind == CollectiveKind::AllReduce { 2 } else { 1 };
                messages = messages.saturating_add(phases * others);
            }
        }
        if messages > MOST_MESSAGES {
            let message =
                format!("its collective operations have more than {MOST_MESSAGES} messages");
            return Err(TraceError::new(&graph.source, message, "use a trace of fewer ranks"));
        }
    }
    Ok(())
}

/// Tags that the trace itself does not use: one for each step of each operation of a group.
struct Tags {
    next: u64,
    /// The first tag of an operation, by group and number in the group.
    first: BTreeMap<(u32, u32), u64>,
}

impl Tags {
    fn new(trace: &Trace) -> Self {
        let nodes = trace.ranks.iter().flat_map(|graph| &graph.nodes);
        let used = nodes.filter_map(|node| match node.operation {
            Operation::Send { tag, .. } => Some(tag),
            Operation::Receive { tag, .. } if tag != ANY => Some(tag),
            _ => None,
        });
        Self { next: used.max().map_or(0, |tag| u64::from(tag) + 1), first: BTreeMap::new() }
    }

    /// The tag of the first step of an operation of so many steps.
    fn of(&mut self, group: u32, number: u32, steps: usize) -> u64 {
        let next = &mut self.next;
        *self.first.entry((group, number)).or_insert_with(|| {
            let first = *next;
            *next += steps as u64;
            first
        })
    }
}

fn rank(
    trace: &Trace,
    graph: &RankGraph,
    algorithm: Algorithm,
    tags: &mut Tags,
) -> Result<RankGraph, TraceError> {
    let mut builder = RankBuilder::new(graph.rank, &graph.source);
    for (node, label) in graph.nodes.iter().zip(&graph.labels) {
        let node = match node.operation {
            Operation::Collective { .. } => {
                Node { operation: Operation::Marker, engine: Engine::Unlimited, ..*node }
            }
            _ => *node,
        };
        builder.node(node, label.clone())?;
    }
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    // What the dependencies of a collective operation lead to instead.
    let mut begins: BTreeMap<u32, u32> = BTreeMap::new();
    for node in order(graph) {
        let Operation::Collective { kind, group, bytes } = graph.nodes[node as usize].operation
        else {
            continue;
        };
        let number = numbers.entry(group).or_insert(0);
        let steps = steps(&trace.groups[group as usize], graph.rank, kind, bytes, algorithm);
        let first = tags.of(group, *number, steps.len());
        *number += 1;
        let mut part =
            Part { builder: &mut builder, graph, node, group: &trace.groups[group as usize] };
        begins.insert(node, part.add(&steps, first)?);
    }
    for parent in 0..u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX) {
        let place = |node: &u32| begins.get(node).copied().unwrap_or(*node);
        for dependant in graph.on_done(parent) {
            builder.wait(place(dependant), parent, Reference::Done);
        }
        for dependant in graph.on_start(parent) {
            let started = begins.get(&parent).copied().unwrap_or(parent);
            builder.wait(place(dependant), started, Reference::Started);
        }
    }
    builder.finish()
}

/// The messages of one collective operation of one rank.
struct Part<'a> {
    builder: &'a mut RankBuilder,
    graph: &'a RankGraph,
    node: u32,
    group: &'a Group,
}

impl Part<'_> {
    /// Adds the nodes of all steps; that with which they begin.
    fn add(&mut self, steps: &[Step], first_tag: u64) -> Result<u32, TraceError> {
        let begin = self.push(Operation::Marker, "begins")?;
        self.builder.wait(self.node, begin, Reference::Done);
        // What arrived in the step before, in all steps, and a marker that waits for the latter.
        let (mut last, mut all, mut gathered) = (begin, Vec::new(), None);
        for (number, step) in steps.iter().enumerate() {
            let tag = u32::try_from(first_tag + number as u64).ok().filter(|tag| *tag != ANY);
            let tag = tag.ok_or_else(|| {
                let message = "there are more messages of collective operations than tags";
                TraceError::new(&self.graph.source, message, "use lower tags, or a shorter trace")
            })?;
            let before = match step.waits {
                Waits::Nothing => begin,
                Waits::Last => last,
                Waits::All => match gathered {
                    Some(gathered) => gathered,
                    None => *gathered.insert(self.gather(&all)?),
                },
            };
            if let Some((to, bytes)) = step.sends {
                let send = Operation::Send { peer: self.group.ranks[to as usize], tag, bytes };
                let send = self.push(send, &format!("sends in step {number}"))?;
                self.builder.wait(send, before, Reference::Done);
                self.builder.wait(self.node, send, Reference::Done);
            }
            let Some((from, bytes)) = step.receives else { continue };
            let receive = Operation::Receive { peer: self.group.ranks[from as usize], tag, bytes };
            let receive = self.push(receive, &format!("receives in step {number}"))?;
            self.builder.wait(receive, begin, Reference::Done);
            last = receive;
            if step.reduces {
                last =
                    self.push(Operation::Reduce { bytes }, &format!("reduces in step {number}"))?;
                self.builder.wait(last, receive, Reference::Done);
            }
            all.push(last);
            self.builder.wait(self.node, last, Reference::Done);
        }
        Ok(begin)
    }

    /// A marker that waits for nodes.
    fn gather(&mut self, nodes: &[u32]) -> Result<u32, TraceError> {
        let marker = self.push(Operation::Marker, "has all blocks")?;
        for &node in nodes {
            self.builder.wait(marker, node, Reference::Done);
        }
        Ok(marker)
    }

    fn push(&mut self, operation: Operation, what: &str) -> Result<u32, TraceError> {
        let Label { id, name } = self.builder.label(self.node);
        let label = Label { id: *id, name: format!("{name} {what}").into() };
        let Node { cpu, nic, .. } = self.graph.nodes[self.node as usize];
        self.builder.node(Node { operation, engine: Engine::Unlimited, cpu, nic }, label)
    }
}

/// The steps of a rank. Those of all ranks of a group have the same numbers.
fn steps(
    group: &Group,
    rank: u32,
    kind: CollectiveKind,
    bytes: u64,
    algorithm: Algorithm,
) -> Vec<Step> {
    let ranks = u32::try_from(group.ranks.len()).unwrap_or(u32::MAX);
    let number = group.ranks.iter().position(|one| *one == rank).unwrap_or(0);
    let cut = Cut { ranks, number: u32::try_from(number).unwrap_or(0), bytes };
    if ranks < 2 {
        return Vec::new();
    }
    match (kind, algorithm) {
        (CollectiveKind::AllReduce, Algorithm::Ring) => {
            cut.ring_reduce_scatter().chain(cut.ring_all_gather(Waits::Last)).collect()
        }
        (CollectiveKind::AllReduce, Algorithm::Direct) => {
            cut.direct_reduce_scatter().chain(cut.direct_all_gather(Waits::All)).collect()
        }
        (CollectiveKind::ReduceScatter, Algorithm::Ring) => cut.ring_reduce_scatter().collect(),
        (CollectiveKind::ReduceScatter, Algorithm::Direct) => cut.direct_reduce_scatter().collect(),
        (CollectiveKind::AllGather, Algorithm::Ring) => {
            cut.ring_all_gather(Waits::Nothing).collect()
        }
        (CollectiveKind::AllGather, Algorithm::Direct) => {
            cut.direct_all_gather(Waits::Nothing).collect()
        }
        (CollectiveKind::AllToAll, Algorithm::Ring) => cut.all_to_all(Waits::Last).collect(),
        (CollectiveKind::AllToAll, Algorithm::Direct) => cut.all_to_all(Waits::Nothing).collect(),
        (CollectiveKind::Broadcast, _) => cut.chain(false).collect(),
        (CollectiveKind::Reduce, _) => cut.chain(true).collect(),
        (CollectiveKind::Barrier, _) => cut.dissemination().collect(),
    }
}

/// A buffer that is cut into a block for each rank, seen from one rank.
#[derive(Clone, Copy)]
struct Cut {
    ranks: u32,
    number: u32,
    bytes: u64,
}

impl Cut {
    /// The rank so many places behind, round the group.
    fn behind(self, places: u32) -> u32 {
        let place = (u64::from(self.number) + u64::from(places)) % u64::from(self.ranks);
        u32::try_from(place).unwrap_or(0)
    }

    /// The rank so many places before.
    fn before(self, places: u32) -> u32 {
        self.behind(self.ranks - places % self.ranks)
    }

    /// The length of a block (bytes).
    fn block(self, block: u32) -> u64 {
        let ranks = u64::from(self.ranks);
        self.bytes / ranks + u64::from(u64::from(block) < self.bytes % ranks)
    }

    fn ring_reduce_scatter(self) -> impl Iterator<Item = Step> {
        (0..self.ranks - 1).map(move |step| Step {
            sends: Some((self.behind(1), self.block(self.before(step + 1)))),
            receives: Some((self.before(1), self.block(self.before(step + 2)))),
            reduces: true,
            waits: if step == 0 { Waits::Nothing } else { Waits::Last },
        })
    }

    fn ring_all_gather(self, first: Waits) -> impl Iterator<Item = Step> {
        (0..self.ranks - 1).map(move |step| Step {
            sends: Some((self.behind(1), self.block(self.before(step)))),
            receives: Some((self.before(1), self.block(self.before(step + 1)))),
            reduces: false,
            waits: if step == 0 { first } else { Waits::Last },
        })
    }

    fn direct_reduce_scatter(self) -> impl Iterator<Item = Step> {
        (1..self.ranks).map(move |step| Step {
            sends: Some((self.behind(step), self.block(self.behind(step)))),
            receives: Some((self.before(step), self.block(self.number))),
            reduces: true,
            waits: Waits::Nothing,
        })
    }

    fn direct_all_gather(self, waits: Waits) -> impl Iterator<Item = Step> {
        (1..self.ranks).map(move |step| Step {
            sends: Some((self.behind(step), self.block(self.number))),
            receives: Some((self.before(step), self.block(self.before(step)))),
            reduces: false,
            waits,
        })
    }

    fn all_to_all(self, waits: Waits) -> impl Iterator<Item = Step> {
        self.direct_reduce_scatter().map(move |step| Step { reduces: false, waits, ..step })
    }

    /// A chain from the first rank to the last one, or back.
    fn chain(self, is_back: bool) -> impl Iterator<Item = Step> {
        let Self { ranks, number, bytes } = self;
        let rank = move |place: u32| if is_back { ranks - 1 - place } else { place };
        (0..ranks - 1).map(move |step| Step {
            sends: (rank(step) == number).then(|| (rank(step + 1), bytes)),
            receives: (rank(step + 1) == number).then(|| (rank(step), bytes)),
            reduces: is_back,
            waits: Waits::Last,
        })
    }

    fn dissemination(self) -> impl Iterator<Item = Step> {
        let distances = (0..32).map(|power| 1_u32 << power);
        distances.take_while(move |distance| *distance < self.ranks).map(move |distance| Step {
            sends: Some((self.behind(distance), 0)),
            receives: Some((self.before(distance), 0)),
            reduces: false,
            waits: Waits::Last,
        })
    }
}

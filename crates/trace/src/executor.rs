//! Runs all ranks over a network.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use crate::{CollectiveKind, Group, Matched, Matching, Operation, Scheduler, Slots, Trace};

/// A message that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What its events name.
    pub token: u32,
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Its length (bytes).
    pub bytes: u64,
}

/// A rank that begins its part of a collective operation.
#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    /// What its events name, the same for all ranks of the operation.
    pub token: u32,
    /// The rank.
    pub rank: u32,
    /// The group that carries the operation out.
    pub group: &'a Group,
    /// What is done.
    pub kind: CollectiveKind,
    /// The size in the meaning of nccl-tests (bytes).
    pub bytes: u64,
}

/// What a network tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The sender of a message is done with it.
    Sent {
        /// The message.
        token: u32,
    },
    /// A message has arrived.
    Arrived {
        /// The message.
        token: u32,
    },
    /// A rank's part of a collective operation is over.
    Over {
        /// The operation.
        token: u32,
        /// The rank.
        rank: u32,
    },
}

/// What carries messages and collective operations. Times are picoseconds from the start.
pub trait Network {
    /// Begins a message at `now`.
    fn message(&mut self, now: u64, message: Message);

    /// Has a rank begin its part of a collective operation at `now`.
    fn join(&mut self, now: u64, join: Join<'_>);

    /// When something happens next; `None` if nothing does before more begins.
    fn next(&mut self) -> Option<u64>;

    /// Goes on to `now`, the time that [`next`](Self::next) gave, and adds what happens then to `events`, in its order.
    fn advance(&mut self, now: u64, events: &mut Vec<Event>);
}

/// How ranks carry out what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How much each engine does at once.
    pub slots: Slots,
    /// What a computation takes at least (ps).
    pub least_compute_ps: u64,
    /// What a reduction takes for a byte (ps).
    pub reduce_ps_per_byte: u64,
    /// What a copy takes for a byte (ps).
    pub copy_ps_per_byte: u64,
}

impl Rules {
    /// Those of ASTRA-sim: an operation on each engine, and a computation of no duration takes 1 ns. Reductions outside
    /// collective operations and copies are not in its traces.
    pub const ASTRA: Self = Self {
        slots: Slots::ASTRA,
        least_compute_ps: 1_000,
        reduce_ps_per_byte: 0,
        copy_ps_per_byte: 0,
    };
}

/// When a node began, and when it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rank.
    pub rank: u32,
    /// The node.
    pub node: u32,
    /// When it began (ps).
    pub begin_ps: u64,
    /// When it was done (ps).
    pub end_ps: u64,
}

/// What did not end, in words: nodes that wait for a message, or for other ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall(pub Vec<String>);

impl std::fmt::Display for Stall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "nothing happens any more: {}", self.0.join("; "))
    }
}

impl std::error::Error for Stall {}

/// Runs all ranks of a trace over a network, by itself and always in the same way.
#[derive(Debug)]
pub struct Executor<'a, N> {
    trace: &'a Trace,
    rules: Rules,
    network: N,
    schedulers: Vec<Scheduler>,
    matching: Vec<Matching>,
    /// Computations that go on: (end, order of their start, rank, node).
    computations: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    /// The rank, node, peer and tag of each message, by its token.
    messages: Vec<(u32, u32, u32, u32)>,
    collectives: Collectives,
    rows: Vec<Row>,
    /// When each node of each rank began.
    begun: Vec<Vec<u64>>,
    count: u64,
}

/// Which nodes are one collective operation: the first of each rank in a group, the second, and so on.
#[derive(Debug, Default)]
struct Collectives {
    /// How many operations of a group a rank began, by group and rank.
    begun: BTreeMap<(u32, u32), u32>,
    /// The token of an operation, by group and number.
    tokens: BTreeMap<(u32, u32), u32>,
    /// The node of each rank in an operation, by token and rank.
    nodes: BTreeMap<(u32, u32), u32>,
}

impl Collectives {
    fn join(&mut self, group: u32, rank: u32, node: u32) -> u32 {
        let number = self.begun.entry((group, rank)).or_insert(0);
        let key = (group, *number);
        *number += 1;
        let next = u32::try_from(self.tokens.len()).unwrap_or(u32::MAX);
        let token = *self.tokens.entry(key).or_insert(next);
        self.nodes.insert((token, rank), node);
        token
    }
}

impl<'a, N: Network> Executor<'a, N> {
    /// Of a trace and a network; nothing has begun.
    pub fn new(trace: &'a Trace, rules: Rules, network: N) -> Self {
        let scheduler =
            |graph: &crate::RankGraph| Scheduler::new(Arc::new(graph.clone()), rules.slots);
        Self {
            trace,
            rules,
            network,
            schedulers: trace.ranks.iter().map(scheduler).collect(),
            matching: vec![Matching::default(); trace.ranks.len()],
            computations: BinaryHeap::new(),
            messages: Vec::new(),
            collectives: Collectives::default(),
            rows: Vec::new(),
            begun: trace.ranks.iter().map(|graph| vec![0; graph.nodes.len()]).collect(),
            count: 0,
        }
    }

    /// Runs until all ranks are over: when each node began and was done, in the order of their ends.
    ///
    /// # Errors If nodes are left that nothing can end.
    pub fn run(mut self) -> Result<Vec<Row>, Stall> {
        let mut begin = Vec::new();
        for rank in 0..self.schedulers.len() {
            self.schedulers[rank].start(&mut begin);
            self.begin(0, index(rank), &mut begin);
        }
        let mut events = Vec::new();
        loop {
            let computed = self.computations.peek().map(|Reverse((end, ..))| *end);
            let network = self.network.next();
            let Some(now) = [computed, network].into_iter().flatten().min() else { break };
            if computed == Some(now) {
                if let Some(Reverse((_, _, rank, node))) = self.computations.pop() {
                    self.done(now, rank, node);
                }
                continue;
            }
            self.network.advance(now, &mut events);
            for event in std::mem::take(&mut events) {
                self.handle(now, event);
            }
        }
        if self.schedulers.iter().all(Scheduler::is_over) {
            return Ok(self.rows);
        }
        Err(self.stall())
    }

    fn handle(&mut self, now: u64, event: Event) {
        match event {
            Event::Sent { token } => {
                let (rank, node, ..) = self.messages[token as usize];
                self.done(now, rank, node);
            }
            Event::Arrived { token } => {
                let (from, _, to, tag) = self.messages[token as usize];
                if let Some(Matched(node)) = self.matching[to as usize].arrive(from, tag, token) {
                    self.done(now, to, node);
                }
            }
            Event::Over { token, rank } => {
                if let Some(&node) = self.collectives.nodes.get(&(token, rank)) {
                    self.done(now, rank, node);
                }
            }
        }
    }

    fn done(&mut self, now: u64, rank: u32, node: u32) {
        let begin_ps = self.begun[rank as usize][node as usize];
        self.rows.push(Row { rank, node, begin_ps, end_ps: now });
        let mut begin = Vec::new();
        self.schedulers[rank as usize].done(node, &mut begin);
        self.begin(now, rank, &mut begin);
    }

    /// Begins nodes, and those that wait for them to start.
    fn begin(&mut self, now: u64, rank: u32, nodes: &mut Vec<u32>) {
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            self.begun[rank as usize][node as usize] = now;
            self.schedulers[rank as usize].started(node, nodes);
            self.carry_out(now, rank, node);
        }
        nodes.clear();
    }

    fn carry_out(&mut self, now: u64, rank: u32, node: u32) {
        let trace = self.trace;
        match trace.ranks[rank as usize].nodes[node as usize].operation {
            Operation::Marker => self.compute(now, rank, node, 0),
            Operation::Compute { duration_ps } => {
                let duration = duration_ps.max(self.rules.least_compute_ps);
                self.compute(now, rank, node, duration);
            }
            Operation::Reduce { bytes } => {
                let duration = bytes.saturating_mul(self.rules.reduce_ps_per_byte);
                self.compute(now, rank, node, duration);
            }
            Operation::Copy { bytes } => {
                let duration = bytes.saturating_mul(self.rules.copy_ps_per_byte);
                self.compute(now, rank, node, duration);
            }
            Operation::Send { peer, tag, bytes } => {
                let token = index(self.messages.len());
                self.messages.push((rank, node, peer, tag));
                self.network.message(now, Message { token, from: rank, to: peer, bytes });
            }
            Operation::Receive { peer, tag, .. } => {
                if self.matching[rank as usize].receive(peer, tag, node).is_some() {
                    // It has arrived before: the receive is over at once, but not within this call.
                    self.compute(now, rank, node, 0);
                }
            }
            Operation::Collective { kind, group, bytes } => {
                let token = self.collectives.join(group, rank, node);
                let group = &trace.groups[group as usize];
                self.network.join(now, Join { token, rank, group, kind, bytes });
            }
        }
    }

    fn compute(&mut self, now: u64, rank: u32, node: u32, duration: u64) {
        self.count += 1;
        let end = now.saturating_add(duration);
        self.computations.push(Reverse((end, self.count, rank, node)));
    }

    /// Names what waits: receives, messages that nobody receives, and collective operations.
    fn stall(&self) -> Stall {
        let mut words = Vec::new();
        for (rank, matching) in self.matching.iter().enumerate() {
            let rank = index(rank);
            words.extend(matching.waiting().map(|(peer, tag, node)| {
                let name = self.trace.name(rank, node);
                format!("{name} waits for a message from {} with tag {}", any(peer), any(tag))
            }));
            words.extend(matching.unexpected().map(|(_, _, token)| {
                let (from, node, to, tag) = self.messages[token as usize];
                format!(
                    "{} was received by nobody on rank {to} (tag {tag})",
                    self.trace.name(from, node)
                )
            }));
        }
        for (&(group, number), token) in &self.collectives.tokens {
            let group = &self.trace.groups[group as usize];
            let missing: Vec<_> = group
                .ranks
                .iter()
                .filter(|rank| !self.collectives.nodes.contains_key(&(*token, **rank)))
                .map(u32::to_string)
                .collect();
            let joined = self.collectives.nodes.range((*token, 0)..=(*token, u32::MAX)).next();
            if let (false, Some((&(_, rank), &node))) = (missing.is_empty(), joined) {
                words.push(format!(
                    "{} (number {number} of group {}) waits for ranks {}",
                    self.trace.name(rank, node),
                    group.name,
                    missing.join(", ")
                ));
            }
        }
        if words.is_empty() {
            let left: u64 = self.schedulers.iter().map(|one| u64::from(one.left())).sum();
            words.push(format!("{left} nodes are left, of which the network told nothing"));
        }
        Stall(words)
    }
}

/// A number that is [`ANY`](crate::ANY), in words.
pub(crate) fn any(number: u32) -> String {
    if number == crate::ANY { "any".to_owned() } else { number.to_string() }
}

/// Of lists that have at most 2^32-1 entries.
fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

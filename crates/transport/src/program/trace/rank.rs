//! One rank of a trace.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_trace::{ANY, CollectiveKind, Matched, Matching, Operation, Scheduler, Slots};
use rocelab_units::{Bandwidth, Bytes, Duration};

use super::tag::{OperationNumber, Slot, Tag};
use super::work::Work;
use crate::program::exchange::{Ask, Asks, Exchange, Part, READY_BYTES};
use crate::program::{Completed, End, Message, Over, Posts, Program, Verb};

/// One rank of a trace.
#[derive(Debug)]
pub(super) struct Rank {
    work: Arc<Work>,
    rank: u32,
    iterations: u64,
    /// How fast it adds buffers up; `None`: in no time.
    reduce_rate: Option<Bandwidth>,
    /// The member with whose connection its iterations are shown.
    shown_with: u32,
    /// Its part in each class of collective operations.
    parts: BTreeMap<u32, Part>,
    scheduler: Scheduler,
    matching: Matching,
    progress: Progress,
    /// Nodes that begin, and nodes that are done; empty between calls.
    begin: VecDeque<u32>,
    done: VecDeque<u32>,
    asks: Asks,
}

/// What of a rank is saved in checkpoints, beside nodes and receives.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Progress {
    /// The present iteration.
    iteration: u32,
    is_open: bool,
    /// Nodes whose messages are posted and not completed, by receiver and tag, in their order.
    sending: BTreeMap<(u32, u32), VecDeque<u32>>,
    /// Messages of later iterations, by iteration: sender and tag, in the order of their arrival.
    later: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Collective operations that have begun here, by class, over all iterations.
    begun: BTreeMap<u32, u64>,
    /// Those of which something has happened here, and which are not done.
    open: BTreeMap<OperationNumber, Open>,
}

/// A collective operation that is not done here.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Open {
    /// The node; `None` while it has not begun here.
    node: Option<u32>,
    exchange: Exchange,
}

rocelab_state::state!(Rank {
    values: progress;
    states: scheduler, matching;
    kept: work, rank, iterations, reduce_rate, shown_with, parts, begin, done, asks
});

impl Rank {
    /// A rank before the start.
    pub(super) fn new(
        work: Arc<Work>,
        rank: u32,
        iterations: u64,
        reduce_rate: Option<Bandwidth>,
    ) -> Self {
        // Messages of GOAL are on no engine, so these slots are its processors there.
        let scheduler = Scheduler::new(Arc::clone(&work.graphs[rank as usize]), Slots::ASTRA);
        Self {
            shown_with: work.pairs.first_of(rank).unwrap_or(rank),
            parts: work.parts(rank),
            rank,
            iterations,
            reduce_rate,
            scheduler,
            matching: Matching::default(),
            progress: Progress::default(),
            begin: VecDeque::new(),
            done: VecDeque::new(),
            asks: Asks::default(),
            work,
        }
    }

    /// Begins and ends nodes, and iterations, as far as that goes now.
    fn go_on(&mut self, posts: &mut Posts<'_>) {
        let mut next = Vec::new();
        loop {
            if let Some(node) = self.begin.pop_front() {
                self.scheduler.started(node, &mut next);
                self.carry_out(node, posts);
            } else if let Some(node) = self.done.pop_front() {
                self.scheduler.done(node, &mut next);
            } else if self.progress.is_open && self.scheduler.is_over() {
                self.end_iteration(posts);
            } else {
                return;
            }
            self.begin.extend(next.drain(..));
        }
    }

    fn begin_iteration(&mut self, posts: &mut Posts<'_>) {
        let progress = &mut self.progress;
        progress.is_open = true;
        posts.begin(self.shown_with, progress.iteration.into());
        // No receive is posted yet, so all of them wait.
        for (from, tag) in progress.later.remove(&progress.iteration).unwrap_or_default() {
            self.matching.arrive(from, tag, 0);
        }
        let mut first = Vec::new();
        self.scheduler.reset();
        self.scheduler.start(&mut first);
        self.begin.extend(first);
    }

    fn end_iteration(&mut self, posts: &mut Posts<'_>) {
        let progress = &mut self.progress;
        posts.end(progress.iteration.into());
        progress.is_open = false;
        progress.iteration += 1;
        if u64::from(progress.iteration) < self.iterations {
            self.begin_iteration(posts);
        }
    }

    fn carry_out(&mut self, node: u32, posts: &mut Posts<'_>) {
        match self.scheduler.graph().nodes()[node as usize].operation {
            Operation::Marker | Operation::Copy { .. } => self.done.push_back(node),
            Operation::Compute { duration_ps } => {
                self.wait(node, Duration::from_ps(duration_ps), posts);
            }
            Operation::Reduce { bytes } => {
                let rate = self.reduce_rate;
                let time = rate.map(|rate| rate.transmission_time(Bytes::new(bytes)));
                self.wait(node, time.unwrap_or(Duration::ZERO), posts);
            }
            Operation::Send { peer, tag, bytes } => self.send(node, (peer, tag, bytes), posts),
            Operation::Receive { peer, tag, .. } => {
                if self.matching.receive(peer, tag, node).is_some() {
                    self.done.push_back(node);
                }
            }
            Operation::Collective { kind, group, bytes } => {
                self.join(node, (group, kind, bytes), posts);
            }
        }
    }

    /// The node takes its time.
    fn wait(&mut self, node: u32, time: Duration, posts: &mut Posts<'_>) {
        if time == Duration::ZERO {
            return self.done.push_back(node);
        }
        posts.wait(time, self.work.layout.encode(Tag::Message { iteration: 0, tag: node }));
    }

    fn send(&mut self, node: u32, (to, tag, bytes): (u32, u32, u64), posts: &mut Posts<'_>) {
        if to == self.rank {
            self.hear(to, tag);
            return self.done.push_back(node);
        }
        self.progress.sending.entry((to, tag)).or_default().push_back(node);
        let number = self.work.queue_pair_of_messages((self.rank, to));
        let tag = Tag::Message { iteration: self.progress.iteration, tag };
        // Longer messages are refused as the trace is read.
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let over = Over { to, number, end: End::Client };
        posts.post_over(over, Verb::WriteWithImmediate, bytes, self.work.layout.encode(tag));
    }

    /// A message of this iteration has arrived.
    fn hear(&mut self, from: u32, tag: u32) {
        if let Some(Matched(receive)) = self.matching.arrive(from, tag, 0) {
            self.done.push_back(receive);
        }
    }

    /// Begins its part of a collective operation.
    fn join(
        &mut self,
        node: u32,
        (group, kind, bytes): (u32, CollectiveKind, u64),
        posts: &mut Posts<'_>,
    ) {
        let Some(class) = self.work.class(group, kind, bytes) else {
            return self.done.push_back(node);
        };
        let begun = self.progress.begun.entry(class).or_default();
        let operation = OperationNumber { class, number: *begun };
        *begun += 1;
        let open = self.progress.open.entry(operation).or_default();
        open.node = Some(node);
        self.exchange(operation, posts, |exchange, part, asks| exchange.begin(part, asks));
    }

    /// Has something happen in a collective operation, does what follows, and ends it if it is done.
    fn exchange(
        &mut self,
        operation: OperationNumber,
        posts: &mut Posts<'_>,
        happen: impl FnOnce(&mut Exchange, &Part, &mut Asks),
    ) {
        let Some(part) = self.parts.get(&operation.class) else { return };
        let open = self.progress.open.entry(operation).or_default();
        happen(&mut open.exchange, part, &mut self.asks);
        let is_done = open.exchange.is_done();
        let node = open.node.filter(|_| is_done);
        let mut list = std::mem::take(&mut self.asks.list);
        for ask in list.drain(..) {
            self.fulfil(operation, ask, posts);
        }
        self.asks.list = list;
        if let Some(node) = node {
            self.progress.open.remove(&operation);
            self.done.push_back(node);
        }
    }

    fn fulfil(&self, operation: OperationNumber, ask: Ask, posts: &mut Posts<'_>) {
        let layout = self.work.layout;
        let ranks = &self.work.groups[self.group(operation)].ranks;
        let slot = |lane, sequence| Slot { operation, lane, sequence };
        let (over, bytes, tag) = match ask {
            Ask::Data { to, lane, number: sequence, bytes, queue_pair: number } => {
                let over = Over { to: ranks[to as usize], number, end: End::Client };
                (over, bytes, Tag::Data(slot(lane, sequence)))
            }
            Ask::Ready { to, lane, number: sequence, queue_pair: number } => {
                let over = Over { to: ranks[to as usize], number, end: End::Server };
                (over, READY_BYTES, Tag::Ready(slot(lane, sequence)))
            }
            Ask::Reduce { lane, time } => {
                return posts.wait(time, layout.encode(Tag::Data(slot(lane, 0))));
            }
        };
        posts.post_over(over, Verb::WriteWithImmediate, bytes, layout.encode(tag));
    }

    /// The index of the group of an operation.
    fn group(&self, operation: OperationNumber) -> usize {
        self.work.classes[operation.class as usize].group as usize
    }

    /// The number of a rank in the group of an operation.
    fn number(&self, operation: OperationNumber, rank: u32) -> Option<u32> {
        self.work.groups[self.group(operation)].number(rank)
    }
}

impl Program for Rank {
    fn on_start(&mut self, posts: &mut Posts<'_>) {
        self.begin_iteration(posts);
        self.go_on(posts);
    }

    fn on_arrival(&mut self, message: Message, posts: &mut Posts<'_>) {
        match self.work.layout.decode(message.tag) {
            Tag::Message { iteration, tag } if iteration == self.progress.iteration => {
                self.hear(message.from, tag);
            }
            Tag::Message { iteration, tag } => {
                self.progress.later.entry(iteration).or_default().push((message.from, tag));
            }
            Tag::Data(Slot { operation, lane, sequence }) => {
                if let Some(from) = self.number(operation, message.from) {
                    self.exchange(operation, posts, |exchange, part, asks| {
                        exchange.arrive((from, lane, sequence), part, asks);
                    });
                }
            }
            Tag::Ready(Slot { operation, lane, .. }) => {
                if let Some(from) = self.number(operation, message.from) {
                    self.exchange(operation, posts, |exchange, part, asks| {
                        exchange.granted((from, lane), part, asks);
                    });
                }
            }
        }
        self.go_on(posts);
    }

    fn on_completion(&mut self, work: Completed, posts: &mut Posts<'_>) {
        match self.work.layout.decode(work.tag) {
            Tag::Message { tag, .. } => {
                let sending = self.progress.sending.get_mut(&(work.to, tag));
                self.done.extend(sending.and_then(VecDeque::pop_front));
            }
            // An operation whose last messages are on their way may be over here.
            Tag::Data(Slot { operation, lane, .. })
                if self.progress.open.contains_key(&operation) =>
            {
                if let Some(to) = self.number(operation, work.to) {
                    self.exchange(operation, posts, |exchange, part, asks| {
                        exchange.completed((to, lane), part, asks);
                    });
                }
            }
            Tag::Data(_) | Tag::Ready(_) => {}
        }
        self.go_on(posts);
    }

    fn on_timer(&mut self, tag: u64, posts: &mut Posts<'_>) {
        match self.work.layout.decode(tag) {
            Tag::Message { tag: node, .. } => self.done.push_back(node),
            Tag::Data(Slot { operation, lane, .. }) | Tag::Ready(Slot { operation, lane, .. }) => {
                self.exchange(operation, posts, |exchange, part, asks| {
                    exchange.reduced(lane, part, asks);
                });
            }
        }
        self.go_on(posts);
    }

    fn waits_for(&self) -> Option<u32> {
        let open = self.progress.open.iter();
        let mut awaited = open.filter_map(|(operation, open)| {
            let ranks = &self.work.groups[self.group(*operation)].ranks;
            ranks.get(open.exchange.waits_for()? as usize).copied()
        });
        let mut receives = self.matching.waiting().map(|(peer, ..)| peer);
        let sending = self.progress.sending.iter();
        let mut sending = sending.filter(|(_, nodes)| !nodes.is_empty()).map(|((to, _), _)| *to);
        let first = awaited.next().or_else(|| receives.find(|peer| *peer != ANY));
        first.or_else(|| sending.next())
    }

    fn is_over(&self) -> bool {
        u64::from(self.progress.iteration) == self.iterations
    }
}

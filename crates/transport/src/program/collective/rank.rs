//! One rank of a collective operation.

use std::collections::VecDeque;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use super::tag::{Kind, Tag};
use crate::program::exchange::{Ask, Asks, Exchange, Part, READY_BYTES};
use crate::program::{Completed, End, Message, Over, Posts, Program, Verb};

/// Timers of a rank: the next operation begins; a message may be posted; else a lane, plus [`LANES`].
const NEXT: u64 = 0;
const HANDLED: u64 = 1;
const LANES: u64 = 2;

/// One rank of a collective operation.
#[derive(Debug)]
pub(super) struct Rank {
    pub(super) part: Part,
    pub(super) times: Times,
    /// The member that is rank 0 of the group.
    pub(super) first: u32,
    /// The member with whose connection its operations are shown.
    pub(super) shown_with: u32,
    pub(super) progress: Progress,
    pub(super) asks: Asks,
}

/// How often a rank takes part, and what takes it time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Operations.
    pub(super) iterations: u64,
    /// Time between two operations.
    pub(super) compute_time: Duration,
    /// Time of the processor to post a message of data.
    pub(super) host_overhead: Duration,
}

/// What of a rank is saved in checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Progress {
    /// The present operation, or the next if none is open.
    iteration: u64,
    /// All operations, one after the other.
    exchange: Exchange,
    /// What waits for the processor, and until when that is busy.
    handled: VecDeque<Handled>,
    busy_until: SimTime,
}

/// A piece of a message that waits for the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Handled {
    to: u32,
    queue_pair: u32,
    bytes: u32,
    tag: u64,
}

rocelab_state::state!(Rank { values: progress; kept: part, times, first, shown_with, asks });

impl Rank {
    fn begin(&mut self, posts: &mut Posts<'_>) {
        posts.begin(self.shown_with, self.progress.iteration);
        self.progress.exchange.begin(&self.part, &mut self.asks);
        self.carry_out(posts);
    }

    /// Does what the exchange has asked for, and ends the operation if it is done.
    fn carry_out(&mut self, posts: &mut Posts<'_>) {
        let mut list = std::mem::take(&mut self.asks.list);
        for ask in list.drain(..) {
            self.fulfil(ask, posts);
        }
        self.asks.list = list;
        self.end_if_done(posts);
    }

    fn fulfil(&mut self, ask: Ask, posts: &mut Posts<'_>) {
        match ask {
            Ask::Data { to, lane, number, bytes, queue_pair } => {
                let tag = Tag { kind: Kind::Data, lane, number }.to_bits();
                self.handle(Handled { to: self.first + to, queue_pair, bytes, tag }, posts);
            }
            Ask::Ready { to, lane, number, queue_pair } => {
                let tag = Tag { kind: Kind::Ready, lane, number }.to_bits();
                let over = Over { to: self.first + to, number: queue_pair, end: End::Server };
                posts.post_over(over, Verb::WriteWithImmediate, READY_BYTES, tag);
            }
            Ask::Reduce { lane, time } => posts.wait(time, LANES + u64::from(lane)),
        }
    }

    fn end_if_done(&mut self, posts: &mut Posts<'_>) {
        let progress = &mut self.progress;
        if !progress.exchange.is_done() || !progress.handled.is_empty() {
            return;
        }
        posts.end(progress.iteration);
        progress.exchange.close();
        progress.iteration += 1;
        if progress.iteration < self.times.iterations {
            posts.wait(self.times.compute_time, NEXT);
        }
    }

    /// The processor posts a piece of a message, when it comes to it.
    fn handle(&mut self, work: Handled, posts: &mut Posts<'_>) {
        let Times { host_overhead, .. } = self.times;
        if host_overhead == Duration::ZERO {
            return work.post(posts);
        }
        let progress = &mut self.progress;
        progress.busy_until = progress.busy_until.max(posts.now()).saturating_add(host_overhead);
        progress.handled.push_back(work);
        posts.wait(progress.busy_until.since(posts.now()), HANDLED);
    }
}

impl Handled {
    fn post(self, posts: &mut Posts<'_>) {
        let Self { to, queue_pair: number, bytes, tag } = self;
        posts.post_over(
            Over { to, number, end: End::Client },
            Verb::WriteWithImmediate,
            bytes,
            tag,
        );
    }
}

impl Program for Rank {
    fn on_start(&mut self, posts: &mut Posts<'_>) {
        self.begin(posts);
    }

    fn on_arrival(&mut self, message: Message, posts: &mut Posts<'_>) {
        let from = message.from - self.first;
        let Tag { kind, lane, number } = Tag::from_bits(message.tag);
        let (exchange, asks) = (&mut self.progress.exchange, &mut self.asks);
        match kind {
            Kind::Data => exchange.arrive((from, lane, number), &self.part, asks),
            Kind::Ready => exchange.granted((from, lane), &self.part, asks),
        }
        self.carry_out(posts);
    }

    fn on_completion(&mut self, work: Completed, posts: &mut Posts<'_>) {
        let to = work.to - self.first;
        let Tag { kind, lane, .. } = Tag::from_bits(work.tag);
        if kind == Kind::Ready {
            return;
        }
        self.progress.exchange.completed((to, lane), &self.part, &mut self.asks);
        self.carry_out(posts);
    }

    fn on_timer(&mut self, tag: u64, posts: &mut Posts<'_>) {
        match tag {
            NEXT => self.begin(posts),
            HANDLED => {
                if let Some(work) = self.progress.handled.pop_front() {
                    work.post(posts);
                }
                self.end_if_done(posts);
            }
            lane => {
                let lane = u32::try_from(lane - LANES).unwrap_or(0);
                self.progress.exchange.reduced(lane, &self.part, &mut self.asks);
                self.carry_out(posts);
            }
        }
    }

    fn waits_for(&self) -> Option<u32> {
        self.progress.exchange.waits_for().map(|rank| self.first + rank)
    }

    fn is_over(&self) -> bool {
        self.progress.iteration == self.times.iterations
    }
}

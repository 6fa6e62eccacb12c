//! One rank of a collective operation.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rocelab_collective::{Operation, Schedule, Step};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use super::incoming::Incoming;
use super::lane::{Lane, LaneState};
use super::outgoing::Outgoing;
use super::rules::Rules;
use super::tag::{Kind, Tag};
use crate::program::{Completed, End, Message, Over, Posts, Program, Verb};

/// Length of the message by which a receiver says that it is ready (bytes): an entry of NCCL's FIFO.
pub(super) const READY_BYTES: u32 = 64;

/// Timers of a rank: the next operation begins; a message may be posted; else a lane, plus [`LANES`].
const NEXT: u64 = 0;
const HANDLED: u64 = 1;
const LANES: u64 = 2;

/// One rank of a collective operation.
#[derive(Debug)]
pub(super) struct Rank {
    pub(super) rules: Arc<Rules>,
    pub(super) schedule: Arc<dyn Schedule>,
    /// Lanes of a channel.
    pub(super) streams: u32,
    /// Its number in the group.
    pub(super) rank: u32,
    /// The member that is rank 0 of the group.
    pub(super) first: u32,
    /// The member with whose connection its operations are shown.
    pub(super) shown_with: u32,
    pub(super) progress: Progress,
    /// Used again for each step.
    pub(super) step: Step,
}

/// What of a rank is saved in checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Progress {
    /// The present operation, or the next if none is open.
    iteration: u64,
    is_open: bool,
    lanes: Vec<Lane>,
    /// Lanes that are not done.
    left: u32,
    /// Lanes that wait until messages have gone.
    held: u32,
    /// Messages that wait for their receivers.
    waiting: u64,
    /// By the rank that sends and the lane here.
    incoming: BTreeMap<(u32, u32), Incoming>,
    /// By the rank that receives and the lane there.
    outgoing: BTreeMap<(u32, u32), Outgoing>,
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

rocelab_state::state!(Rank { values: progress; kept: rules, schedule, streams, rank, first, shown_with, step });

impl Rank {
    fn begin(&mut self, posts: &mut Posts<'_>) {
        let lanes = self.schedule.lanes();
        self.progress.is_open = true;
        self.progress.lanes = vec![Lane::default(); lanes as usize];
        self.progress.left = lanes;
        posts.begin(self.shown_with, self.progress.iteration);
        for lane in 0..lanes {
            self.say_ready(lane, posts);
        }
        for lane in 0..lanes {
            self.advance(lane, posts);
        }
        self.end_if_done(posts);
    }

    fn end_if_done(&mut self, posts: &mut Posts<'_>) {
        let progress = &mut self.progress;
        let is_done = progress.left == 0 && progress.waiting == 0 && progress.handled.is_empty();
        if !progress.is_open || !is_done {
            return;
        }
        posts.end(progress.iteration);
        progress.is_open = false;
        progress.iteration += 1;
        if progress.iteration < self.rules.iterations {
            posts.wait(self.rules.compute_time, NEXT);
        }
    }

    /// Goes on in a lane as far as it can.
    fn advance(&mut self, lane: u32, posts: &mut Posts<'_>) {
        if !self.progress.is_open {
            return;
        }
        match self.lane(lane).state {
            LaneState::Reducing | LaneState::Done => return,
            LaneState::Sending { .. } => self.progress.held -= 1,
            LaneState::Ready | LaneState::Receiving { .. } => {}
        }
        self.lane(lane).state = LaneState::Ready;
        let mut step = std::mem::take(&mut self.step);
        let steps = self.schedule.steps(self.rank, lane);
        while self.lane(lane).step < steps {
            let number = self.lane(lane).step;
            self.schedule.step(self.rank, lane, number, &mut step);
            if !self.receive(lane, &step, posts) || !self.send(lane, &step, posts) {
                self.step = step;
                return;
            }
            let at = self.lane(lane);
            *at = Lane { step: at.step + 1, taken: 0, sent: 0, ..*at };
        }
        self.lane(lane).state = LaneState::Done;
        self.progress.left -= 1;
        self.step = step;
    }

    /// Takes what a step receives. Says whether all of it is taken and added up.
    fn receive(&mut self, lane: u32, step: &Step, posts: &mut Posts<'_>) -> bool {
        loop {
            let taken = self.lane(lane).taken;
            let Some(next) = step.receives.get(taken as usize) else { return true };
            let pieces = self.rules.pieces();
            if !self.incoming(next.peer, lane).take(pieces) {
                self.lane(lane).state = LaneState::Receiving { from: next.peer };
                return false;
            }
            self.lane(lane).taken += 1;
            let time = match next.operation {
                Operation::Reduce => self.rules.reduction(next.bytes),
                Operation::Copy => Duration::ZERO,
            };
            if time > Duration::ZERO {
                self.lane(lane).state = LaneState::Reducing;
                posts.wait(time, LANES + u64::from(lane));
                return false;
            }
            self.free(next.peer, lane, posts);
        }
    }

    /// The oldest message that was taken of a rank needs its room no more.
    fn free(&mut self, from: u32, lane: u32, posts: &mut Posts<'_>) {
        self.incoming(from, lane).free();
        self.say_ready(lane, posts);
    }

    /// Posts what a step sends, as far as there is room. Says whether all of it is posted.
    fn send(&mut self, lane: u32, step: &Step, posts: &mut Posts<'_>) -> bool {
        while let Some(next) = step.sends.get(self.lane(lane).sent as usize) {
            let (window, pieces) = (self.rules.window, self.rules.pieces());
            let outgoing = self.progress.outgoing.entry((next.peer, next.lane)).or_default();
            if !outgoing.has_room(window, pieces) {
                self.lane(lane).state = LaneState::Sending { to: next.peer };
                self.progress.held += 1;
                return false;
            }
            outgoing.push(self.rules.posted(next.bytes));
            self.progress.waiting += 1;
            self.lane(lane).sent += 1;
            self.post_waiting(next.peer, next.lane, posts);
        }
        true
    }

    /// Posts the messages for a lane of a rank that may go.
    fn post_waiting(&mut self, to: u32, lane: u32, posts: &mut Posts<'_>) {
        let pieces = self.rules.pieces();
        let is_asked = self.rules.receiver_ready;
        loop {
            let outgoing = self.progress.outgoing.entry((to, lane)).or_default();
            let Some((number, bytes)) = outgoing.pop(pieces, is_asked) else { return };
            self.progress.waiting -= 1;
            for piece in 0..pieces {
                let number = number * pieces + piece;
                let tag = Tag { kind: Kind::Data, lane, number }.to_bits();
                let bytes = self.rules.piece(bytes, piece);
                let queue_pair = self.rules.queue_pair(self.channel(lane), number);
                self.handle(Handled { to: self.first + to, queue_pair, bytes, tag }, posts);
            }
        }
    }

    /// The processor posts a piece of a message, when it comes to it.
    fn handle(&mut self, work: Handled, posts: &mut Posts<'_>) {
        let Rules { host_overhead, .. } = *self.rules;
        if host_overhead == Duration::ZERO {
            return work.post(posts);
        }
        let progress = &mut self.progress;
        progress.busy_until = progress.busy_until.max(posts.now()).saturating_add(host_overhead);
        progress.handled.push_back(work);
        posts.wait(progress.busy_until.since(posts.now()), HANDLED);
    }

    /// Tells the senders of a lane that there is room, as far as there is.
    fn say_ready(&mut self, lane: u32, posts: &mut Posts<'_>) {
        if !self.rules.receiver_ready || !self.progress.is_open {
            return;
        }
        let mut step = Step::default();
        let (mut number, mut next) = self.lane(lane).ready;
        'ahead: while number < self.schedule.steps(self.rank, lane) {
            self.schedule.step(self.rank, lane, number, &mut step);
            for message in step.receives.iter().skip(next as usize) {
                let window = self.rules.window;
                let Some(granted) = self.incoming(message.peer, lane).grant(window) else {
                    break 'ahead;
                };
                let tag = Tag { kind: Kind::Ready, lane, number: granted }.to_bits();
                let to = self.first + message.peer;
                let number = self.rules.queue_pair(self.channel(lane), 0);
                let over = Over { to, number, end: End::Server };
                posts.post_over(over, Verb::WriteWithImmediate, READY_BYTES, tag);
                next += 1;
            }
            (number, next) = (number + 1, 0);
        }
        self.lane(lane).ready = (number, next);
    }

    /// The channel that a lane is of.
    const fn channel(&self, lane: u32) -> u32 {
        lane / self.streams
    }

    fn lane(&mut self, lane: u32) -> &mut Lane {
        &mut self.progress.lanes[lane as usize]
    }

    fn incoming(&mut self, from: u32, lane: u32) -> &mut Incoming {
        self.progress.incoming.entry((from, lane)).or_default()
    }

    /// The lanes that wait until messages for a rank have gone.
    fn held_by(&self, rank: u32) -> Vec<u32> {
        if self.progress.held == 0 {
            return Vec::new();
        }
        let lanes = (0..).zip(&self.progress.lanes);
        let held = lanes.filter(|(_, lane)| lane.state == LaneState::Sending { to: rank });
        held.map(|(number, _)| number).collect()
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
        match kind {
            Kind::Data => {
                self.incoming(from, lane).arrive(number);
                // A lane that waits for another rank goes on only by a message of that.
                let lane_state = self.progress.lanes.get(lane as usize).map(|lane| lane.state);
                if lane_state.is_some_and(|state| state.goes_on_by(from)) {
                    self.advance(lane, posts);
                    self.end_if_done(posts);
                }
            }
            Kind::Ready => {
                self.progress.outgoing.entry((from, lane)).or_default().grant();
                self.post_waiting(from, lane, posts);
                self.end_if_done(posts);
            }
        }
    }

    fn on_completion(&mut self, work: Completed, posts: &mut Posts<'_>) {
        let to = work.to - self.first;
        let Tag { kind, lane, .. } = Tag::from_bits(work.tag);
        if kind == Kind::Ready {
            return;
        }
        self.progress.outgoing.entry((to, lane)).or_default().complete();
        for lane in self.held_by(to) {
            self.advance(lane, posts);
        }
        self.end_if_done(posts);
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
                self.reduced(lane, posts);
                self.end_if_done(posts);
            }
        }
    }

    fn waits_for(&self) -> Option<u32> {
        let Progress { is_open: true, lanes, outgoing, .. } = &self.progress else { return None };
        let held = lanes.iter().find_map(|lane| match lane.state {
            LaneState::Receiving { from: other } | LaneState::Sending { to: other } => Some(other),
            LaneState::Ready | LaneState::Reducing | LaneState::Done => None,
        });
        let mut waiting = outgoing.iter().filter(|(_, outgoing)| !outgoing.is_sent());
        let asked = || waiting.next().map(|((to, _), _)| *to);
        held.or_else(asked).map(|other| self.first + other)
    }

    fn is_over(&self) -> bool {
        self.progress.iteration == self.rules.iterations
    }
}

impl Rank {
    /// What was taken last in a lane is added up.
    fn reduced(&mut self, lane: u32, posts: &mut Posts<'_>) {
        let Lane { step, taken, .. } = *self.lane(lane);
        self.lane(lane).state = LaneState::default();
        let mut reduced = Step::default();
        self.schedule.step(self.rank, lane, step, &mut reduced);
        if let Some(message) = reduced.receives.get(taken.saturating_sub(1) as usize) {
            self.free(message.peer, lane, posts);
        }
        self.advance(lane, posts);
    }
}

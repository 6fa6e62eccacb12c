//! One rank's part of a collective operation, whatever program it is of.
//!
//! A rank does the steps of each of its lanes in order, as a [`Schedule`] says. A step begins as soon as what it receives has
//! arrived here. The exchange posts nothing itself: it says what is to be done as [`Ask`]s, in order, and the program that has it
//! gives messages their tags and members their numbers. Messages that arrive before the exchange is open wait in it.

mod incoming;
mod lane;
mod outgoing;
mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_collective::{Operation, Schedule, Step};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::Duration;

use self::incoming::Incoming;
use self::lane::{Lane, LaneState};
use self::outgoing::Outgoing;
pub(super) use self::rules::Rules;
pub use self::rules::Split;

/// Length of the message by which a receiver says that it is ready (bytes): an entry of NCCL's FIFO.
pub(super) const READY_BYTES: u32 = 64;

/// What an exchange goes by, and does not change.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) rules: Arc<Rules>,
    pub(super) schedule: Arc<dyn Schedule>,
    /// Lanes of a channel.
    pub(super) streams: u32,
    /// The number of this rank in the group.
    pub(super) rank: u32,
}

/// One thing that an exchange asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// A piece of a message of data is to be posted.
    Data {
        /// The rank that receives it, by its number in the group.
        to: u32,
        /// The lane there.
        lane: u32,
        /// Its number among those for this lane.
        number: u64,
        /// Its payload (bytes).
        bytes: u32,
        /// The queue pair among those of the pair of ranks.
        queue_pair: u32,
    },
    /// A sender is to be told that there is room for one more message.
    Ready {
        /// That rank, by its number in the group.
        to: u32,
        /// The lane here.
        lane: u32,
        /// The number of the message.
        number: u64,
        /// The queue pair among those of the pair of ranks, from the sender.
        queue_pair: u32,
    },
    /// [`Exchange::reduced`] is to be called after that time.
    Reduce {
        /// With this lane.
        lane: u32,
        /// How long it adds up.
        time: Duration,
    },
}

/// Where an exchange writes what it asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    /// What is asked for, in order; whoever does it takes it out.
    pub(super) list: Vec<Ask>,
    /// Used again for each step.
    step: Step,
}

/// How far a rank has come in an operation, or in one operation after the other of one schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Exchange {
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
}

impl Exchange {
    /// The operation, or one more, begins here.
    pub(super) fn begin(&mut self, part: &Part, asks: &mut Asks) {
        let lanes = part.schedule.lanes();
        self.is_open = true;
        self.lanes = vec![Lane::default(); lanes as usize];
        self.left = lanes;
        for lane in 0..lanes {
            self.say_ready(lane, part, asks);
        }
        for lane in 0..lanes {
            self.advance(lane, part, asks);
        }
    }

    /// Whether this rank has received all, and asked for all that it sends.
    pub(super) fn is_done(&self) -> bool {
        self.is_open && self.left == 0 && self.waiting == 0
    }

    /// The operation is over here. Another one may begin.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    /// A piece of data has arrived from a rank of the group.
    pub(super) fn arrive(
        &mut self,
        (from, lane, number): (u32, u32, u64),
        part: &Part,
        asks: &mut Asks,
    ) {
        self.incoming(from, lane).arrive(number);
        // A lane that waits for another rank goes on only by a message of that.
        let state = self.lanes.get(lane as usize).map(|lane| lane.state);
        if state.is_some_and(|state| state.goes_on_by(from)) {
            self.advance(lane, part, asks);
        }
    }

    /// A rank of the group is ready for one more message for that lane there.
    pub(super) fn granted(&mut self, (from, lane): (u32, u32), part: &Part, asks: &mut Asks) {
        self.outgoing.entry((from, lane)).or_default().grant();
        self.post_waiting(from, lane, part, asks);
    }

    /// A piece of data for a lane of a rank of the group is completed.
    pub(super) fn completed(&mut self, (to, lane): (u32, u32), part: &Part, asks: &mut Asks) {
        self.outgoing.entry((to, lane)).or_default().complete();
        for lane in self.held_by(to) {
            self.advance(lane, part, asks);
        }
    }

    /// What was taken last in a lane is added up.
    pub(super) fn reduced(&mut self, lane: u32, part: &Part, asks: &mut Asks) {
        let Lane { step, taken, .. } = *self.lane(lane);
        self.lane(lane).state = LaneState::default();
        let mut reduced = Step::default();
        part.schedule.step(part.rank, lane, step, &mut reduced);
        if let Some(message) = reduced.receives.get(taken.saturating_sub(1) as usize) {
            self.free(message.peer, lane, part, asks);
        }
        self.advance(lane, part, asks);
    }

    /// The rank of the group that it waits for.
    pub(super) fn waits_for(&self) -> Option<u32> {
        let Self { is_open: true, lanes, outgoing, .. } = self else { return None };
        let held = lanes.iter().find_map(|lane| match lane.state {
            LaneState::Receiving { from: other } | LaneState::Sending { to: other } => Some(other),
            LaneState::Ready | LaneState::Reducing | LaneState::Done => None,
        });
        let mut waiting = outgoing.iter().filter(|(_, outgoing)| !outgoing.is_sent());
        held.or_else(|| waiting.next().map(|((to, _), _)| *to))
    }

    /// Goes on in a lane as far as it can.
    fn advance(&mut self, lane: u32, part: &Part, asks: &mut Asks) {
        if !self.is_open {
            return;
        }
        match self.lane(lane).state {
            LaneState::Reducing | LaneState::Done => return,
            LaneState::Sending { .. } => self.held -= 1,
            LaneState::Ready | LaneState::Receiving { .. } => {}
        }
        self.lane(lane).state = LaneState::Ready;
        let mut step = std::mem::take(&mut asks.step);
        let steps = part.schedule.steps(part.rank, lane);
        while self.lane(lane).step < steps {
            let number = self.lane(lane).step;
            part.schedule.step(part.rank, lane, number, &mut step);
            if !self.receive(lane, &step, part, asks) || !self.send(lane, &step, part, asks) {
                asks.step = step;
                return;
            }
            let at = self.lane(lane);
            *at = Lane { step: at.step + 1, taken: 0, sent: 0, ..*at };
        }
        self.lane(lane).state = LaneState::Done;
        self.left -= 1;
        asks.step = step;
    }

    /// Takes what a step receives. Says whether all of it is taken and added up.
    fn receive(&mut self, lane: u32, step: &Step, part: &Part, asks: &mut Asks) -> bool {
        loop {
            let taken = self.lane(lane).taken;
            let Some(next) = step.receives.get(taken as usize) else { return true };
            let pieces = part.rules.pieces();
            if !self.incoming(next.peer, lane).take(pieces) {
                self.lane(lane).state = LaneState::Receiving { from: next.peer };
                return false;
            }
            self.lane(lane).taken += 1;
            let time = match next.operation {
                Operation::Reduce => part.rules.reduction(next.bytes),
                Operation::Copy => Duration::ZERO,
            };
            if time > Duration::ZERO {
                self.lane(lane).state = LaneState::Reducing;
                asks.list.push(Ask::Reduce { lane, time });
                return false;
            }
            self.free(next.peer, lane, part, asks);
        }
    }

    /// The oldest message that was taken of a rank needs its room no more.
    fn free(&mut self, from: u32, lane: u32, part: &Part, asks: &mut Asks) {
        self.incoming(from, lane).free();
        self.say_ready(lane, part, asks);
    }

    /// Posts what a step sends, as far as there is room. Says whether all of it is posted.
    fn send(&mut self, lane: u32, step: &Step, part: &Part, asks: &mut Asks) -> bool {
        while let Some(next) = step.sends.get(self.lane(lane).sent as usize) {
            let (window, pieces) = (part.rules.window, part.rules.pieces());
            let outgoing = self.outgoing.entry((next.peer, next.lane)).or_default();
            if !outgoing.has_room(window, pieces) {
                self.lane(lane).state = LaneState::Sending { to: next.peer };
                self.held += 1;
                return false;
            }
            outgoing.push(part.rules.posted(next.bytes));
            self.waiting += 1;
            self.lane(lane).sent += 1;
            self.post_waiting(next.peer, next.lane, part, asks);
        }
        true
    }

    /// Posts the messages for a lane of a rank that may go.
    fn post_waiting(&mut self, to: u32, lane: u32, part: &Part, asks: &mut Asks) {
        let pieces = part.rules.pieces();
        let is_asked = part.rules.receiver_ready;
        let outgoing = self.outgoing.entry((to, lane)).or_default();
        while let Some((number, bytes)) = outgoing.pop(pieces, is_asked) {
            self.waiting -= 1;
            for piece in 0..pieces {
                let number = number * pieces + piece;
                let bytes = part.rules.piece(bytes, piece);
                let queue_pair = part.rules.queue_pair(part.channel(lane), number);
                asks.list.push(Ask::Data { to, lane, number, bytes, queue_pair });
            }
        }
    }

    /// Tells the senders of a lane that there is room, as far as there is.
    fn say_ready(&mut self, lane: u32, part: &Part, asks: &mut Asks) {
        if !part.rules.receiver_ready || !self.is_open {
            return;
        }
        let mut step = Step::default();
        let (mut number, mut next) = self.lane(lane).ready;
        'ahead: while number < part.schedule.steps(part.rank, lane) {
            part.schedule.step(part.rank, lane, number, &mut step);
            for message in step.receives.iter().skip(next as usize) {
                let Some(granted) = self.incoming(message.peer, lane).grant(part.rules.window)
                else {
                    break 'ahead;
                };
                let queue_pair = part.rules.queue_pair(part.channel(lane), 0);
                let to = message.peer;
                asks.list.push(Ask::Ready { to, lane, number: granted, queue_pair });
                next += 1;
            }
            (number, next) = (number + 1, 0);
        }
        self.lane(lane).ready = (number, next);
    }

    fn lane(&mut self, lane: u32) -> &mut Lane {
        &mut self.lanes[lane as usize]
    }

    fn incoming(&mut self, from: u32, lane: u32) -> &mut Incoming {
        self.incoming.entry((from, lane)).or_default()
    }

    /// The lanes that wait until messages for a rank have gone.
    fn held_by(&self, rank: u32) -> Vec<u32> {
        if self.held == 0 {
            return Vec::new();
        }
        let lanes = (0..).zip(&self.lanes);
        let held = lanes.filter(|(_, lane)| lane.state == LaneState::Sending { to: rank });
        held.map(|(number, _)| number).collect()
    }
}

impl Part {
    /// The part of `rank` in what a schedule does on so many channels.
    pub(super) fn new(
        rules: Arc<Rules>,
        schedule: Arc<dyn Schedule>,
        channels: u32,
        rank: u32,
    ) -> Self {
        let streams = (schedule.lanes() / channels.max(1)).max(1);
        Self { rules, schedule, streams, rank }
    }

    /// The channel that a lane is of.
    const fn channel(&self, lane: u32) -> u32 {
        lane / self.streams
    }
}
